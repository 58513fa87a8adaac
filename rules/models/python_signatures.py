"""What the parameters of a call are, and whether it gives something to await."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from python_sources import AWAITABLE, Class, Entity, Function, Instance, Outside, Sources, Value, own_nodes

#: Annotations of what is run only where it is awaited; one of several things it may give does not say so.
COROUTINE = re.compile(r"['\"]?(\w+\.)*(Awaitable|Coroutine|AsyncIterator|AsyncGenerator|AsyncIterable)\b[^|]*$")


@dataclass(frozen=True)
class Signature:
    """The parameters of a call, the receiver not counted."""

    positional: tuple[str, ...]
    keyword_only: tuple[str, ...]
    rest: bool
    keywords: bool

    @property
    def names(self) -> tuple[str, ...]:
        return self.positional + self.keyword_only

    def mismatch(self, reference: str | int) -> str | None:
        """What is wrong with an argument such as `0`, `"name"` or `"name@0"`."""
        if isinstance(reference, int):
            enough = self.rest or reference < len(self.positional)
            return None if enough else f"has no argument {reference} ({', '.join(self.names)})"
        name, _, position = reference.partition("@")
        if name not in self.names:
            if self.keywords:
                return None
            return f"has no parameter `{name}` ({', '.join(self.names)})"
        if position and (name not in self.positional or self.positional.index(name) != int(position)):
            where = f"argument {self.positional.index(name)}" if name in self.positional else "keyword only"
            return f"`{name}` is {where}, not {position}"
        return None


def of_function(function: Function) -> Signature:
    given = function.node.args
    names = [a.arg for a in given.posonlyargs + given.args]
    if function.owner is not None and "staticmethod" not in function.decorators:
        names = names[1:]
    only = tuple(a.arg for a in given.kwonlyargs)
    return Signature(tuple(names), only, given.vararg is not None, given.kwarg is not None)


def of_class(sources: Sources, cls: Class) -> list[Signature]:
    for name in ("__init__", "__new__"):
        functions = [e for e in sources.member(cls, name) if isinstance(e, Function)]
        if functions:
            return [of_function(f) for f in functions]
    order = sources.mro(cls)
    if any(isinstance(base, Outside) for base in order):
        return []
    names: list[str] = []
    for base in reversed([b for b in order if isinstance(b, Class)]):
        for node in base.node.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id not in names:
                names.append(node.target.id)
    return [Signature(tuple(names), (), True, True)]


def signatures(sources: Sources, found: list[Entity]) -> list[Signature]:
    """One for each overload; none if it cannot be told."""
    known: list[Signature] = []
    for entity in found:
        match entity:
            case Function():
                known.append(of_function(entity))
            case Class():
                known += of_class(sources, entity)
            case Instance(of=cls):
                known += [of_function(f) for f in sources.member(cls, "__call__") if isinstance(f, Function)]
            case Value(expression=ast.Lambda(args=given)):
                names = tuple(a.arg for a in given.args)
                known.append(Signature(names, (), given.vararg is not None, given.kwarg is not None))
    return known


def is_async(sources: Sources, entity: Entity, depth: int = 0) -> bool:
    """Whether calling it gives a coroutine, a future, an asynchronous iterator or context manager."""
    if isinstance(entity, Class):
        protocol = (e for n in ("__await__", "__aenter__", "__aiter__", "__anext__") for e in sources.member(entity, n))
        return any(not isinstance(e, Outside) for e in protocol)
    if not isinstance(entity, Function):
        return False
    node = entity.node
    if isinstance(node, ast.AsyncFunctionDef) or {"asynccontextmanager", "coroutine"} & set(entity.decorators):
        return True
    if is_wrapped(sources, entity):
        return True
    if node.returns is not None:
        text = ast.unparse(node.returns)
        if AWAITABLE.search(text):
            return True
        if any(is_async(sources, t.of, depth + 1) for t in sources.returned(entity) if isinstance(t, Instance)):
            return True
        if text.strip("'\"") not in ("Any", "object", "typing.Any"):
            return False
    if depth > 3:
        return False
    for inner in own_nodes(node):
        if not isinstance(inner, ast.Return) or not isinstance(inner.value, ast.Call):
            continue
        called = inner.value.func
        nested = [n.name for n in ast.walk(node) if isinstance(n, ast.AsyncFunctionDef)]
        if isinstance(called, ast.Name) and called.id in nested:
            return True
        targets = sources.evaluate(called, entity.module, entity.owner)
        if any(is_async(sources, t, depth + 1) for t in targets if isinstance(t, (Function, Class)) and t != entity):
            return True
    return False


def is_coroutine(sources: Sources, entity: Entity) -> bool:
    """Whether nothing at all happens before the result is awaited."""
    if not isinstance(entity, Function):
        return False
    returns = ast.unparse(entity.node.returns) if entity.node.returns is not None else ""
    written = isinstance(entity.node, ast.AsyncFunctionDef) or "asynccontextmanager" in entity.decorators
    return written or COROUTINE.match(returns) is not None or is_wrapped(sources, entity)


def is_wrapped(sources: Sources, function: Function) -> bool:
    """Whether one of its decorators makes a coroutine function of it."""
    for decorator in function.node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        for target in sources.evaluate(called, function.module, None):
            if isinstance(target, Function) and gives_coroutine_function(target.node):
                return True
    return False


def gives_coroutine_function(node: ast.AST) -> bool:
    """Whether a decorator returns an `async def` that stands in it, whatever it decorates."""
    inner = [n for n in ast.walk(node) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and n is not node]
    names = {n.value.id for n in ast.walk(node) if isinstance(n, ast.Return) and isinstance(n.value, ast.Name)}
    # One that looks at what it decorates returns a plain function besides; one with arguments returns the decorator.
    returned = [
        n for n in inner if n.name in names and not any(m in inner and m.name in names for m in own_functions(n))
    ]
    return bool(returned) and all(isinstance(n, ast.AsyncFunctionDef) for n in returned)


def own_functions(node: ast.AST) -> list[ast.AST]:
    """The functions that stand in a function."""
    return [n for n in ast.walk(node) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and n is not node]
