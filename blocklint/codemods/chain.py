"""Which functions become coroutines so that a call can be awaited, and which of their callers await them."""

from __future__ import annotations

import ast
from typing import Dict, List, Optional, Set, Tuple

from .edits import Edits
from .index import FUNCTIONS, Class, File, Function, Index, dotted
from .leaf import Leaves
from .refusal import Refusal
from .spelling import CHANGES, leave, span, spelled

# Base classes that call nothing.
PLAIN = ("builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol", "typing_extensions.Protocol")

# What a `with` or `for` may be written with.
GENERATORS = ("contextlib.contextmanager", "contextlib.asynccontextmanager")


class Chain:
    def __init__(self, index: Index, edits: Dict[str, Edits], leaves: Leaves, resolved: Dict[Tuple, str], public: bool) -> None:
        self.index, self.edits, self.leaves, self.resolved, self.public = index, edits, leaves, resolved, public
        self.made: Set[Function] = set()
        self.calls: List[Tuple[File, ast.AST]] = []
        self.notes: List[str] = []

    def of(self, file: File) -> Edits:
        return self.edits.setdefault(file.path, Edits())

    def settle(self) -> None:
        """Until nothing is left: whatever now awaits must be a coroutine."""
        while self.leaves.touched:
            function, path, line = self.leaves.touched.pop()
            self.coroutine(function, path, line)

    def coroutine(self, function: Function, path: str, line: int, root: bool = False) -> None:
        """Makes a function a coroutine function, with all that override it, and has all callers await it."""
        if function.is_async or function in self.made:
            return
        group = self.group(function, path, line)
        for one in group:
            self.may(one, path, line)
        self.made.update(group)
        for one in group:
            self.of(one.file).coroutines.add(name_line(one))
        for one in group:
            self.callers(one, group)

    def group(self, function: Function, path: str, line: int) -> List[Function]:
        """The function, its overloads, and the methods that override it or that it overrides."""
        if function.owner is None:
            if function.outer is None:
                same = [one for one in function.file.functions if one.name == function.name and not one.owner and not one.outer]
                return same or [function]
            return [function]
        owner = function.owner
        family: List[Class] = [owner]
        for one in self.index.lineage(owner):
            if isinstance(one, Class) and function.name in one.methods and one not in family:
                family.append(one)
        for top in list(family):
            family.extend(heir for heir in self.index.heirs(top) if heir not in family)
        for one in family:
            for base in self.index.lineage(one):
                if isinstance(base, Class) or outside_is_harmless(base, function.name):
                    continue
                if not function.name.startswith("_") and not self.public:
                    said = f"`{base}`" if base else "a class that is not known"
                    raise Refusal("contract-outside", f"`{one.name}` is a {said}, which may ask for a `{function.name}` that is not async (--allow-public says it does not)", one.file.path, one.node.lineno)
        return [method for one in family for method in one.methods.get(function.name, [])]

    def may(self, function: Function, path: str, line: int) -> None:
        """Refuses what cannot be a coroutine function."""
        file, node = function.file, function.node

        def refuse(kind: str, reason: str, at: Optional[ast.AST] = None) -> Refusal:
            return Refusal(kind, reason, file.path, (at or node).lineno)

        if function.name.startswith("__") and function.name.endswith("__"):
            raise refuse("dunder", f"`{function}` is called by the language, which does not await")
        for decorator in node.decorator_list:
            target = self.index.target(file, decorator.func if isinstance(decorator, ast.Call) else decorator)
            said = target if isinstance(target, str) else dotted(decorator) or "a decorator"
            if said in CHANGES["decorators"]["renamed"]:
                new = CHANGES["decorators"]["renamed"][said]
                self.of(file).replaced[span(file, decorator)] = spelled(file, new, self.of(file), decorator)
                continue
            if said.split(".")[-1] in ("property", "cached_property"):
                raise refuse("property", f"`{function}` is a property, whose readers would have to await it")
            if said not in CHANGES["decorators"]["kept"]:
                raise refuse("decorator", f"what `@{ast.unparse(decorator)[:60]}` does with a coroutine function is not known", decorator)
        if function.is_generator and any(isinstance(one, ast.YieldFrom) for one in ast.walk(node)):
            raise refuse("generator", f"`{function}` is a generator with `yield from`, which coroutines cannot have")
        if function.owner is None and function.outer is None and not self.public:
            for other in self.index.files.values():
                shown = exported(other)
                target = other.imports.get(function.name)
                if function.name in shown and (other is file or target and self.index.symbol(target) is function):
                    raise Refusal("public", f"`{function}` is in `__all__`: it is public (--allow-public changes it all the same)", other.path, shown[function.name])
                if other.path.endswith("__init__.py") and target and self.index.symbol(target) is function:
                    line = next((one.lineno for one in ast.walk(other.tree) if isinstance(one, ast.ImportFrom) and any((alias.asname or alias.name) == function.name for alias in one.names)), 1)
                    raise Refusal("public", f"`{function}` is exported by its package (--allow-public changes it all the same)", other.path, line)

    # --- callers --------------------------------------------------------------------------------------

    def callers(self, function: Function, group: List[Function]) -> None:
        for path, unread in self.index.unread.items():
            if (line := unread.line_of(function.name)) is not None:
                raise Refusal("unreadable", f"`{function}` may be called here, and {unread.reason}", path, line)
        found = 0
        for file, node in self.index.named.get(function.name, []):
            if isinstance(getattr(node, "ctx", None), ast.Store):
                if isinstance(node, ast.Attribute) and function.owner and self.index.type_of(file, node.value) is function.owner:
                    raise Refusal("reassigned", f"`{function}` is replaced here", file.path, node.lineno)
                if isinstance(node, ast.Attribute) and isinstance(module := self.index.target(file, node.value), File) and self.index.symbol(f"{module.module}.{function.name}") in group:
                    raise Refusal("reassigned", f"`{function}` is replaced here", file.path, node.lineno)
                continue
            whose = self.whose(file, node, function, group)
            if whose is False:
                continue
            if whose is None:
                raise Refusal("unknown-receiver", f"whose `{function.name}` this is is not known", file.path, node.lineno)
            found += 1
            self.reference(file, node, function)
        self.strings(function, group)
        if not found and not function.is_async and not any(one.is_async for one in group):
            overridden = len(group) > 1
            if not overridden and self.is_reachable(function):
                raise Refusal("sync-caller", f"`{function}` is not async, and nothing in the project calls it", function.file.path, function.node.lineno)

    def is_reachable(self, function: Function) -> bool:
        """Whether something that is not seen may call a function that the project does not call by its name.

        A method changes with the client of its object; nobody misses it as it was if its class is the project's own alone.
        """
        owner, file = function.owner, function.file
        if owner is None or file.is_test or function.node.decorator_list or self.is_shown(owner):
            return True
        family = [owner, *self.index.heirs(owner)]
        lineage = [base for one in family for base in self.index.lineage(one)]
        if any(not isinstance(base, Class) and base not in PLAIN for base in lineage):
            return True
        dynamic = (where for name in ("getattr", "methodcaller") for where, _ in self.index.named.get(name, []) if looks_up(where))
        if any(where is file or owner.name in where.source for where in dynamic):
            return True
        self.notes.append(f"{file.path}:{function.node.lineno}: nothing in the project calls `{function}`, which is async from now on")
        return False

    def is_shown(self, owner: Class) -> bool:
        """Whether a package shows a class to others."""
        for other in self.index.files.values():
            target = other.imports.get(owner.name)
            is_it = other is owner.file or bool(target) and self.index.symbol(target) is owner
            if is_it and (owner.name in exported(other) or other.path.endswith("__init__.py")):
                return True
        return False

    def whose(self, file: File, node: ast.AST, function: Function, group: List[Function]) -> Optional[bool]:
        """Whether a name means the function; `None` if nobody knows."""
        call = file.parents.get(node)
        if isinstance(call, ast.Call) and call.func is node:
            said = self.resolved.get((file.path, *file.start(call), function.name))
            if said is not None:
                return said in group
        target = self.index.target(file, node)
        if isinstance(target, Function):
            return target in group
        if isinstance(call, ast.Call) and call.func is node and function.owner and (isinstance(file.parents.get(call), ast.Await) or not any(fits(call, one.node) for one in group)):
            # It is awaited already, which is right whosever it is; or the function would not take what is given.
            return False
        if isinstance(target, (Class, File, str)):
            return False
        if isinstance(node, ast.Name):
            # A local variable or an argument of that name.
            return False if self.index.local_values(file, node) is not None or function.owner else None
        if function.owner is None:
            # An attribute of a value; modules were told apart above.
            return False
        of = self.index.type_of(file, node.value)
        if isinstance(of, (str, Class)):
            return False
        return None

    def reference(self, file: File, node: ast.AST, function: Function) -> None:
        def refuse(kind: str, reason: str) -> Refusal:
            return Refusal(kind, reason, file.path, node.lineno)

        call = file.parents.get(node)
        if not isinstance(call, ast.Call) or call.func is not node:
            if isinstance(call, FUNCTIONS) and node in call.decorator_list:
                raise refuse("decorator", f"`{function}` is used as a decorator")
            if isinstance(call, ast.Call) and node in call.args and self.takes_either(file, call):
                return None
            if isinstance(call, ast.Call) and self.is_handed_over(file, call, node, function):
                # The thread is of no use any more.
                self.calls.append((file, call))
                self.of(file).direct.add(span(file, call))
                return leave(file, call.func, self.of(file))
            raise refuse("passed-on", f"`{function}` is passed on by its name here")
        self.calls.append((file, call))
        caller = file.around(call)
        if caller is None:
            if under_main(file, call):
                return self.run(file, call, function)
            raise refuse("module-level", f"`{function}` is called while the module is loaded")
        parent = file.parents.get(call)
        generator = function.is_generator
        if not caller.is_async and caller not in self.made and file.is_test and (caller.name.startswith("test") and not generator):
            return self.run(file, call, function)
        self.leaves.inside(file, call, caller)
        if generator:
            manager = any("contextmanager" in (dotted(decorator) or "") for decorator in function.node.decorator_list)
            if manager and isinstance(parent, ast.withitem):
                self.leaves.block(file, parent)
            elif not manager and isinstance(parent, ast.For) and parent.iter is call:
                self.of(file).async_blocks.add(file.start(parent))
            else:
                raise refuse("generator", f"`{function}` is a generator, which is used here in another way than `for` or `with`")
        elif not isinstance(parent, ast.Await):
            self.of(file).awaited.add(span(file, call))
        if not caller.is_async:
            self.caller(caller, file, call, function)
        return None

    def is_handed_over(self, file: File, call: ast.Call, node: ast.AST, function: Function) -> bool:
        """`await asyncio.to_thread(load, path)`, which may be `await load(path)`."""
        plain = [arg for arg in call.args if not isinstance(arg, ast.Starred)]
        target = self.index.target(file, call.func)
        passes = isinstance(target, str) and target in CHANGES["hands_over"] and (CHANGES["hands_over"][target] or not call.keywords)
        return passes and len(plain) == len(call.args) and call.args[0] is node and isinstance(file.parents.get(call), ast.Await) and not function.is_generator

    def takes_either(self, file: File, call: ast.Call) -> bool:
        """Whether a framework runs what it is given in a thread if it is a function, and awaits it if it is a coroutine function."""
        target = self.index.target(file, call.func)
        return isinstance(target, str) and target in CHANGES["takes_either"]

    def caller(self, caller: Function, file: File, call: ast.AST, function: Function) -> None:
        if caller.name == "__init__":
            raise Refusal("init", f"`{caller}` calls `{function}`, and a constructor cannot await", file.path, call.lineno)
        self.leaves.touched.append((caller, file.path, call.lineno))

    def run(self, file: File, call: ast.Call, function: Function) -> None:
        """A test, or a program's start, that is not async runs the coroutine to its end."""
        if self.leaves.runtime == "trio":
            raise Refusal("sync-caller", f"`{function}` is called by something that is not async", file.path, call.lineno)
        edits = self.of(file)
        edits.run.add(span(file, call))
        edits.imports.add("asyncio")
        self.notes.append(f"{file.path}:{call.lineno}: runs `{function}` with asyncio.run")

    def strings(self, function: Function, group: List[Function]) -> None:
        """Names in strings: dynamic access, and what tests put in the function's place."""
        for file in self.index.files.values():
            if function.name not in file.source:
                continue
            for node in ast.walk(file.tree):
                if not (isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.rpartition(".")[2] == function.name):
                    continue
                call = file.parents.get(node)
                if not isinstance(call, ast.Call):
                    continue
                name = (dotted(call.func) or "").rpartition(".")[2]
                if name in ("getattr", "methodcaller", "attrgetter"):
                    raise Refusal("dynamic", f"`{function.name}` is looked up by its name here", file.path, node.lineno)
                if name in ("patch", "object", "setattr") and replaces(self.index, file, call, node, group):
                    self.patched(file, call, node, function)

    def patched(self, file: File, call: ast.Call, name: ast.Constant, function: Function) -> None:
        """`mock.patch` makes an AsyncMock of a coroutine function by itself; what a test brings becomes one."""
        at = next(number for number, arg in enumerate(call.args) if arg is name)
        new = next((keyword.value for keyword in call.keywords if keyword.arg == "new"), None)
        new = call.args[at + 1] if new is None and len(call.args) > at + 1 else new
        if new is None:
            self.notes.append(f"{file.path}:{name.lineno}: what is patched here becomes an AsyncMock")
            return
        edits = self.of(file)
        made = self.index.target(file, new.func) if isinstance(new, ast.Call) else None
        if made in ("unittest.mock.Mock", "unittest.mock.MagicMock"):
            edits.replaced[span(file, new.func)] = spelled(file, "unittest.mock.AsyncMock", edits, new.func)
        elif function.owner is None and self.is_plain(file, new):
            edits.mocked[span(file, new)] = spelled(file, "unittest.mock.AsyncMock", edits)
        elif not (made == "unittest.mock.AsyncMock" or isinstance(target := self.index.target(file, new), Function) and target.is_async):
            raise Refusal("mock", f"a test puts something in the place of `{function.name}` here, which must become async as well", file.path, name.lineno)
        self.notes.append(f"{file.path}:{name.lineno}: what a test puts in the place of `{function}` becomes an AsyncMock")

    def is_plain(self, file: File, new: ast.AST) -> bool:
        """A function that is called as it is: one in a class would be given the object."""
        if isinstance(new, ast.Lambda):
            return True
        target = self.index.target(file, new)
        return isinstance(target, Function) and not target.is_async and not target.is_generator and target not in self.made


