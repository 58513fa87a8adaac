"""The project as `ast` sees it: functions, classes, imports, and to what a name or an attribute refers.

Only what can be told for sure is resolved. `None` says that nobody knows, and a codemod then refuses.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from dataclasses import dataclass, field
from typing import Dict, Iterator, List, Optional, Tuple, Union

from .needs import Needs

SKIPPED = {".git", ".venv", "venv", "node_modules", "__pycache__", ".tox", "build", "dist", ".mypy_cache"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Position = Tuple[int, int]


@dataclass(eq=False)
class Class:
    file: "File"
    node: ast.ClassDef
    name: str
    methods: Dict[str, List["Function"]] = field(default_factory=dict)


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


@dataclass
class Unread:
    """A file of the project that is not looked at: why, and what stands in it."""

    reason: str
    source: bytes

    def line_of(self, name: str) -> Optional[int]:
        """The first line in which a name stands."""
        found = re.search(rb"\b" + re.escape(name.encode()) + rb"\b", self.source)
        return self.source.count(b"\n", 0, found.start()) + 1 if found else None


@dataclass(eq=False)
class File:
    path: str
    source: str
    tree: ast.Module
    module: str
    imports: Dict[str, str] = field(default_factory=dict)
    functions: List[Function] = field(default_factory=list)
    top: Dict[str, Union[Function, Class]] = field(default_factory=dict)
    parents: Dict[ast.AST, ast.AST] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.lines = self.source.splitlines()

    @property
    def is_test(self) -> bool:
        name = os.path.basename(self.path)
        return name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"

    @property
    def is_for_tests(self) -> bool:
        return self.is_test or not {"test", "tests"}.isdisjoint(self.module.split("."))

    def start(self, node: ast.AST) -> Position:
        return self._position(node.lineno, node.col_offset)

    def end(self, node: ast.AST) -> Position:
        return self._position(node.end_lineno, node.end_col_offset)

    def _position(self, line: int, offset: int) -> Position:
        # ast counts bytes, people and blocklint count characters.
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return line, len(text.encode()[:offset].decode(errors="ignore"))

    def up(self, node: ast.AST) -> Iterator[ast.AST]:
        while node in self.parents:
            node = self.parents[node]
            yield node

    def around(self, node: ast.AST) -> Optional[Function]:
        """The function whose body a node stands in; none for decorators and defaults of a top-level one."""
        below = node
        for above in self.up(node):
            if isinstance(above, FUNCTIONS) and any(below is statement for statement in above.body):
                return self.by_node[above]
            below = above
        return None

    by_node: Dict[ast.AST, Function] = field(default_factory=dict)


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a body without those of functions and classes in it."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))


def dotted(node: ast.AST) -> Optional[str]:
    """`a.b.c` as text, if it is only names."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return before and f"{before}.{node.attr}"
    return None


