"""Makes functions along a trace coroutine functions, and makes their callers await them, up to a coroutine."""

from __future__ import annotations

import ast
from typing import Dict, List, Optional, Set, Tuple

from .edits import Edits
from .index import FUNCTIONS, Class, File, Function, Index, dotted
from .leaf import Leaves
from .names import Module, Names, Uses
from .refusal import Refusal
from .spelling import CHANGES, mark_import_unused, span, spell

# Base classes that call no methods of subclasses.
PASSIVE_BASES = ("builtins.object", "abc.ABC", "typing.Generic", "typing.Protocol", "typing_extensions.Protocol")


class Chain:
    """The functions that become coroutine functions for a finding, and the edits for them and their callers."""

    def __init__(self, index: Index, edits: Dict[str, Edits], leaves: Leaves, public: bool) -> None:
        self.index, self.edits, self.leaves, self.public = index, edits, leaves, public
        self.coroutines: Set[Function] = set()
        self.calls: List[Tuple[File, ast.AST]] = []
        self.notes: List[str] = []

    def edits_of(self, file: File) -> Edits:
        return self.edits.setdefault(file.path, Edits())

    def convert_callers(self) -> None:
        """Makes each function with a new `await` a coroutine function, until there is none left."""
        while self.leaves.touched:
            function, path, line = self.leaves.touched.pop()
            self.make_coroutine(function, path, line)

    def make_coroutine(self, function: Function, path: str, line: int) -> None:
        """Makes a function and its overrides coroutine functions, and makes all callers await them."""
        if function.is_async or function in self.coroutines:
            return
        for path in self.index.names.unread:
            if (line := self.index.line_of(path, function.name)) is not None:
                self.index.file(path, line)
                raise Refusal("unreadable", f"`{function}` may be called here, and blocklint cannot read all of the file", path, line)
        uses = self.index.names.uses(function)
        self.check_bases(function, uses)
        for one in uses.family:
            self.check_function(one, uses)
        self.coroutines.update(uses.family)
        for one in uses.family:
            self.edits_of(one.file).coroutines.add(one.node.lineno)
        self.await_in_callers(function, uses)

    def check_bases(self, function: Function, uses: Uses) -> None:
        """Refuses if a base class outside of the project may call the function without awaiting it."""
        for owner, base in uses.bases:
            if not never_calls(base, function.name) and not function.name.startswith("_") and not self.public:
                description = f"`{base}`" if base else "a class that is not known"
                raise Refusal("contract-outside", f"`{owner.name}` is a {description}, which may ask for a `{function.name}` that is not async (--allow-public says it does not)", owner.file.path, owner.node.lineno)

    def check_function(self, function: Function, uses: Uses) -> None:
        """Refuses if the function cannot be a coroutine function: special methods, properties, unknown decorators, `yield from`."""
        file, node = function.file, function.node

        def refuse(kind: str, reason: str, site: Optional[ast.AST] = None) -> Refusal:
            return Refusal(kind, reason, file.path, (site or node).lineno)

        if function.name.startswith("__") and function.name.endswith("__"):
            raise refuse("dunder", f"`{function}` is called by the language, which does not await")
        for decorator in node.decorator_list:
            target = self.index.names.target(file, decorator.func if isinstance(decorator, ast.Call) else decorator)
            description = target if isinstance(target, str) else dotted(decorator) or "a decorator"
            if description in CHANGES["decorators"]["renamed"]:
                new = CHANGES["decorators"]["renamed"][description]
                self.edits_of(file).replaced[span(file, decorator)] = spell(self.index.names, file, new, self.edits_of(file), decorator, True)
                continue
            if description.split(".")[-1] in ("property", "cached_property"):
                raise refuse("property", f"`{function}` is a property, whose readers would have to await it")
            if description not in CHANGES["decorators"]["kept"]:
                raise refuse("decorator", f"the effect of `@{ast.unparse(decorator)[:60]}` on a coroutine function is not known", decorator)
        if function.is_generator and any(isinstance(one, ast.YieldFrom) for one in ast.walk(node)):
            raise refuse("generator", f"`{function}` is a generator with `yield from`, which coroutines cannot have")
        if uses.shown and not self.public:
            raise Refusal("public", f"`{function}` is shown to other projects here: it is public (--allow-public changes it all the same)", *uses.shown[0])

    # --- callers --------------------------------------------------------------------------------------

    def await_in_callers(self, function: Function, uses: Uses) -> None:
        for use in uses.uses:
            if use.is_target:
                raise Refusal("reassigned", f"`{function}` is replaced here", use.file.path, use.node.lineno)
            if use.means != "family":
                description = "the owner of `{}` is not known" if use.means == "unknown" else "this may be another `{}` as well"
                raise Refusal("unknown-receiver", description.format(function.name), use.file.path, use.node.lineno)
            self.convert_use(use.file, use.node, function)
        self.check_strings(function, uses.family)
        if not uses.uses and len(uses.family) == 1 and not function.is_async and self.is_reachable(function, uses):
            raise Refusal("sync-caller", f"`{function}` is not async, and nothing in the project calls it", function.file.path, function.node.lineno)

    def is_reachable(self, function: Function, uses: Uses) -> bool:
        """True if unknown code may call a function that the project does not call by its name.

        A method without known callers may change if its class is used in the project alone.
        """
        owner, file = function.owner, function.file
        if owner is None or file.is_test or function.node.decorator_list or uses.class_shown:
            return True
        if any(base not in PASSIVE_BASES for _, base in uses.bases):
            return True
        dynamic = (path for path, source in self.index.sources() if (b"getattr" in source or b"methodcaller" in source) and (path == file.path or owner.name.encode() in source))
        if any(uses_dynamic_names(self.index.file(path)) for path in dynamic):
            return True
        self.notes.append(f"{file.path}:{function.node.lineno}: nothing in the project calls `{function}`, which is async from now on")
        return False

    def convert_use(self, file: File, node: ast.AST, function: Function) -> None:
        def refuse(kind: str, reason: str) -> Refusal:
            return Refusal(kind, reason, file.path, node.lineno)

        call = file.parents.get(node)
        if not isinstance(call, ast.Call) or call.func is not node:
            if isinstance(call, FUNCTIONS) and node in call.decorator_list:
                raise refuse("decorator", f"`{function}` is used as a decorator")
            if isinstance(call, ast.Call) and node in call.args and self.accepts_coroutine_functions(file, call):
                return None
            if isinstance(call, ast.Call) and self.is_passed_to_thread(file, call, node, function):
                # The call needs no thread any more.
                self.calls.append((file, call))
                self.edits_of(file).direct.add(span(file, call))
                return mark_import_unused(file, call.func, self.edits_of(file))
            raise refuse("passed-on", f"`{function}` is passed as a value here")
        self.calls.append((file, call))
        caller = file.function_around(call)
        if caller is None:
            if under_main(file, call):
                return self.run_to_end(file, call, function)
            raise refuse("module-level", f"`{function}` is called while the module is loaded")
        parent = file.parents.get(call)
        generator = function.is_generator
        if not caller.is_async and caller not in self.coroutines and file.is_test and (caller.name.startswith("test") and not generator):
            return self.run_to_end(file, call, function)
        self.leaves.check_awaitable(file, call, caller)
        if generator:
            manager = any("contextmanager" in (dotted(decorator) or "") for decorator in function.node.decorator_list)
            if manager and isinstance(parent, ast.withitem):
                self.leaves.make_async_block(file, parent)
            elif not manager and isinstance(parent, ast.For) and parent.iter is call:
                self.edits_of(file).async_blocks.add(file.start(parent))
            else:
                raise refuse("generator", f"`{function}` is a generator that is used here without `for` or `with`")
        elif not isinstance(parent, ast.Await):
            self.edits_of(file).awaited.add(span(file, call))
        if not caller.is_async:
            self.caller(caller, file, call, function)
        return None

    def is_passed_to_thread(self, file: File, call: ast.Call, node: ast.AST, function: Function) -> bool:
        """True for `await asyncio.to_thread(load, path)`, which can become `await load(path)`."""
        plain = [arg for arg in call.args if not isinstance(arg, ast.Starred)]
        target = self.index.names.target(file, call.func)
        passes = isinstance(target, str) and target in CHANGES["hands_over"] and (CHANGES["hands_over"][target] or not call.keywords)
        return passes and len(plain) == len(call.args) and call.args[0] is node and isinstance(file.parents.get(call), ast.Await) and not function.is_generator

    def accepts_coroutine_functions(self, file: File, call: ast.Call) -> bool:
        """True if a framework accepts both: it runs functions in a thread and awaits coroutine functions."""
        target = self.index.names.target(file, call.func)
        return isinstance(target, str) and target in CHANGES["takes_either"]

    def caller(self, caller: Function, file: File, call: ast.AST, function: Function) -> None:
        if caller.name == "__init__":
            raise Refusal("init", f"`{caller}` calls `{function}`, and a constructor cannot await", file.path, call.lineno)
        self.leaves.touched.append((caller, file.path, call.lineno))

    def run_to_end(self, file: File, call: ast.Call, function: Function) -> None:
        """Makes a test or the start of a program that is not async run the coroutine with `asyncio.run`."""
        if self.leaves.runtime == "trio":
            raise Refusal("sync-caller", f"`{function}` is called by something that is not async", file.path, call.lineno)
        edits = self.edits_of(file)
        edits.run[span(file, call)] = spell(self.index.names, file, "asyncio.run", edits, call)
        self.notes.append(f"{file.path}:{call.lineno}: runs `{function}` with asyncio.run")

    def check_strings(self, function: Function, group: List[Function]) -> None:
        """Checks the function's name in strings: refuses dynamic access, and converts patches of tests."""
        for path in self.index.names.modules:
            line = self.index.line_of(path, function.name, rb"[\"']")
            file = self.index.file(path, line) if line else None
            for node in ast.walk(file.tree) if file else []:
                if not (isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.rpartition(".")[2] == function.name):
                    continue
                call = file.parents.get(node)
                if not isinstance(call, ast.Call):
                    continue
                name = (dotted(call.func) or "").rpartition(".")[2]
                if name in ("getattr", "methodcaller", "attrgetter"):
                    raise Refusal("dynamic", f"`{function.name}` is looked up by its name here", file.path, node.lineno)
                if name in ("patch", "object", "setattr") and may_refer_to(self.index.names, file, call, node, group):
                    self.convert_patch(file, call, node, function)

    def convert_patch(self, file: File, call: ast.Call, name: ast.Constant, function: Function) -> None:
        """Converts the replacement in `mock.patch` to an AsyncMock; without a replacement `mock.patch` makes one itself."""
        index = next(number for number, arg in enumerate(call.args) if arg is name)
        new = next((keyword.value for keyword in call.keywords if keyword.arg == "new"), None)
        new = call.args[index + 1] if new is None and len(call.args) > index + 1 else new
        if new is None:
            self.notes.append(f"{file.path}:{name.lineno}: what is patched here becomes an AsyncMock")
            return
        edits = self.edits_of(file)
        made = self.index.names.target(file, new.func) if isinstance(new, ast.Call) else None
        if made in ("unittest.mock.Mock", "unittest.mock.MagicMock"):
            edits.replaced[span(file, new.func)] = spell(self.index.names, file, "unittest.mock.AsyncMock", edits, new.func, True)
        elif function.owner is None and self.is_plain_function(file, new):
            edits.mocked[span(file, new)] = spell(self.index.names, file, "unittest.mock.AsyncMock", edits, new)
        elif not (made == "unittest.mock.AsyncMock" or isinstance(target := self.index.names.target(file, new), Function) and target.is_async):
            raise Refusal("mock", f"a test puts something in the place of `{function.name}` here, which must become async as well", file.path, name.lineno)
        self.notes.append(f"{file.path}:{name.lineno}: what a test puts in the place of `{function}` becomes an AsyncMock")

    def is_plain_function(self, file: File, new: ast.AST) -> bool:
        """True for a lambda, and for a function of the project that is neither a coroutine function nor a generator."""
        if isinstance(new, ast.Lambda):
            return True
        target = self.index.names.target(file, new)
        return isinstance(target, Function) and not target.is_async and not target.is_generator and target not in self.coroutines


