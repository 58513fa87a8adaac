#!/bin/sh
# Packages the extension with a binary, loads it into code-server and drives it in headless Chromium.
# Takes about a minute once code-server is there.
#
# Usage: run.sh BINARY CODE_SERVER [SCREENSHOTS]
#   BINARY       a `blocklint`
#   CODE_SERVER  a folder in which code-server 4.100.3 is installed (node_modules/code-server)
#   SCREENSHOTS  where pictures are left (default: tests/screenshots)
# Needs: chromium, `npm ci` in the extension's folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
extension=$(cd "$here/../.." && pwd)
binary=$(realpath "$1")
server=$(realpath "$2")/node_modules/code-server/out/node/entry.js
screenshots=${3:-$extension/tests/screenshots}
port=${PORT:-8099}
work=$(mktemp -d)
trap 'kill "$editor" 2>/dev/null || true; rm -rf "$work"' EXIT INT TERM
editor=

mkdir -p "$screenshots" "$extension/bundled/bin"
screenshots=$(realpath "$screenshots")
cp "$binary" "$extension/bundled/bin/blocklint"
(cd "$extension" && npx --no-install vsce package --no-dependencies -o "$work/blocklint.vsix")

cp -r "$here/workspace" "$work/shop"
mkdir -p "$work/shop/.git" "$work/data/User"
cat > "$work/data/User/settings.json" <<'SETTINGS'
{
  "workbench.startupEditor": "none",
  "blocklint.importStrategy": "useBundled",
  "blocklint.codeLens": true,
  "editor.hover.delay": 100
}
SETTINGS
code="node $server --user-data-dir $work/data --extensions-dir $work/extensions"
$code --install-extension "$work/blocklint.vsix" > "$work/install.log" 2>&1 || { cat "$work/install.log"; exit 1; }
$code --auth none --bind-addr "127.0.0.1:$port" --disable-telemetry --disable-update-check --disable-workspace-trust \
  --disable-getting-started-override "$work/shop" > "$work/editor.log" 2>&1 &
editor=$!
tries=0
until curl -fs "http://127.0.0.1:$port/healthz" > /dev/null; do
  tries=$((tries + 1))
  [ "$tries" -lt 100 ] || { cat "$work/editor.log"; exit 1; }
  sleep 0.2
done
cd "$extension"
node "$here/drive.mjs" "http://127.0.0.1:$port/?folder=$work/shop" "$work/shop" "$screenshots" || {
  find "$work/data/logs" -name '*blocklint*' -o -name 'remoteexthost.log' | while read -r log; do
    echo "== $log"; tail -n 20 "$log"
  done
  exit 1
}