class Index:
    def __init__(self, root: str) -> None:
        self.root = os.path.abspath(root)
        self.files: Dict[str, File] = {}
        self.modules: Dict[str, File] = {}
        # Files of the project that are not among these, and why.
        self.unread: Dict[str, Unread] = {}
        self.classes: List[Class] = []
        self.named: Dict[str, List[Tuple[File, ast.AST]]] = {}
        for path in self._walk():
            self._read(path)
        self.needs = Needs(self.root, SKIPPED)

    def _walk(self) -> Iterator[str]:
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith("."))
            yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(".py"))

    def _read(self, path: str) -> None:
        try:
            with open(path, "rb") as stream:
                source = stream.read()
            tree = ast.parse(source.decode())
        except SyntaxError as error:
            version = "{}.{}".format(*sys.version_info)
            self.unread[path] = Unread(f"Python {version}, which runs this, cannot parse the file ({error.msg}, line {error.lineno}): a newer one may", source)
            return
        except OSError as error:
            self.unread[path] = Unread(f"the file cannot be read: {error}", b"")
            return
        except (UnicodeDecodeError, ValueError, RecursionError) as error:
            self.unread[path] = Unread(f"the file cannot be read: {error}", source)
            return
        file = File(path, source.decode(), tree, self._module(path))
        self.files[path] = self.modules[file.module] = file
        self._enter(file, tree, None, None)

    def _module(self, path: str) -> str:
        parts = [os.path.splitext(os.path.basename(path))[0]]
        folder = os.path.dirname(path)
        while os.path.exists(os.path.join(folder, "__init__.py")) and folder != os.path.dirname(folder):
            parts.insert(0, os.path.basename(folder))
            folder = os.path.dirname(folder)
        inside = os.path.relpath(folder, self.root)
        if inside not in (".", "src") and len(parts) == 1:
            # A folder without `__init__.py` is a package as well.
            parts = [*inside.split(os.sep), *parts]
            parts = parts[1:] if parts[0] == "src" else parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)

    def _enter(self, file: File, node: ast.AST, owner: Optional[Class], outer: Optional[Function]) -> None:
        for child in ast.iter_child_nodes(node):
            file.parents[child] = node
            below_owner, below_outer = owner, outer
            if isinstance(child, FUNCTIONS):
                made = Function(file, child, owner, outer)
                file.functions.append(made)
                file.by_node[child] = made
                if made.owner:
                    made.owner.methods.setdefault(child.name, []).append(made)
                elif outer is None:
                    file.top[child.name] = made
                below_owner, below_outer = None, made
            elif isinstance(child, ast.ClassDef):
                below_owner = Class(file, child, child.name)
                self.classes.append(below_owner)
                if outer is None and owner is None:
                    file.top[child.name] = below_owner
            elif isinstance(child, ast.Import):
                for alias in child.names:
                    name = alias.asname or alias.name.split(".")[0]
                    file.imports[name] = alias.name if alias.asname else name
            elif isinstance(child, ast.ImportFrom):
                base = self._base(file, child)
                for alias in child.names:
                    file.imports[alias.asname or alias.name] = f"{base}.{alias.name}"
            elif isinstance(child, ast.Name):
                self.named.setdefault(child.id, []).append((file, child))
            elif isinstance(child, ast.Attribute):
                self.named.setdefault(child.attr, []).append((file, child))
            self._enter(file, child, below_owner, below_outer)

    @staticmethod
    def _base(file: File, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = file.module.split(".")
        away = node.level - (1 if file.path.endswith("__init__.py") else 0)
        parts = parts[: len(parts) - away] if away else parts
        return ".".join([*parts, *([node.module] if node.module else [])])

    # --- names ---------------------------------------------------------------------------------------

    def symbol(self, path: str, fuel: int = 8) -> Union[Function, Class, File, None]:
        """What the project defines under a qualified name, through imports that pass it on."""
        if path in self.modules:
            return self.modules[path]
        before, _, name = path.rpartition(".")
        holder = self.symbol(before, fuel - 1) if before and fuel else None
        if isinstance(holder, File):
            if name in holder.top:
                return holder.top[name]
            return self.symbol(holder.imports[name], fuel - 1) if name in holder.imports and fuel else None
        if isinstance(holder, Class):
            return next(iter(holder.methods.get(name, [])), None)
        return None

    def local_values(self, file: File, node: ast.Name) -> Optional[List[ast.AST]]:
        """What is bound to a name in the function around it; none if it is not a local name."""
        function = file.around(node)
        while function:
            bound = bindings(function.node, node.id)
            if bound is not None:
                return bound
            function = function.outer
        return None

    def target(self, file: File, node: ast.AST, fuel: int = 8) -> Union[Function, Class, File, str, None]:
        """What an expression names: something of the project, or the path of something outside of it."""
        if fuel == 0:
            return None
        if isinstance(node, ast.Name):
            function = file.around(node)
            while function:
                for inner in file.functions:
                    if inner.outer is function and inner.name == node.id and not inner.owner:
                        return inner
                function = function.outer
            if self.local_values(file, node) is not None:
                return None
            if node.id in file.top:
                return file.top[node.id]
            if node.id in file.imports:
                path = file.imports[node.id]
                return self.symbol(path) or (None if self._ours(path) else path)
            return None if module_values(file, node.id) else f"builtins.{node.id}"
        if isinstance(node, ast.Attribute):
            base = self.target(file, node.value, fuel - 1)
            if isinstance(base, str):
                return f"{base}.{node.attr}"
            if isinstance(base, File):
                path = f"{base.module}.{node.attr}"
                found = self.symbol(path)
                return found or (base.imports.get(node.attr) if node.attr in base.imports else None)
            of = base if isinstance(base, Class) else self.type_of(file, node.value, fuel - 1)
            if isinstance(of, Class):
                return self.method(of, node.attr)
            if isinstance(of, str):
                return f"{of}.{node.attr}"
        return None

    def _ours(self, path: str) -> bool:
        return path.split(".")[0] in {module.split(".")[0] for module in self.modules}

    def bases(self, of: Class) -> List[Union[Class, str, None]]:
        found: List[Union[Class, str, None]] = []
        for base in of.node.bases:
            while isinstance(base, ast.Subscript):
                base = base.value
            target = self.target(of.file, base)
            found.append(target if isinstance(target, (Class, str)) else None)
        return found

    def lineage(self, of: Class, fuel: int = 10) -> List[Union[Class, str, None]]:
        found: List[Union[Class, str, None]] = [of]
        for base in self.bases(of) if fuel else []:
            found.extend(self.lineage(base, fuel - 1) if isinstance(base, Class) else [base])
        return found

    def heirs(self, of: Class) -> List[Class]:
        return [heir for heir in self.classes if heir is not of and of in self.lineage(heir)]

    def method(self, of: Class, name: str) -> Union[Function, str, None]:
        for above in self.lineage(of):
            if isinstance(above, Class) and name in above.methods:
                return above.methods[name][-1]
        outside = [above for above in self.lineage(of) if not isinstance(above, Class)]
        return f"{outside[0]}.{name}" if outside and outside[0] else None

    # --- types ---------------------------------------------------------------------------------------

    def type_of(self, file: File, node: ast.AST, fuel: int = 8) -> Union[Class, str, None]:
        """The class of a value, or the path of what makes it outside of the project."""
        if fuel <= 0:
            return None
        if isinstance(node, ast.Await):
            node = node.value
        if isinstance(node, ast.Constant):
            return f"builtins.{type(node.value).__name__}"
        literal = {ast.List: "list", ast.Dict: "dict", ast.Set: "set", ast.JoinedStr: "str", ast.ListComp: "list", ast.DictComp: "dict"}
        if type(node) in literal:
            return f"builtins.{literal[type(node)]}"
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id == "super" and (function := self.method_around(file, node)):
                above = self.bases(function.owner)
                return above[0] if above else "builtins.object"
            made = self.target(file, node.func, fuel - 1)
            if isinstance(made, Function):
                return self.annotated(made.file, made.node.returns, fuel - 1)
            return made if isinstance(made, (Class, str)) else None
        if isinstance(node, ast.Name):
            function = self.method_around(file, node)
            first = function and first_argument(function.node)
            if first and node.id == first and not bindings(function.node, node.id, arguments=False):
                return function.owner
            values = self.local_values(file, node)
            if values is None:
                values = module_values(file, node.id)
                if not values and node.id in file.imports:
                    path, _, name = file.imports[node.id].rpartition(".")
                    other = self.symbol(path)
                    if isinstance(other, File) and name not in other.top:
                        return self._one(other, module_values(other, name), fuel - 1)
            return self._one(file, values, fuel - 1)
        if isinstance(node, ast.Attribute):
            of = self.type_of(file, node.value, fuel - 1)
            if isinstance(of, Class):
                for above in self.lineage(of):
                    if isinstance(above, Class) and (values := attribute_values(above, node.attr)):
                        return self._one(above.file, values, fuel - 1)
            other = self.target(file, node.value, fuel - 1)
            if isinstance(other, File):
                return self._one(other, module_values(other, node.attr), fuel - 1)
        return None

    def _one(self, file: File, values: Optional[List[ast.AST]], fuel: int) -> Union[Class, str, None]:
        found = []
        for value in values or []:
            if isinstance(value, ast.Constant) and value.value is None:
                continue
            found.append(self.annotated(file, value.annotation, fuel) if isinstance(value, ast.arg) else self.type_of(file, value, fuel))
        return found[0] if found and all(one == found[0] for one in found) else None

    def annotated(self, file: File, node: Optional[ast.AST], fuel: int) -> Union[Class, str, None]:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                node = ast.parse(node.value, mode="eval").body
            except SyntaxError:
                return None
            text = dotted(node)
            head = text.split(".")[0] if text else ""
            path = file.imports.get(head)
            if text in file.top:
                found = file.top[text]
                return found if isinstance(found, Class) else None
            found = self.symbol(path + text[len(head):]) if path else None
            return found if isinstance(found, Class) else (path + text[len(head):] if path else None)
        if isinstance(node, ast.Subscript) and (dotted(node.value) or "").endswith("Optional"):
            return self.annotated(file, node.slice, fuel)
        if isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant) and node.right.value is None:
            return self.annotated(file, node.left, fuel)
        found = self.target(file, node, fuel) if node is not None else None
        return found if isinstance(found, (Class, str)) else None

    def method_around(self, file: File, node: ast.AST) -> Optional[Function]:
        function = file.around(node)
        while function and not function.owner:
            function = function.outer
        return function

    def at(self, path: str, line: int) -> Optional[Function]:
        """The innermost function at a line."""
        file = self.files.get(os.path.abspath(path))
        around = [one for one in file.functions if one.node.lineno <= line <= (one.node.end_lineno or 0)] if file else []
        return max(around, key=lambda one: one.node.lineno, default=None)


