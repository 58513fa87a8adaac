"""Converts `with open(…) as f` to an async file of the library that the project uses (aiofiles, anyio or trio)."""

from __future__ import annotations

import ast
from typing import Optional

from .index import FUNCTIONS, File
from .spelling import CHANGES, span

OPENING = ("builtins.open", "io.open")


class Files:
    """The part of `Leaves` that opens files."""

    def file_library(self, file: File) -> Optional[str]:
        """Returns the library for async files that the part of the project uses, or None."""
        return "trio" if self.runtime == "trio" else next((name for name in ("aiofiles", "anyio") if self.is_used(name, file)), None)

    def opening_call(self, file: File, call: ast.Call) -> Optional[ast.Call]:
        """Returns the `open(…)` of the `with` whose file a call reads or writes; None if no async file can replace it."""
        name = None
        if isinstance(call.func, ast.Attribute) and call.func.attr in CHANGES["files"]["async_methods"]:
            name = call.func.value
        elif self.index.names.target(file, call.func) in CHANGES["files"]["whole"]:
            name = next((arg for arg in call.args if isinstance(arg, ast.Name) and self.block_of(file, call, arg.id)), None)
        found = self.block_of(file, call, name.id) if isinstance(name, ast.Name) else None
        return found if found is not None and self.file_library(file) else None

    def block_of(self, file: File, node: ast.AST, name: str) -> Optional[ast.Call]:
        """Returns the call to which the innermost `with` around a node binds a name, if that call opens a file."""
        for above in file.up(node):
            for item in above.items if isinstance(above, ast.With) else []:
                if isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == name:
                    made = item.context_expr
                    return made if isinstance(made, ast.Call) and self.index.names.target(file, made.func) in OPENING else None
            if isinstance(above, FUNCTIONS):
                return None
        return None

    def convert_with_open(self, file: File, call: ast.Call) -> None:
        key = ("file", *span(file, call), file.path)
        if key in self.converted:
            return
        self.converted.add(key)
        library = self.file_library(file)
        if library is None:
            raise self.refuse("no-file-library", "the project uses neither anyio nor aiofiles", file, call)
        item = file.parents.get(call)
        if not isinstance(item, ast.withitem) or not isinstance(item.optional_vars, ast.Name):
            raise self.refuse("file", "the file is not opened in a `with` of its own", file, call)
        self.check_awaitable(file, call, file.function_around(call))
        self.make_async_block(file, item)
        library_changes, edits = CHANGES["files"][library], self.edits_of(file)
        edits.replaced[span(file, call.func)] = self.spell(file, library_changes["open"], call)
        if library_changes["entered"]:
            self.await_call(file, call)
        block = file.parents[item]
        for use in ast.walk(file.function_around(call).node):
            if isinstance(use, ast.Name) and use.id == item.optional_vars.id and isinstance(use.ctx, ast.Load):
                if block in file.up(use):
                    self.convert_file_use(file, use)
                elif not is_plain_attribute(file, use) and not any(isinstance(above, (ast.With, ast.AsyncWith)) and binds(above, use.id) for above in file.up(use)):
                    raise self.refuse("file", f"the file `{use.id}` is used after its `with`", file, use)

    def convert_file_use(self, file: File, use: ast.Name) -> None:
        above, edits = file.parents.get(use), self.edits_of(file)
        outer = file.parents.get(above) if above else None
        function = file.function_around(use)
        if isinstance(above, ast.Attribute) and isinstance(outer, ast.Call) and outer.func is above and above.attr in CHANGES["files"]["async_methods"]:
            self.check_awaitable(file, outer, function)
            self.converted.add((file.path, *file.start(outer), self.causes.get((file.path, *file.start(outer), above.attr), "")))
            return self.await_call(file, outer)
        if is_plain_attribute(file, use):
            return None
        if isinstance(above, (ast.For, ast.comprehension)) and above.iter is use:
            return self.convert_iteration(file, use, f"the file `{use.id}`")
        whole = CHANGES["files"]["whole"].get(self.index.names.target(file, above.func)) if isinstance(above, ast.Call) else None
        if whole and use in above.args:
            # Only reading and writing are awaited; parsing and formatting of the text are not.
            self.check_awaitable(file, above, function)
            path, method = whole
            name = self.spell(file, path, above)
            edits.whole[span(file, above)] = (name, use.id, method)
            return self.require_coroutine(file, above)
        raise self.refuse("file", f"the file `{use.id}` is passed on to code that cannot await", file, use)


def is_plain_attribute(file: File, use: ast.Name) -> bool:
    """True for an attribute such as `f.name`, which async files have as well."""
    above = file.parents.get(use)
    outer = file.parents.get(above) if above else None
    is_called = isinstance(outer, ast.Call) and outer.func is above
    return isinstance(above, ast.Attribute) and above.attr in ("name", "mode", "closed", "encoding") and not is_called


def binds(block: ast.AST, name: str) -> bool:
    return any(isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == name for item in block.items)