def may_refer_to(names: Names, file: File, call: ast.Call, name: ast.Constant, group: List[Function]) -> bool:
    """True if a name in a string refers to one of the functions, or is unknown."""
    before, _, last = name.value.rpartition(".")
    if before:
        found = names.symbol(name.value)
        return found in group if found is not None else names.symbol(before) is None or any(one.owner for one in group)
    holder = call.args[0] if call.args and call.args[0] is not name else None
    target = names.target(file, holder) if holder is not None else None
    if isinstance(target, Module):
        return names.symbol(f"{target.name}.{last}") in (*group, None)
    owner = target if isinstance(target, Class) else names.type_of(file, holder) if holder is not None else None
    if isinstance(owner, Class):
        return names.symbol(f"{names.modules[owner.file.path]}.{owner.name}.{last}") in (*group, None)
    return not isinstance(owner, str) and not isinstance(target, str)


def never_calls(base: Optional[str], name: str) -> bool:
    """True if a base class outside of the project has no method of this name; only classes of the standard library are checked."""
    if base is None:
        return False
    if base in PASSIVE_BASES:
        return True
    module, _, class_name = base.rpartition(".")
    import importlib
    import sys

    standard = getattr(sys, "stdlib_module_names", {"builtins", "abc", "enum", "threading", "collections", "typing"})
    if module.split(".")[0] not in standard:
        return False
    try:
        return not hasattr(getattr(importlib.import_module(module), class_name), name)
    except (ImportError, AttributeError):
        return False


def uses_dynamic_names(file: File) -> bool:
    """True if a file gets attributes whose names are no constants: `getattr(x, name)`."""
    calls = (node for node in ast.walk(file.tree) if isinstance(node, ast.Call) and dotted(node.func) in ("getattr", "methodcaller", "operator.methodcaller"))
    return any(not isinstance(call.args[-1 if len(call.args) == 1 else 1], ast.Constant) for call in calls if call.args)


def under_main(file: File, node: ast.AST) -> bool:
    return any(isinstance(above, ast.If) and "__name__" in ast.unparse(above.test) and "__main__" in ast.unparse(above.test) for above in file.up(node))