def replaces(index: Index, file: File, call: ast.Call, name: ast.Constant, group: List[Function]) -> bool:
    """Whether a name in a string may be that of one of the functions; what is not known may."""
    before, _, last = name.value.rpartition(".")
    if before:
        found = index.symbol(name.value)
        return found in group if found is not None else index.symbol(before) is None or any(one.owner for one in group)
    holder = call.args[0] if call.args and call.args[0] is not name else None
    target = index.target(file, holder) if holder is not None else None
    if isinstance(target, File):
        return index.symbol(f"{target.module}.{last}") in (*group, None)
    of = target if isinstance(target, Class) else index.type_of(file, holder) if holder is not None else None
    if isinstance(of, Class):
        return index.method(of, last) in (*group, None)
    return not isinstance(of, str) and not isinstance(target, str)


def fits(call: ast.Call, method: ast.AST) -> bool:
    """Whether a method could be called with these arguments."""
    taken = method.args
    if any(isinstance(arg, ast.Starred) for arg in call.args) or any(keyword.arg is None for keyword in call.keywords):
        return True
    static = any(dotted(decorator) in ("staticmethod", "builtins.staticmethod") for decorator in method.decorator_list)
    positional = [one.arg for one in [*taken.posonlyargs, *taken.args]][0 if static else 1 :]
    given = {keyword.arg for keyword in call.keywords}
    named = {*positional, *(one.arg for one in taken.kwonlyargs)}
    if not taken.kwarg and not given <= named or not taken.vararg and len(call.args) > len(positional) + (0 if static else 1):
        return False
    required = positional[: len(positional) - min(len(taken.defaults), len(positional))]
    needed = {one.arg for one, default in zip(taken.kwonlyargs, taken.kw_defaults) if default is None}
    # `Class.method(object, …)` gives the object as well.
    return set(required[len(call.args) :]) | needed <= given


