"""The files of a project as `ast` trees, with their functions and classes. `names.py` resolves names with the help of blocklint."""

from __future__ import annotations

import ast
import os
import re
import sys
from dataclasses import dataclass, field
from typing import Dict, Iterator, List, Optional, Tuple, Union

from .names import Names
from .needs import Needs
from .refusal import Refusal

SKIPPED_FOLDERS = {".git", ".venv", "venv", "node_modules", "__pycache__", ".tox", "build", "dist", ".mypy_cache"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Position = Tuple[int, int]
Span = Tuple[Position, Position]


@dataclass(eq=False)
class Class:
    file: "File"
    node: ast.ClassDef

    @property
    def name(self) -> str:
        return self.node.name


@dataclass(eq=False)
class Function:
    file: "File"
    node: Union[ast.FunctionDef, ast.AsyncFunctionDef]
    owner: Optional[Class]
    outer: Optional["Function"]

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def is_async(self) -> bool:
        return isinstance(self.node, ast.AsyncFunctionDef)

    @property
    def is_generator(self) -> bool:
        return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(self.node))

    def __str__(self) -> str:
        return f"{self.owner.name}.{self.name}" if self.owner else self.name


@dataclass(eq=False)
class File:
    path: str
    source: str
    tree: ast.Module
    # The names that absolute imports bind anywhere in the file, with their paths.
    imports: Dict[str, str] = field(default_factory=dict)
    parents: Dict[ast.AST, ast.AST] = field(default_factory=dict)
    by_node: Dict[ast.AST, Function] = field(default_factory=dict)
    # Functions and classes by the line of their names.
    defined: Dict[int, Union[Function, Class]] = field(default_factory=dict)
    # Names, attributes and calls by their places.
    nodes: Dict[Span, ast.AST] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.lines = re.split("\r\n|\r|\n", self.source)
        self._enter(self.tree, None, None)

    @property
    def functions(self) -> List[Function]:
        return list(self.by_node.values())

    @property
    def is_test(self) -> bool:
        return is_test(self.path)

    def start(self, node: ast.AST) -> Position:
        return self._position(node.lineno, node.col_offset)

    def end(self, node: ast.AST) -> Position:
        return self._position(node.end_lineno, node.end_col_offset)

    def _position(self, line: int, offset: int) -> Position:
        # `ast` counts columns in bytes, libcst and blocklint in characters.
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return line, len(text.encode()[:offset].decode(errors="ignore"))

    def up(self, node: ast.AST) -> Iterator[ast.AST]:
        while node in self.parents:
            node = self.parents[node]
            yield node

    def function_around(self, node: ast.AST) -> Optional[Function]:
        """Returns the innermost function whose body contains a node; decorators and defaults are no part of it."""
        below = node
        for above in self.up(node):
            if isinstance(above, FUNCTIONS) and any(below is statement for statement in above.body):
                return self.by_node[above]
            below = above
        return None

    def method_around(self, node: ast.AST) -> Optional[Function]:
        function = self.function_around(node)
        while function and not function.owner:
            function = function.outer
        return function

    def at(self, line: int) -> Optional[Function]:
        """Returns the innermost function at a line."""
        candidates = [one for one in self.functions if one.node.lineno <= line <= (one.node.end_lineno or 0)]
        return max(candidates, key=lambda one: one.node.lineno, default=None)

    def _enter(self, node: ast.AST, owner: Optional[Class], outer: Optional[Function]) -> None:
        for child in ast.iter_child_nodes(node):
            self.parents[child] = node
            below_owner, below_outer = owner, outer
            if isinstance(child, FUNCTIONS):
                below_outer = self.by_node[child] = self.defined[child.lineno] = Function(self, child, owner, outer)
                below_owner = None
            elif isinstance(child, ast.ClassDef):
                below_owner = self.defined[child.lineno] = Class(self, child)
            elif isinstance(child, ast.Import):
                for alias in child.names:
                    name = alias.asname or alias.name.split(".")[0]
                    self.imports[name] = alias.name if alias.asname else name
            elif isinstance(child, ast.ImportFrom) and not child.level:
                self.imports.update({alias.asname or alias.name: f"{child.module}.{alias.name}" for alias in child.names})
            elif isinstance(child, (ast.Name, ast.Attribute, ast.Call)):
                self.nodes[self.start(child), self.end(child)] = child
            self._enter(child, below_owner, below_outer)


class Index:
    """The files of a project that blocklint reads, each parsed when it is first needed."""

    def __init__(self, root: str, binary: str) -> None:
        self.root = os.path.abspath(root)
        self.names = Names(self, binary)
        self.needs = Needs(self.root, SKIPPED_FOLDERS)
        self._sources: Dict[str, bytes] = {}
        self._files: Dict[str, File] = {}

    def sources(self) -> Iterator[Tuple[str, bytes]]:
        for path in self.names.modules:
            yield path, self.source(path)

    def source(self, path: str) -> bytes:
        if path not in self._sources:
            with open(path, "rb") as stream:
                self._sources[path] = stream.read()
        return self._sources[path]

    def holds(self, path: str) -> bool:
        return path in self.names.modules

    def file(self, path: str, line: int = 1) -> File:
        """Returns a file of the project. Raises Refusal, with `line` as its place, if the file cannot be parsed."""
        if path not in self._files:
            try:
                source = self.source(path)
                self._files[path] = File(path, source.decode(), ast.parse(source.decode()))
            except SyntaxError as error:
                version = "{}.{}".format(*sys.version_info)
                reason = f"Python {version}, which runs this, cannot parse the file ({error.msg}, line {error.lineno}): a newer one may"
                raise Refusal("unreadable", reason, path, line) from None
            except (OSError, UnicodeDecodeError, ValueError, RecursionError) as error:
                raise Refusal("unreadable", f"the file cannot be read: {error}", path, line) from None
        return self._files[path]

    def line_of(self, path: str, name: str, behind: bytes = rb"\b") -> Optional[int]:
        """Returns the first line of a file with a name that the pattern `behind` follows."""
        found = re.search(rb"\b" + re.escape(name.encode()) + behind, self.source(path))
        return self.source(path).count(b"\n", 0, found.start()) + 1 if found else None

    def at(self, path: str, line: int) -> Optional[Function]:
        """Returns the innermost function of the project at a line."""
        path = os.path.abspath(path)
        return self.file(path, line).at(line) if self.holds(path) else None

    def is_for_tests(self, path: str) -> bool:
        return is_test(path) or not {"test", "tests"}.isdisjoint(os.path.relpath(path, self.root).split(os.sep))


def is_test(path: str) -> bool:
    name = os.path.basename(path)
    return name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yields the nodes of a body without those of functions and classes in it."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))


def dotted(node: ast.AST) -> Optional[str]:
    """Returns `a.b.c` as text; None if the expression is not only names."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return before and f"{before}.{node.attr}"
    return None


def value_of(file: File, target: ast.AST) -> ast.AST:
    """Returns the value that an assignment binds to a target; without one, as in a loop, the parent node."""
    above = file.parents.get(target)
    if isinstance(above, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and above.value is not None:
        return above.value
    return above.context_expr if isinstance(above, ast.withitem) else above or target
