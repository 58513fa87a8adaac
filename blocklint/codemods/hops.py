"""Search for coroutines that would only enter threads, again and again: then one thread should run the helper."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Dict, Optional, Set

from .edits import Edits
from .index import FUNCTIONS, File, Function, Index

# Edits that make something awaited which no thread runs.
AWAITS = ("replaced", "renamed", "wraps", "async_blocks", "whole", "gathered", "direct")

LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass
class Hops:
    """Edits that only enter threads: a function that becomes a coroutine function to do so in a loop or more than once, and where."""

    again: Optional[Function] = None
    line: int = 0


def only_hops(index: Index, edits: Dict[str, Edits], made: Set[Function]) -> Optional[Hops]:
    if any(getattr(one, name) for one in edits.values() for name in AWAITS):
        return None
    before: Set[Function] = set()
    for path, one in edits.items():
        file = index.file(path)
        for node in (node for node in ast.walk(file.tree) if isinstance(node, ast.Call) and (file.start(node), file.end(node)) in one.threads):
            function = file.around(node)
            if function in made and (function in before or in_loop(file, node)):
                return Hops(function, node.lineno)
            if function is not None:
                before.add(function)
    return Hops()


def in_loop(file: File, node: ast.AST) -> bool:
    below = node
    for above in file.up(node):
        # The value that is iterated over is made once.
        if isinstance(above, LOOPS) and getattr(above, "iter", None) is not below:
            return True
        if isinstance(above, FUNCTIONS):
            return False
        below = above
    return False
