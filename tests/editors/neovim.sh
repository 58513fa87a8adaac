#!/bin/sh
# Tries the Neovim configuration of docs/editors.md in a real Neovim, without a terminal; takes two seconds.
#
# Usage: neovim.sh BINARY
set -eu
here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../.." && pwd)
binary=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cp -r "$repository/vscode-extension/tests/editor/workspace" "$work/shop"
mkdir -p "$work/shop/.git" "$work/bin"
ln -s "$binary" "$work/bin/blocklint"
# The block that stands in the documentation for the version that runs; the others need a newer one.
if nvim --headless -u NONE -c 'exe has("nvim-0.11") ? "cquit" : "qall"' 2> /dev/null; then block=before; else block=from; fi
awk -v block="<!-- neovim $block 0.11 -->" '$0 == block { found = 1; next } found && /^```/ { if (inside) exit; inside = 1; next } inside' \
  "$repository/docs/editors.md" > "$work/init.lua"
[ -s "$work/init.lua" ] || { echo "no configuration in docs/editors.md" >&2; exit 1; }
cd "$work/shop" && HOME="$work" PATH="$work/bin:$PATH" nvim --headless -u "$work/init.lua" -c "luafile $here/neovim.lua"