def first_argument(node: ast.AST) -> Optional[str]:
    static = any(dotted(decorator) == "staticmethod" for decorator in node.decorator_list)
    arguments = [*node.args.posonlyargs, *node.args.args]
    return arguments[0].arg if arguments and not static else None


def bindings(function: ast.AST, name: str, arguments: bool = True) -> Optional[List[ast.AST]]:
    """The values that a function binds a name to; a loop's or a caught one is its node; none: it binds none."""
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    given += [one for one in (function.args.vararg, function.args.kwarg) if one]
    found = [one for one in given if one.arg == name] if arguments else []
    nodes = list(own_nodes(function))
    if any(isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names for node in nodes):
        return None
    return (found + stored(nodes, name)) or None


def stored(nodes: List[ast.AST], name: str) -> List[ast.AST]:
    found: List[ast.AST] = []
    for node in nodes:
        is_it = lambda target: isinstance(target, ast.Name) and target.id == name  # noqa: E731
        if isinstance(node, ast.Assign) and any(map(is_it, node.targets)):
            found.append(node.value)
        elif isinstance(node, ast.AnnAssign) and is_it(node.target):
            found.append(node.value or node)
        elif isinstance(node, ast.NamedExpr) and is_it(node.target):
            found.append(node.value)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None and is_it(node.optional_vars):
            found.append(node.context_expr)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)) and any(map(is_it, ast.walk(node.target))):
            found.append(node)
        elif isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Store) and any(map(is_it, node.elts)):
            found.append(node)
        elif isinstance(node, ast.ExceptHandler) and node.name == name:
            found.append(node)
    return found


def module_values(file: File, name: str) -> List[ast.AST]:
    """The values that a module binds a name to, also those of functions that declare it `global`."""
    found = stored(list(own_nodes(file.tree)), name)
    for function in file.functions:
        nodes = list(own_nodes(function.node))
        if any(isinstance(node, ast.Global) and name in node.names for node in nodes):
            found += stored(nodes, name)
    return found


def attribute_values(of: Class, name: str) -> List[ast.AST]:
    """What a class binds its attribute to: in its body, or on the first argument of its methods."""
    found = stored(list(own_nodes(of.node)), name)
    for methods in of.methods.values():
        for method in methods:
            first = first_argument(method.node)
            for node in own_nodes(method.node):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
                for target in targets:
                    if isinstance(target, ast.Attribute) and target.attr == name and dotted(target.value) == first:
                        value = node.value
                        if isinstance(value, ast.Name):
                            given = bindings(method.node, value.id)
                            value = given[0] if given and len(given) == 1 else value
                        found.append(value if value is not None else node)
    return found
