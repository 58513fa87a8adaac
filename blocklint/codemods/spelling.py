"""How a library path is written in a file, and where in it things stand."""

from __future__ import annotations

import ast
import json
import os
from typing import Dict, Optional

from .edits import Edits
from .index import File, dotted

with open(os.path.join(os.path.dirname(__file__), "changes.json"), encoding="utf-8") as stream:
    CHANGES = json.load(stream)


def span(file: File, node: ast.AST):
    return file.start(node), file.end(node)


def top(path: str) -> str:
    return path.split(".")[0]


def is_class(path: str) -> bool:
    """Whether a path is spelled like a class."""
    return path.rpartition(".")[2][:1].isupper()


def module_of(path: str) -> str:
    """`httpx` of `httpx.AsyncClient`, and of `httpx.AsyncClient.get`."""
    parent = path.rpartition(".")[0]
    return parent.rpartition(".")[0] if is_class(parent) else parent


def spelled(file: File, path: str, edits: Edits, before: Optional[ast.AST] = None) -> str:
    """The path as the file writes such things: by a name that it imports, as `before` was, whose place it takes, or in full."""
    there = imported(file)
    if before is not None:
        leave(file, before, edits)
    head, rest = path, ""
    while "." in head:
        name = next((name for name, of in there.items() if of == head), None)
        if name is not None:
            return name + rest
        head, _, last = head.rpartition(".")
        rest = f".{last}{rest}"
    module = module_of(path)
    name = path[len(module) + 1 :]
    if isinstance(before, ast.Name) and before.id in there and "." not in name and name not in file.top and name not in file.imports:
        edits.names.add((module, name))
        return name
    edits.imports.add(module)
    return path


def leave(file: File, node: ast.AST, edits: Edits) -> None:
    """What is written here no more may have been the only use of an import."""
    head = (dotted(node) or "").split(".")[0]
    path = file.imports.get(head)
    if path == head:
        edits.left.add((head, ""))
    elif path and "." in path:
        module, _, name = path.rpartition(".")
        edits.left.add((module, name))


def imported(file: File) -> Dict[str, str]:
    """The imports at the top of a file: those in functions and conditions bind their names elsewhere."""
    names: Dict[str, str] = {}
    for node in file.tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update({alias.asname or alias.name: file.imports.get(alias.asname or alias.name.split(".")[0], "") for alias in node.names if isinstance(node, ast.ImportFrom) or alias.asname})
    return names
