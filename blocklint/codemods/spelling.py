"""The spelling of library paths in a file, with the imports that it needs, and positions of nodes."""

from __future__ import annotations

import ast
import json
import os

from .edits import Edits
from .index import File, dotted
from .names import Names
from .refusal import Refusal

with open(os.path.join(os.path.dirname(__file__), "changes.json"), encoding="utf-8") as stream:
    CHANGES = json.load(stream)


def span(file: File, node: ast.AST):
    return file.start(node), file.end(node)


def top(path: str) -> str:
    return path.split(".")[0]


def is_class(path: str) -> bool:
    """True if a path is spelled like a class."""
    return path.rpartition(".")[2][:1].isupper()


def module_of(path: str) -> str:
    """Returns the module of a path: `httpx` for `httpx.AsyncClient` and for `httpx.AsyncClient.get`."""
    parent = path.rpartition(".")[0]
    return parent.rpartition(".")[0] if is_class(parent) else parent


def spell(names: Names, file: File, path: str, edits: Edits, at: ast.AST, replaces: bool = False) -> str:
    """Returns the spelling of a path at a node, as blocklint's fixes spell it, and adds the import that it needs. With `replaces` the node is removed."""
    if replaces:
        mark_import_unused(file, at, edits)
    module = module_of(path)
    # A method is spelled through its class.
    name, _, rest = path[len(module) + 1 :].partition(".")
    spelling = names.spelling(file, at, f"{module}.{name}" if module else name)
    if "written" not in spelling:
        raise Refusal("name", f"`{path}` cannot be written here: {spelling.get('refused', spelling.get('error'))}", file.path, at.lineno)
    if spelling["import"]:
        edits.imports.add((spelling["import"]["module"], spelling["import"]["name"] or ""))
    return f"{spelling['written']}.{rest}" if rest else spelling["written"]


def mark_import_unused(file: File, node: ast.AST, edits: Edits) -> None:
    """Marks the import of a removed name as possibly unused."""
    head = (dotted(node) or "").split(".")[0]
    path = file.imports.get(head)
    if path == head:
        edits.left.add((head, ""))
    elif path and "." in path:
        module, _, name = path.rpartition(".")
        edits.left.add((module, name))
