"""`with open(…) as f` becomes the async file of the library that the project uses."""

from __future__ import annotations

import ast
from typing import Optional

from .index import FUNCTIONS, File
from .spelling import CHANGES, span

OPENING = ("builtins.open", "io.open")


class Files:
    """The part of `Leaves` that opens files."""

    def file_library(self, file: File) -> Optional[str]:
        """Returns the library of asynchronous files that the part of the project uses."""
        return "trio" if self.runtime == "trio" else next((name for name in ("aiofiles", "anyio") if self.is_used(name, file)), None)

    def opened(self, file: File, call: ast.Call) -> Optional[ast.Call]:
        """Returns the `open` of a `with` around a call, of whose file that reads or writes; none where no async file could take its place."""
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

    def file_block(self, file: File, call: ast.Call) -> None:
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
        self.inside(file, call, file.around(call))
        self.block(file, item)
        how, edits = CHANGES["files"][library], self.of(file)
        edits.replaced[span(file, call.func)] = self.spelled(file, how["open"], call)
        if how["entered"]:
            self.awaited(file, call)
        block = file.parents[item]
        for use in ast.walk(file.around(call).node):
            if isinstance(use, ast.Name) and use.id == item.optional_vars.id and isinstance(use.ctx, ast.Load):
                if block in file.up(use):
                    self.file_use(file, use)
                elif not says_of_itself(file, use) and not any(isinstance(above, (ast.With, ast.AsyncWith)) and binds(above, use.id) for above in file.up(use)):
                    raise self.refuse("file", f"the file `{use.id}` is used behind its `with`", file, use)

    def file_use(self, file: File, use: ast.Name) -> None:
        above, edits = file.parents.get(use), self.of(file)
        held = file.parents.get(above) if above else None
        function = file.around(use)
        if isinstance(above, ast.Attribute) and isinstance(held, ast.Call) and held.func is above and above.attr in CHANGES["files"]["async_methods"]:
            self.inside(file, held, function)
            self.converted.add((file.path, *file.start(held), self.causes.get((file.path, *file.start(held), above.attr), "")))
            return self.awaited(file, held)
        if says_of_itself(file, use):
            return None
        if isinstance(above, (ast.For, ast.comprehension)) and above.iter is use:
            return self.iterated(file, use, f"the file `{use.id}`")
        whole = CHANGES["files"]["whole"].get(self.index.names.target(file, above.func)) if isinstance(above, ast.Call) else None
        if whole and use in above.args:
            # Reading and writing wait; what is made of the text does not.
            self.inside(file, above, function)
            path, method = whole
            name = self.spelled(file, path, above)
            edits.whole[span(file, above)] = (name, use.id, method)
            return self.need(file, above)
        raise self.refuse("file", f"the file `{use.id}` is handed on, and what takes it cannot await", file, use)


def says_of_itself(file: File, use: ast.Name) -> bool:
    """`f.name`, which is the same whether or not the file is open."""
    above = file.parents.get(use)
    held = file.parents.get(above) if above else None
    is_called = isinstance(held, ast.Call) and held.func is above
    return isinstance(above, ast.Attribute) and above.attr in ("name", "mode", "closed", "encoding") and not is_called


def binds(block: ast.AST, name: str) -> bool:
    return any(isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == name for item in block.items)
