"""Converts a client to its async twin, where it is created and wherever it or its results are used."""

from __future__ import annotations

import ast
import re
from typing import Dict, List, Optional, Tuple

from .index import File, Function, dotted, value_of
from .names import Placed
from .spelling import CHANGES, span, top


class Values:
    """The part of `Leaves` that follows the values of clients."""

    def convert_receiver(self, file: File, call: ast.Call, path: str) -> None:
        """Converts the client on which a call is made, and thereby all its uses, this call included."""
        self.convert_source(file, call.func.value, call)
        if not self.is_converted(file, call):
            raise self.refuse("made-elsewhere", f"the place that creates the client of `{path}` is not known", file, call)

    def is_converted(self, file: File, call: ast.AST) -> bool:
        edits, place = self.edits_of(file), span(file, call)
        above = file.parents.get(call)
        iterates = isinstance(above, (ast.For, ast.comprehension)) and file.start(above if isinstance(above, ast.For) else call) in edits.async_blocks
        return place in edits.awaited or place in edits.gathered or iterates or isinstance(above, ast.withitem) and file.start(file.parents[above]) in edits.async_blocks

    def convert_source(self, file: File, node: ast.AST, at: ast.AST, fuel: int = 8) -> None:
        """Converts the client from which an expression is derived, with all uses of that client."""
        while not isinstance(node, ast.Name) and not self.is_attribute_of_self(file, node):
            if isinstance(node, ast.Call) and self.async_type_of(file, node):
                return self.convert_maker(file, node)
            if isinstance(node, ast.Call):
                node = node.func
            elif isinstance(node, (ast.Attribute, ast.Subscript)):
                node = node.value
            else:
                raise self.refuse("made-elsewhere", "the place that creates the client is not known", file, at)
        values, uses = self.binding(file, node)
        values = [one for one in values if not (isinstance(one[1], ast.Constant) and one[1].value is None)]
        if not values or not fuel:
            raise self.refuse("made-elsewhere", f"the place that creates `{ast.unparse(node)}` is not known", file, at)
        key = ("value", *span(file, values[0][1]), values[0][0].path)
        if key in self.converted:
            return None
        made = [(where, value) for where, value in values if isinstance(value, ast.Call) and self.async_type_of(where, value)]
        if not made and all(isinstance(value, (ast.Call, ast.Attribute, ast.Subscript)) for _, value in values):
            # The value is derived from another one, which is converted instead.
            for where, value in values:
                self.convert_source(where, value, at, fuel - 1)
            return None
        for where, value in values:
            if (where, value) not in made:
                raise self.refuse("made-elsewhere", f"`{ast.unparse(node)}` comes from other code", where, value)
        self.converted.add(key)
        kinds = [self.convert_construction(where, value) for where, value in made]
        if len(set(kinds)) > 1:
            raise self.refuse("made-elsewhere", f"`{ast.unparse(node)}` is created in several ways", *made[1])
        for where, use in uses:
            self.convert_uses_of_value(where, use, *kinds[0])
        return None

    # --- makers ---------------------------------------------------------------------------------------

    def async_type_of(self, file: File, call: ast.Call) -> Optional[Tuple[str, str]]:
        """Returns the type that a call creates and its async twin; None if the call is not of a library, or its type has no twin."""
        name = dotted(call.func)
        if name is None or name.split(".")[0] not in file.imports:
            return None
        path = self.index.names.target(file, call.func)
        if not isinstance(path, str):
            return None
        known = self.binary.twin(path)
        kind = known["path"] if known["type"] else known["returns"]
        kind = known["path"].rpartition(".")[0] if kind == "Self" else kind
        twin = self.twin_type(kind) if kind else None
        return (kind, twin) if twin else None

    def convert_maker(self, file: File, call: ast.Call) -> None:
        """Converts a client that is created in the expression that uses it."""
        key = ("made", *span(file, call), file.path)
        if key not in self.converted:
            self.converted.add(key)
            self.convert_uses_of_value(file, call, *self.convert_construction(file, call))

    def convert_construction(self, file: File, call: ast.Call) -> Tuple[str, str]:
        """Makes a call create the async client, and returns the type of the client before and after."""
        old, new = self.async_type_of(file, call)
        known = self.binary.twin(self.index.names.target(file, call.func))
        twins = known["twins"].get(self.runtime, [])
        if known["returns"] and known["returns"] != "Self" and not known["type"] and not twins:
            # `requests.session` has no twin of its own: it returns a `requests.Session`.
            twins = [new]
        if not twins:
            raise self.refuse("no-twin", f"models name no async twin for `{known['path']}`, which makes the client", file, call)
        twin = twins[0]
        changes = self.changes(known["path"], twin)
        if changes is None and not (top(twin) == top(known["path"]) and top(twin) in CHANGES["made_alike"]):
            raise self.refuse("maker", f"it is not known if `{twin}` is created with the arguments of `{known['path']}`", file, call)
        if not self.is_used(top(twin), file):
            raise self.refuse("no-library", f"`{twin}` is of a library that this part of the project does not use", file, call)
        if required := self.too_old(twin, file):
            raise self.refuse("no-library", f"`{twin}` came with {CHANGES['since'][top(twin)]}, and the project asks for {required}", file, call)
        changes = changes or {}
        edits = self.edits_of(file)
        self.check_dependency(file, call, changes)
        edits.replaced[span(file, call.func)] = self.spell(file, twin, call.func, True)
        add = {**changes.get("add", {}), **self.shared_argument(file, call, changes)}
        if add:
            edits.arguments[span(file, call)] = ({}, add)
        if self.binary.twin(twin)["async"]:
            if (function := file.function_around(call)) is None:
                raise self.refuse("module-level", f"`{twin}` is awaited, which a module cannot", file, call)
            self.check_awaitable(file, call, function)
            self.await_call(file, call)
        if isinstance(item := file.parents.get(call), ast.withitem):
            self.make_async_block(file, item)
        return old, new

    def too_old(self, twin: str, file: File) -> str:
        """Returns the library version that the project requires, if the twin came with a later one; else an empty text."""
        since = CHANGES["since"].get(top(twin))
        asked = pinned_version(top(twin), self.index.needs.texts(file.path)) if since else None
        return ".".join(map(str, asked)) if asked and asked < numbers(since) else ""

    def check_dependency(self, file: File, call: ast.Call, changes: Dict) -> None:
        """Checks a client that is created from another, as a session from an engine: the project must have exactly one async engine."""
        how = changes.get("depends")
        if how is None:
            return
        given = next((one.value for one in call.keywords if one.arg == how["name"]), None) or next(iter(call.args), None)
        twins = self.module_makers(how["twin"])
        if given is None or len(twins) != 1 or len(self.module_makers(how["made"])) != 1:
            raise self.refuse("no-async-engine", f"it needs a result of `{how['twin']}`, and the project has {len(twins) or 'none'}", file, call)
        if not self.is_made_by(file, given, how["made"]):
            raise self.refuse("no-async-engine", f"`{ast.unparse(given)}` is not the `{how['made']}` of the project", file, call)
        for where, node in self.calls_of(how["refused"]):
            lazy = next((keyword.value for keyword in node.keywords if keyword.arg == "lazy"), None)
            if not (isinstance(lazy, ast.Constant) and lazy.value in how["unless_lazy"]):
                raise self.refuse("lazy-relations", "relations are loaded when they are read, which the async session cannot do", where, node)
        home, name = twins[0]
        self.edits_of(file).replaced[span(file, given)] = name if home is file else self.spell(file, f"{self.index.names.modules[home.path]}.{name}", given)

    def is_made_by(self, file: File, node: ast.AST, path: str) -> bool:
        """True if all values of a variable are calls of one library function."""
        values = self.binding(file, node)[0]
        return bool(values) and all(isinstance(value, ast.Call) and self.index.names.target(where, value.func) == path for where, value in values)

    def module_makers(self, path: str) -> List[Tuple[File, str]]:
        """Returns the module variables whose values are calls of a library function."""
        found = []
        for where, call in self.calls_of(path):
            node = where.parents.get(call)
            if isinstance(node, ast.Assign) and isinstance(where.parents[node], ast.Module) and isinstance(node.targets[0], ast.Name):
                found.append((where, node.targets[0].id))
        return found

    def calls_of(self, path: str) -> List[Tuple[File, ast.Call]]:
        calls = [(where, where.parents.get(node), node) for where, node in self.index.names.library_uses(path)]
        return [(where, call) for where, call, node in calls if isinstance(call, ast.Call) and call.func is node]

    def shared_argument(self, file: File, call: ast.Call, changes: Dict) -> Dict[str, str]:
        """Returns the argument for a value that is slow to create and that clients can share, as an SSL context: it is created once."""
        function, how = file.function_around(call), changes.get("once")
        if how is None or function is None or self.is_made_once(function):
            return {}
        self.edits_of(file).made[how["name"]] = f"{self.spell(file, how['value'], call)}()"
        return {how["argument"]: how["name"]}

    def is_made_once(self, function: Function) -> bool:
        """True if a function is the constructor of a class that is only called while modules are loaded."""
        if function.name != "__init__" or function.owner is None:
            return False
        calls = [(where, where.parents.get(node)) for where, node in self.index.names.class_uses(function.owner)]
        return bool(calls) and all(isinstance(call, ast.Call) and where.function_around(call) is None for where, call in calls)

    def changes(self, old: str, new: str) -> Optional[Dict]:
        return CHANGES.get(f"{top(old)}>{top(new)}")

    def twin_type(self, kind: str) -> Optional[str]:
        found = self.binary.twin(kind)["twins"].get(self.runtime, [])
        return found[0] if found else None

    # --- uses -----------------------------------------------------------------------------------------

    def is_attribute_of_self(self, file: File, node: ast.AST) -> bool:
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name) or isinstance(file.parents.get(node), ast.Call):
            return False
        function = file.method_around(node)
        return bool(function and function.node.args.args and node.value.id == function.node.args.args[0].arg)

    def binding(self, file: File, node: ast.AST) -> Tuple[List[Placed], List[Placed]]:
        """Returns the values of a variable or attribute, and all its uses; two empty lists if it is unknown."""
        found = self.index.names.variable(file, node)
        if found is None:
            return [], []
        for where, use in found.unknown:
            if not isinstance(where.parents.get(use), ast.Call):
                raise self.refuse("unknown-receiver", f"the owner of `{use.attr}` is not known, and `{ast.unparse(node)}` becomes async", where, use)
        values = [(where, value_of(where, target)) for where, target in found.targets]
        return [*self.parameter_of(file, node, found.is_parameter), *values], found.uses

    @staticmethod
    def parameter_of(file: File, node: ast.AST, is_parameter: bool) -> List[Placed]:
        """Returns the parameter to which a name refers, in a list; an empty list if it is no parameter."""
        function = file.function_around(node)
        while function and is_parameter:
            taken = function.node.args
            every = [*taken.posonlyargs, *taken.args, *taken.kwonlyargs, taken.vararg, taken.kwarg]
            if found := [(file, one) for one in every if one and one.arg == node.id]:
                return found
            function = function.outer
        return []

    def convert_uses_of_value(self, file: File, node: ast.AST, old: str, new: str, attributes: Optional[Dict] = None) -> None:
        """Converts the use of a value whose type changes from `old` to `new`. With `attributes`, only these may be read."""
        parent = file.parents.get(node)
        if isinstance(parent, (ast.Expr, ast.Global)) or is_tested(file, node, parent):
            return None
        if isinstance(parent, ast.Attribute):
            if attributes is not None:
                return self.rename_attribute(file, parent, new, attributes)
            return self.convert_member(file, parent, old, new)
        target = None
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            target = parent.targets[0]
        elif isinstance(parent, (ast.AnnAssign, ast.NamedExpr)):
            target = parent.target
        elif isinstance(parent, ast.withitem) and attributes is None:
            self.make_async_block(file, parent)
            if parent.optional_vars is None:
                return None
            target = parent.optional_vars
        if isinstance(target, (ast.Name, ast.Attribute)):
            return self.convert_uses_of_name(file, target, node, old, new, attributes)
        if attributes is None and isinstance(parent, ast.Subscript) and parent.value is node:
            gives = self.item_types(old, new, "__getitem__")
            return self.convert_uses_of_value(file, parent, *gives) if gives else None
        if attributes is None and (self.blocks_iterated(old) or (self.changes(old, new) or {}).get("iterated") == "async"):
            return self.convert_iteration(file, node, f"a `{new}`")
        raise self.refuse("handed-on", f"a `{old}` is passed on here, and becomes a `{new}`", file, node)

    def convert_uses_of_name(self, file: File, target: ast.AST, node: ast.AST, old: str, new: str, attributes: Optional[Dict]) -> None:
        key = ("uses", *span(file, target), file.path)
        if key in self.converted:
            return
        self.converted.add(key)
        values, uses = self.binding(file, target)
        other = next((one for one in values if one[1] is not node and not (isinstance(one[1], ast.Constant) and one[1].value is None)), None)
        if other is not None and not any(one[1] is node for one in values):
            raise self.refuse("handed-on", f"the value of `{ast.unparse(target)}` is not known", file, target)
        if other is not None and not isinstance(other[1], ast.Call):
            raise self.refuse("handed-on", f"`{ast.unparse(target)}` has another value here", *other)
        for where, use in uses:
            self.convert_uses_of_value(where, use, old, new, attributes)

    def item_types(self, old: str, new: str, name: str) -> Optional[Tuple[str, str]]:
        """Returns the types, before and after, of an item or of an attribute without a row."""
        before, after = self.binary.twin(f"{old}.{name}"), self.binary.twin(f"{new}.{name}")
        kind = old if before["returns"] == "Self" else before["returns"]
        twin = (new if after["returns"] == "Self" else after["returns"]) or (kind and self.twin_type(kind))
        return (kind, twin) if kind and twin and kind != twin else None

    def rename_attribute(self, file: File, attribute: ast.Attribute, new: str, attributes: Dict) -> None:
        if attribute.attr not in attributes:
            raise self.refuse("attributes", f"`{new}` has no `{attribute.attr}` that is the same", file, attribute)
        if attributes[attribute.attr] != attribute.attr:
            self.edits_of(file).renamed[span(file, attribute)] = attributes[attribute.attr]

    def convert_member(self, file: File, attribute: ast.Attribute, old: str, new: str) -> None:
        """Converts a method call on a client, or another attribute of it."""
        call, method = file.parents.get(attribute), attribute.attr
        changes = self.changes(old, new) or {}
        last = attribute
        while isinstance(file.parents.get(last), ast.Attribute):
            last = file.parents[last]
        if last is not attribute and isinstance(file.parents.get(last), ast.Call) and file.parents[last].func is last and self.item_types(old, new, method) is None:
            # In `client.chat.completions.create(…)` models have no rows for `chat` and `completions`.
            names = ast.unparse(last)[len(ast.unparse(attribute.value)) + 1 :]
            return self.convert_method_call(file, last, names, old, new, changes)
        if not isinstance(call, ast.Call) or call.func is not attribute:
            if method in changes.get("client", {}) and isinstance(attribute.ctx, ast.Load):
                return None
            gives = self.item_types(old, new, method) or self.item_types(old, new, "__getattr__")
            if gives is None or not isinstance(attribute.ctx, ast.Load):
                raise self.refuse("handed-on", f"the meaning of `{ast.unparse(attribute)}` on the async client is not known", file, attribute)
            return self.convert_uses_of_value(file, attribute, *gives)
        if method in changes.get("client", {}):
            name = changes["client"][method]
            if name != method:
                self.edits_of(file).renamed[span(file, attribute)] = name
            if name in changes.get("async_methods", []):
                self.await_checked(file, call)
            return None
        return self.convert_method_call(file, attribute, method, old, new, changes)

    def convert_method_call(self, file: File, attribute: ast.Attribute, method: str, old: str, new: str, changes: Dict) -> None:
        call, last = file.parents[attribute], attribute.attr
        path = self.causes.get((file.path, *file.start(call), last)) or f"{old}.{method}"
        known = self.binary.twin(path)
        twins = known["twins"].get(self.runtime, [])
        twin = twins[0] if twins else f"{new}.{method}"
        result = self.binary.twin(twin)
        if not result["known"]:
            # The twin has no row, so the method of the client's new type is tried.
            twin = f"{new}.{method}"
            result = self.binary.twin(twin)
        if not known["known"] or not result["known"]:
            raise self.refuse("unknown-method", f"no model describes `{path if not known['known'] else twin}`, so it is not known if it must be awaited", file, call)
        name = twin.rpartition(".")[2]
        if name != last:
            self.edits_of(file).renamed[span(file, attribute)] = name
        self.rename_keywords(file, call, changes)
        self.converted.add((file.path, *file.start(call), path))
        if known["lazy"] and not result["async"]:
            return self.convert_iteration(file, call, f"what `{twin}` gives")
        if known["effect"] or result["async"]:
            self.await_checked(file, call)
            self.convert_handlers(file, file.function_around(call), changes)
        if any(keyword.arg == "stream" and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value) for keyword in call.keywords):
            return self.convert_stream(file, call, twin)
        kind = old if known["returns"] == "Self" else known["returns"]
        after = (new if result["returns"] == "Self" else result["returns"]) or (kind and self.twin_type(kind))
        if kind and after and kind != after:
            cross = self.changes(kind, after) or {}
            self.convert_uses_of_value(file, call, kind, after, cross.get("attributes"))
        return None

    def convert_stream(self, file: File, call: ast.Call, twin: str) -> None:
        """Converts a streamed answer: each of its uses becomes `async for`."""
        parent = file.parents.get(call)
        uses = [(file, call)]
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            values, uses = self.binding(file, parent.targets[0])
            if len(values) > 1:
                raise self.refuse("handed-on", f"`{parent.targets[0].id}` has another value here", *next(one for one in values if one[1] is not call))
        for where, use in uses:
            self.convert_iteration(where, use, f"what `{twin}` streams")

    def await_checked(self, file: File, call: ast.Call) -> None:
        function = file.function_around(call)
        if function is None:
            raise self.refuse("module-level", f"`{ast.unparse(call.func)}` is called while the module is loaded", file, call)
        self.check_awaitable(file, call, function)
        self.await_call(file, call)

    # --- iteration and blocks -------------------------------------------------------------------------

    def blocks_iterated(self, kind: str) -> bool:
        return any(self.binary.twin(f"{kind}.{name}")["effect"] for name in ("__iter__", "__next__"))

    def convert_iteration(self, file: File, node: ast.AST, what: str) -> None:
        """Makes the iteration over an async iterable `async for`; `list(x)` becomes a list comprehension with `async for`."""
        parent = file.parents.get(node)
        function = file.function_around(node)
        if function is None:
            raise self.refuse("module-level", f"{what} is iterated over while the module is loaded", file, node)
        if isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node:
            self.check_awaitable(file, parent.target, function)
            self.edits_of(file).async_blocks.add(file.start(parent if isinstance(parent, ast.For) else node))
        elif isinstance(parent, ast.Call) and node in parent.args and self.index.names.target(file, parent.func) in CHANGES["whole"]:
            self.check_awaitable(file, node, function)
            self.edits_of(file).gathered.add(span(file, node))
        else:
            raise self.refuse("handed-on", f"{what} is passed on here, but would need `async for`", file, node)
        self.require_coroutine(file, node)

    def make_async_block(self, file: File, item: ast.withitem) -> None:
        statement = file.parents[item]
        if len(statement.items) > 1:
            raise self.refuse("shape", "the `with` has other items too", file, statement)
        self.edits_of(file).async_blocks.add(file.start(statement))
        self.require_coroutine(file, statement)


def numbers(version: str) -> Tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def pinned_version(library: str, requirements: List[str]) -> Optional[Tuple[int, ...]]:
    """Returns the version to which a project holds a library: `redis==3.5`, `redis = "^3.5"`."""
    pin = re.compile(rf"(?<![\w-]){re.escape(library)}(?:\[[^\]]*\])?[\s\"']*(?:=\s*[\"'])?(?:==|~=|\^|<=|<)\s*v?(\d+(?:\.\d+)*)", re.IGNORECASE)
    found = [numbers(match.group(1)) for text in requirements for match in pin.finditer(text)]
    return min(found, default=None)


def is_tested(file: File, node: ast.AST, parent: ast.AST) -> bool:
    """True if only the truth of a value is used: `x is None`, `if x`, `not x`, `x and …` in a condition."""
    if isinstance(parent, ast.Compare):
        return any(isinstance(operand, ast.Constant) and operand.value is None for operand in parent.comparators)
    if isinstance(parent, (ast.If, ast.IfExp, ast.While)) and parent.test is node:
        return True
    if isinstance(parent, ast.UnaryOp):
        return isinstance(parent.op, ast.Not)
    return isinstance(parent, ast.BoolOp) and is_tested(file, parent, file.parents.get(parent))
