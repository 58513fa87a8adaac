"""Looks names up in the sources and stubs of Python packages. They are read with `ast`: nothing is imported or run."""

from __future__ import annotations

import ast
import builtins
import re
import sysconfig
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import pyx_outline

AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef

#: Names in annotations that say that a call gives something to await.
AWAITABLE = re.compile(r"Awaitable|Coroutine|Future|Task\b|Deferred|Async[A-Z]\w*|ContextManager\b.*Async|\b_?Async")


@dataclass(eq=False)
class Module:
    """A module or a package, with the trees of its source and its stub."""

    name: str
    package: bool
    trees: list[ast.Module]
    compiled: bool

    @cached_property
    def scope(self) -> Scope:
        scope = Scope()
        for tree in self.trees:
            scope.read(tree.body, self, None)
        return scope


@dataclass(eq=False)
class Class:
    """A class, in a source or a stub."""

    name: str
    node: ast.ClassDef
    module: Module
    outer: Class | None = None

    @cached_property
    def scope(self) -> Scope:
        scope = Scope()
        scope.read(self.node.body, self.module, self)
        for item in list(scope.functions()):
            first = next(iter(item.node.args.posonlyargs + item.node.args.args), None)
            if first is not None:
                scope.read_attributes(item.node, first.arg, self.module, self)
        return scope


@dataclass(frozen=True)
class Function:
    """A function or method. `owner` is the class it is looked up in, if it is bound."""

    node: AnyFunction
    module: Module
    owner: Class | None = None

    @property
    def decorators(self) -> list[str]:
        nodes = (d.func if isinstance(d, ast.Call) else d for d in self.node.decorator_list)
        return [ast.unparse(d).rsplit(".", 1)[-1] for d in nodes]

    @property
    def is_property(self) -> bool:
        names = {"property", "cached_property", "setter", "getter", "reify", "memoized_property", "lazyproperty"}
        return any(d in names or d.endswith("property") for d in self.decorators)

    @property
    def is_generator(self) -> bool:
        return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_nodes(self.node))


@dataclass(frozen=True)
class Value:
    """A name bound to something else: a variable, a field, an attribute set in a method."""

    module: Module
    owner: Class | None
    expression: ast.expr | None = None
    annotation: ast.expr | None = None


@dataclass(frozen=True)
class Import:
    """A name that another module gives."""

    module: Module
    source: str
    name: str | None


@dataclass(frozen=True)
class Instance:
    """An object of a class."""

    of: Class


@dataclass(frozen=True)
class Outside:
    """Something of a library that is not at hand, or of an expression that is not understood."""

    path: str


Entity = Module | Class | Function | Value | Instance | Outside
Binding = Entity | Import