def outside_is_harmless(base: Optional[str], name: str) -> bool:
    """Whether a class outside of the project cannot ask for a method: the language's own are looked at."""
    if base is None:
        return False
    if base in PLAIN:
        return True
    module, _, of = base.rpartition(".")
    import importlib
    import sys

    standard = getattr(sys, "stdlib_module_names", {"builtins", "abc", "enum", "threading", "collections", "typing"})
    if module.split(".")[0] not in standard:
        return False
    try:
        return not hasattr(getattr(importlib.import_module(module), of), name)
    except (ImportError, AttributeError):
        return False


def looks_up(file: File) -> bool:
    """Whether a file asks for attributes by names that are not written there."""
    calls = (node for node in ast.walk(file.tree) if isinstance(node, ast.Call) and dotted(node.func) in ("getattr", "methodcaller", "operator.methodcaller"))
    return any(not isinstance(call.args[-1 if len(call.args) == 1 else 1], ast.Constant) for call in calls if call.args)


def name_line(function: Function) -> int:
    return function.node.lineno


def exported(file: File) -> Dict[str, int]:
    for node in file.tree.body:
        if isinstance(node, ast.Assign) and any(dotted(target) == "__all__" for target in node.targets):
            return {one.value: one.lineno for one in ast.walk(node.value) if isinstance(one, ast.Constant) and isinstance(one.value, str)}
    return {}


def under_main(file: File, node: ast.AST) -> bool:
    return any(isinstance(above, ast.If) and "__name__" in ast.unparse(above.test) and "__main__" in ast.unparse(above.test) for above in file.up(node))
