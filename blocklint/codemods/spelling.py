"""How a library path is written in a file, and where in it things stand."""

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
    """`httpx` of `httpx.AsyncClient`, and of `httpx.AsyncClient.get`."""
    parent = path.rpartition(".")[0]
    return parent.rpartition(".")[0] if is_class(parent) else parent


def spelled(names: Names, file: File, path: str, edits: Edits, at: ast.AST, replaces: bool = False) -> str:
    """Returns the path as blocklint's own fixes write it in a file, at a node whose place it may take; the import that it needs is added."""
    if replaces:
        leave(file, at, edits)
    module = module_of(path)
    # A method is written by its class.
    name, _, rest = path[len(module) + 1 :].partition(".")
    told = names.spelling(file, at, f"{module}.{name}" if module else name)
    if "written" not in told:
        raise Refusal("name", f"`{path}` cannot be written here: {told.get('refused', told.get('error'))}", file.path, at.lineno)
    if told["import"]:
        edits.imports.add((told["import"]["module"], told["import"]["name"] or ""))
    return f"{told['written']}.{rest}" if rest else told["written"]


def leave(file: File, node: ast.AST, edits: Edits) -> None:
    """Notes the import of a name that is written here no more: it may have been the only use."""
    head = (dotted(node) or "").split(".")[0]
    path = file.imports.get(head)
    if path == head:
        edits.left.add((head, ""))
    elif path and "." in path:
        module, _, name = path.rpartition(".")
        edits.left.add((module, name))