@dataclass
class Scope:
    """What the body of a module or class binds."""

    names: dict[str, list[Binding]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)

    def add(self, name: str, binding: Binding) -> None:
        self.names.setdefault(name, []).append(binding)

    def functions(self) -> Iterator[Function]:
        for bindings in self.names.values():
            yield from (b for b in bindings if isinstance(b, Function))

    def read(self, body: list[ast.stmt], module: Module, owner: Class | None) -> None:
        for node in body:
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    self.add(node.name, Function(node, module, owner))
                case ast.ClassDef():
                    name = f"{owner.name}.{node.name}" if owner else f"{module.name}.{node.name}"
                    self.add(node.name, Class(name, node, module, owner))
                case ast.Import():
                    for alias in node.names:
                        bound = alias.asname or alias.name.split(".")[0]
                        self.add(bound, Import(module, alias.name if alias.asname else bound, None))
                case ast.ImportFrom():
                    source = absolute(module, node)
                    for alias in node.names:
                        if alias.name == "*":
                            self.stars.append(source)
                        else:
                            self.add(alias.asname or alias.name, Import(module, source, alias.name))
                case ast.Assign():
                    for target in node.targets:
                        self.bind(target, Value(module, owner, node.value))
                case ast.AnnAssign():
                    self.bind(node.target, Value(module, owner, node.value, node.annotation))
                case ast.AugAssign():
                    self.bind(node.target, Value(module, owner, node.value))
            for block in ("body", "orelse", "finalbody"):
                if isinstance(node, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
                    self.read(getattr(node, block, []), module, owner)
            for handler in getattr(node, "handlers", []):
                self.read(handler.body, module, owner)

    def bind(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name():
                self.add(target.id, value)
                if target.id == "__slots__" and isinstance(value.expression, (ast.Tuple, ast.List)):
                    for item in value.expression.elts:
                        if isinstance(item, ast.Constant) and isinstance(item.value, str):
                            self.add(item.value, Value(value.module, value.owner))
            case ast.Tuple() | ast.List():
                parts = value.expression.elts if isinstance(value.expression, (ast.Tuple, ast.List)) else []
                for at, part in enumerate(target.elts):
                    same = len(parts) == len(target.elts)
                    self.bind(part, replace(value, expression=parts[at] if same else None, annotation=None))
            case ast.Attribute(value=ast.Name(id=name)):
                # `Class.method = function` below the class.
                for known in self.names.get(name, []):
                    if isinstance(known, Class):
                        known.scope.add(target.attr, replace(value, owner=known))

    def read_attributes(self, method: AnyFunction, receiver: str, module: Module, owner: Class) -> None:
        annotations = {a.arg: a.annotation for a in method.args.args + method.args.kwonlyargs if a.annotation}
        for node in own_nodes(method):
            match node:
                case ast.Assign():
                    targets: list[ast.expr] = []
                    for target in node.targets:
                        targets += target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
                    value, annotation = node.value, None
                case ast.AnnAssign():
                    targets, value, annotation = [node.target], node.value, node.annotation
                case _:
                    continue
            for target in targets:
                if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
                    continue
                if target.value.id == receiver:
                    given = annotations.get(value.id) if isinstance(value, ast.Name) else None
                    self.add(target.attr, Value(module, owner, value, annotation or given))


def own_nodes(function: AnyFunction) -> Iterator[ast.AST]:
    """The nodes of a body, without those of functions and classes in it."""
    queue: list[ast.AST] = list(function.body)
    while queue:
        node = queue.pop(0)
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            queue.extend(ast.iter_child_nodes(node))


def absolute(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    keep = len(parts) - node.level + (1 if module.package else 0)
    return ".".join(parts[:keep] + ([node.module] if node.module else []))


class Sources:
    """Packages in folders, searched in order; the standard library of this interpreter comes last."""

    def __init__(self, folders: list[Path]) -> None:
        self.folders = folders
        self.known: dict[str, Module | None] = {}
        self.active: set[tuple[int, str]] = set()
        self.standard = Path(sysconfig.get_paths()["stdlib"])

    # --- modules ---------------------------------------------------------------------------------

    def module(self, name: str) -> Module | None:
        if name not in self.known:
            self.known[name] = self.find_module(name)
        return self.known[name]

    def find_module(self, name: str) -> Module | None:
        if not name:
            return None
        top, *rest = name.split(".")
        trees: list[ast.Module] = []
        package = compiled = found = False
        for folder in [*self.folders, self.standard]:
            if found and folder == self.standard:
                break
            for first in (top, f"{top}-stubs"):
                base = folder.joinpath(first, *rest)
                inner = base / "__init__"
                if base.is_dir() and not (folder == self.standard and not inner.with_suffix(".py").exists()):
                    found = package = True
                for stem in (inner, base) if base.is_dir() else (base,):
                    for suffix in (".py", ".pyi", ".pyx"):
                        file = stem.with_name(stem.name + suffix)
                        if file.is_file() and (tree := parse(file)) is not None:
                            trees.append(tree)
                            found = True
                if base.parent.is_dir() and any(base.parent.glob(f"{base.name}.*.so")):
                    found = compiled = True
        return Module(name, package, trees, compiled) if found else None

    # --- names -----------------------------------------------------------------------------------

    def resolve(self, path: str) -> list[Entity]:
        """Everything that a dotted path may be; nothing if it does not exist."""
        parts = path.split(".")
        if (parent := self.module(".".join(parts[:-1]))) is not None:
            # A function may have the name of the module that it stands in.
            found = [e for e in self.member(parent, parts[-1]) if not isinstance(e, (Module, Outside))]
            if found:
                return found
        for length in range(len(parts), 0, -1):
            module = self.module(".".join(parts[:length]))
            if module is None:
                continue
            found: list[Entity] = [module]
            for name in parts[length:]:
                found = [e for entity in found for e in self.member(entity, name)]
            if found:
                return found
        return []

    def member(self, entity: Entity, name: str) -> list[Entity]:
        key = (id(entity.of) if isinstance(entity, Instance) else id(entity), name)
        if key in self.active:
            return []
        self.active.add(key)
        try:
            return self.find_member(entity, name)
        finally:
            self.active.discard(key)

    def find_member(self, entity: Entity, name: str) -> list[Entity]:
        match entity:
            case Module():
                found = [e for b in entity.scope.names.get(name, []) for e in self.follow(b)]
                sub = self.module(f"{entity.name}.{name}")
                if not any(isinstance(e, (Class, Function, Module)) for e in found):
                    for star in entity.scope.stars:
                        if (module := self.module(star)) is not None and module is not entity:
                            found += self.member(module, name)
                if sub is not None and not found:
                    found.append(sub)
                return found
            case Instance(of=cls) | (Class() as cls):
                for base in self.mro(cls):
                    if isinstance(base, Class) and name in base.scope.names:
                        found = [e for b in base.scope.names[name] for e in self.follow(b)]
                        return [replace(e, owner=e.owner or cls) if isinstance(e, Function) else e for e in found]
                    if isinstance(base, type) and hasattr(base, name):
                        return [Outside(f"builtins.{base.__name__}.{name}")]
                outside = [b for b in self.mro(cls) if isinstance(b, Outside)]
                return [Outside(f"{b.path}.{name}") for b in outside]
            case Value():
                return [e for of in self.value_of(entity) for e in self.member(of, name)]
            case Function() if entity.is_property:
                return [e for of in self.returned(entity) for e in self.member(of, name)]
            case Outside():
                return [Outside(f"{entity.path}.{name}")]
        return []

    def follow(self, binding: Binding) -> list[Entity]:
        """What an import or a plain second name stands for."""
        if isinstance(binding, Import):
            module = self.module(binding.source)
            if binding.name is None:
                return [module] if module else [Outside(binding.source)]
            if module is None:
                return [Outside(f"{binding.source}.{binding.name}")]
            return self.member(module, binding.name)
        if isinstance(binding, Value) and isinstance(binding.expression, (ast.Name, ast.Attribute)):
            known = self.evaluate(binding.expression, binding.module, binding.owner)
            return known if any(isinstance(e, (Class, Function, Module)) for e in known) else [binding]
        return [binding]

    def value_of(self, value: Value) -> list[Entity]:
        found: list[Entity] = []
        if value.annotation is not None:
            found = self.instances(self.evaluate(value.annotation, value.module, value.owner))
        if not found and value.expression is not None:
            found = self.evaluate(value.expression, value.module, value.owner)
        return [f for f in found if f is not value]

    def returned(self, function: Function) -> list[Entity]:
        if function.node.returns is None:
            return []
        return self.instances(self.evaluate(function.node.returns, function.module, function.owner))

    def instances(self, types: list[Entity]) -> list[Entity]:
        return [Instance(t) if isinstance(t, Class) else t for t in types]

    def evaluate(self, node: ast.expr, module: Module, owner: Class | None) -> list[Entity]:
        match node:
            case ast.Name():
                scope: Class | None = owner
                while scope is not None:
                    if node.id in scope.scope.names and (id(scope), node.id) not in self.active:
                        return self.member(scope, node.id)
                    scope = scope.outer
                found = self.member(module, node.id)
                return found or ([Outside(f"builtins.{node.id}")] if hasattr(builtins, node.id) else [])
            case ast.Attribute():
                if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls") and owner is not None:
                    return self.member(owner, node.attr)
                return [e for of in self.evaluate(node.value, module, owner) for e in self.member(of, node.attr)]
            case ast.Subscript():
                name = ast.unparse(node.value).rsplit(".", 1)[-1]
                inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                if name in ("Optional", "Union", "Annotated", "ClassVar", "Final", "Type", "type"):
                    return [e for part in inner for e in self.evaluate(part, module, owner)]
                return self.evaluate(node.value, module, owner)
            case ast.Call():
                called = self.evaluate(node.func, module, owner)
                found = self.instances([c for c in called if isinstance(c, Class)])
                return found + [e for c in called if isinstance(c, Function) for e in self.returned(c)]
            case ast.Constant(value=str(text)):
                try:
                    return self.evaluate(ast.parse(text, mode="eval").body, module, owner)
                except (SyntaxError, ValueError):
                    return []
            case ast.BinOp(left=left, right=right) | ast.IfExp(body=left, orelse=right):
                return self.evaluate(left, module, owner) + self.evaluate(right, module, owner)
            case ast.BoolOp():
                return [e for part in node.values for e in self.evaluate(part, module, owner)]
        return []

    # --- classes ---------------------------------------------------------------------------------

    def bases(self, cls: Class) -> list[Class | Outside | type]:
        found: list[Class | Outside | type] = []
        nodes = list(cls.node.bases)
        for node in cls.node.bases:
            if isinstance(node, ast.Call):
                # `with_metaclass(Meta, Base)` and the like.
                nodes += node.args
        for node in nodes:
            known = self.evaluate(node, cls.module, cls.outer)
            before = len(found)
            for base in known:
                base = base.of if isinstance(base, Instance) else base
                if isinstance(base, Class) and base is not cls:
                    found.append(base)
                elif isinstance(base, Value):
                    found += [b for b in self.value_of(base) if isinstance(b, (Class, Outside))]
                elif isinstance(base, Outside):
                    builtin = getattr(builtins, base.path.removeprefix("builtins."), None)
                    found.append(builtin if isinstance(builtin, type) else base)
            if len(found) == before:
                found.append(Outside(ast.unparse(node)))
        plain = re.compile(r"^(typing|typing_extensions|abc|_typeshed)\.|^(Generic|Protocol|ABC|NamedTuple)\b")
        return [b for b in found if not (isinstance(b, Outside) and plain.search(b.path))]

    def mro(self, cls: Class) -> list[Class | Outside | type]:
        order: list[Class | Outside | type] = []
        queue: list[Class | Outside | type] = [cls]
        while queue:
            entry = queue.pop(0)
            if entry in order:
                continue
            order.append(entry)
            if isinstance(entry, Class) and len(order) < 200:
                queue = self.bases(entry) + queue
        return order

    def public_members(self, entity: Entity) -> dict[str, list[Entity]]:
        """Everything without a leading underscore that a glob may mean, inherited names included."""
        names: set[str] = set()
        match entity:
            case Module():
                names |= set(entity.scope.names)
                for star in entity.scope.stars:
                    if (module := self.module(star)) is not None and module is not entity:
                        names |= set(self.public_members(module))
            case Instance(of=cls) | (Class() as cls):
                for base in self.mro(cls):
                    if isinstance(base, Class):
                        names |= set(base.scope.names)
        return {name: self.member(entity, name) for name in sorted(names) if not name.startswith("_")}


def parse(file: Path) -> ast.Module | None:
    try:
        text = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    if file.suffix == ".pyx":
        text = pyx_outline.outline(text, file.parent)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            return None
