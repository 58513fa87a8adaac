-- Drives Neovim with the configuration of docs/editors.md: diagnostics come, the preferred action mends one of them.
-- Run by neovim.sh in a copy of vscode-extension/tests/editor/workspace.

local function say(text)
  io.stdout:write(text .. "\n")
end

local function await(what, check)
  if not vim.wait(15000, check, 50) then
    say("FAILED: " .. what)
    vim.cmd("cquit")
  end
  say("ok: " .. what)
end

vim.cmd("edit app.py")
await("two diagnostics", function()
  return #vim.diagnostic.get(0) == 2
end)
for _, found in ipairs(vim.diagnostic.get(0)) do
  say(("  %d:%d %s %s"):format(found.lnum + 1, found.col + 1, found.code, (found.message:gsub("\n.*", ""))))
end

vim.api.nvim_win_set_cursor(0, { 11, 6 })
local params = vim.lsp.util.make_range_params(0, "utf-16")
params.context = { diagnostics = {} }
for _, answer in pairs(vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 10000)) do
  for _, action in ipairs(answer.result) do
    if action.isPreferred then
      vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
    end
  end
end
await("one is mended", function()
  return #vim.diagnostic.get(0) == 1
end)
await("its text is there", function()
  return vim.fn.search("await asyncio.sleep(1)", "n") > 0
end)
vim.cmd("qall!")
