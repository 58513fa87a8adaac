"""Detects edits after which a coroutine would only enter threads, repeatedly: one thread should run the helper instead."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Dict, Optional, Set

from .edits import Edits
from .index import FUNCTIONS, File, Function, Index

# Edits after which something is awaited that does not run in a thread.
AWAITS = ("replaced", "renamed", "wraps", "async_blocks", "whole", "gathered", "direct")

LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass
class Hops:
    """The result for edits that only enter threads: the function, if any, that would do so in a loop or more than once, and the line."""

    repeated: Optional[Function] = None
    line: int = 0


def find_only_hops(index: Index, edits: Dict[str, Edits], coroutines: Set[Function]) -> Optional[Hops]:
    if any(getattr(one, name) for one in edits.values() for name in AWAITS):
        return None
    before: Set[Function] = set()
    for path, one in edits.items():
        file = index.file(path)
        for node in (node for node in ast.walk(file.tree) if isinstance(node, ast.Call) and (file.start(node), file.end(node)) in one.threads):
            function = file.function_around(node)
            if function in coroutines and (function in before or in_loop(file, node)):
                return Hops(function, node.lineno)
            if function is not None:
                before.add(function)
    return Hops()


def in_loop(file: File, node: ast.AST) -> bool:
    below = node
    for above in file.up(node):
        # The iterable of a loop is evaluated once.
        if isinstance(above, LOOPS) and getattr(above, "iter", None) is not below:
            return True
        if isinstance(above, FUNCTIONS):
            return False
        below = above
    return False
