"""A client that becomes its async twin wherever it is made and used: what it gives becomes async with it."""

from __future__ import annotations

import ast
import re
from typing import Dict, List, Optional, Tuple

from .index import File, Function, dotted, value_of
from .names import Placed
from .spelling import CHANGES, span, top


class Values:
    """The part of `Leaves` that follows values."""

    def receiver(self, file: File, call: ast.Call, path: str) -> None:
        """A call on a client: the client is converted, and the call is awaited by that."""
        self.root(file, call.func.value, call)
        if not self.reached(file, call):
            raise self.refuse("made-elsewhere", f"where the client of `{path}` is made is not known", file, call)

    def reached(self, file: File, call: ast.AST) -> bool:
        edits, place = self.of(file), span(file, call)
        above = file.parents.get(call)
        iterates = isinstance(above, (ast.For, ast.comprehension)) and file.start(above if isinstance(above, ast.For) else call) in edits.async_blocks
        return place in edits.awaited or place in edits.gathered or iterates or isinstance(above, ast.withitem) and file.start(file.parents[above]) in edits.async_blocks

    def root(self, file: File, node: ast.AST, at: ast.AST, fuel: int = 8) -> None:
        """Converts what an expression rests on, with all its uses."""
        while not isinstance(node, ast.Name) and not self.is_attribute_of_self(file, node):
            if isinstance(node, ast.Call) and self.makes(file, node):
                return self.maker(file, node)
            if isinstance(node, ast.Call):
                node = node.func
            elif isinstance(node, (ast.Attribute, ast.Subscript)):
                node = node.value
            else:
                raise self.refuse("made-elsewhere", "where the client is made is not known", file, at)
        values, uses = self.binding(file, node)
        values = [one for one in values if not (isinstance(one[1], ast.Constant) and one[1].value is None)]
        if not values or not fuel:
            raise self.refuse("made-elsewhere", f"where `{ast.unparse(node)}` is made is not known", file, at)
        key = ("value", *span(file, values[0][1]), values[0][0].path)
        if key in self.converted:
            return None
        made = [(where, value) for where, value in values if isinstance(value, ast.Call) and self.makes(where, value)]
        if not made and all(isinstance(value, (ast.Call, ast.Attribute, ast.Subscript)) for _, value in values):
            # It comes of another value, and changes with that one.
            for where, value in values:
                self.root(where, value, at, fuel - 1)
            return None
        for where, value in values:
            if (where, value) not in made:
                raise self.refuse("made-elsewhere", f"`{ast.unparse(node)}` is given from elsewhere", where, value)
        self.converted.add(key)
        kinds = [self.made(where, value) for where, value in made]
        if len(set(kinds)) > 1:
            raise self.refuse("made-elsewhere", f"`{ast.unparse(node)}` is made in several ways", *made[1])
        for where, use in uses:
            self.walk(where, use, *kinds[0])
        return None

    # --- makers ---------------------------------------------------------------------------------------

    def makes(self, file: File, call: ast.Call) -> Optional[Tuple[str, str]]:
        """Returns the type and its twin of what a call makes, if what it calls is imported and makes something with a twin."""
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

    def maker(self, file: File, call: ast.Call) -> None:
        """A client that is made where it is used."""
        key = ("made", *span(file, call), file.path)
        if key not in self.converted:
            self.converted.add(key)
            self.walk(file, call, *self.made(file, call))

    def made(self, file: File, call: ast.Call) -> Tuple[str, str]:
        """Returns the call that makes a client makes the async one: the client's type before and after."""
        old, new = self.makes(file, call)
        known = self.binary.twin(self.index.names.target(file, call.func))
        twins = known["twins"].get(self.runtime, [])
        if known["returns"] and known["returns"] != "Self" and not known["type"] and not twins:
            # `requests.session` gives what `requests.Session` makes.
            twins = [new]
        if not twins:
            raise self.refuse("no-twin", f"models name no async twin for `{known['path']}`, which makes the client", file, call)
        twin = twins[0]
        changes = self.changes(known["path"], twin)
        if changes is None and not (top(twin) == top(known["path"]) and top(twin) in CHANGES["made_alike"]):
            raise self.refuse("maker", f"whether `{twin}` is made as `{known['path']}` is is not known", file, call)
        if not self.is_used(top(twin), file):
            raise self.refuse("no-library", f"`{twin}` is of a library that this part of the project does not use", file, call)
        if asked := self.too_old(twin, file):
            raise self.refuse("no-library", f"`{twin}` came with {CHANGES['since'][top(twin)]}, and the project asks for {asked}", file, call)
        changes = changes or {}
        edits = self.of(file)
        self.depends(file, call, changes)
        edits.replaced[span(file, call.func)] = self.spelled(file, twin, call.func, True)
        add = {**changes.get("add", {}), **self.once(file, call, changes)}
        if add:
            edits.arguments[span(file, call)] = ({}, add)
        if self.binary.twin(twin)["async"]:
            if (function := file.around(call)) is None:
                raise self.refuse("module-level", f"`{twin}` is awaited, which a module cannot", file, call)
            self.inside(file, call, function)
            self.awaited(file, call)
        if isinstance(item := file.parents.get(call), ast.withitem):
            self.block(file, item)
        return old, new

    def too_old(self, twin: str, file: File) -> str:
        """Returns the version that the project asks for, if it is older than the one that brought the twin."""
        since = CHANGES["since"].get(top(twin))
        asked = pinned(top(twin), self.index.needs.texts(file.path)) if since else None
        return ".".join(map(str, asked)) if asked and asked < numbers(since) else ""

    def depends(self, file: File, call: ast.Call, changes: Dict) -> None:
        """A client that is made of another: the async one of that must be there already, and the only one."""
        how = changes.get("depends")
        if how is None:
            return
        given = next((one.value for one in call.keywords if one.arg == how["name"]), None) or next(iter(call.args), None)
        twins = self.module_makers(how["twin"])
        if given is None or len(twins) != 1 or len(self.module_makers(how["made"])) != 1:
            raise self.refuse("no-async-engine", f"it needs what `{how['twin']}` makes, of which the project has {len(twins) or 'none'}", file, call)
        if not self.is_made_by(file, given, how["made"]):
            raise self.refuse("no-async-engine", f"`{ast.unparse(given)}` is not the `{how['made']}` of the project", file, call)
        for where, node in self.calls_of(how["refused"]):
            lazy = next((keyword.value for keyword in node.keywords if keyword.arg == "lazy"), None)
            if not (isinstance(lazy, ast.Constant) and lazy.value in how["unless_lazy"]):
                raise self.refuse("lazy-relations", "relations are loaded when they are read, which the async session cannot", where, node)
        home, name = twins[0]
        self.of(file).replaced[span(file, given)] = name if home is file else self.spelled(file, f"{self.index.names.modules[home.path]}.{name}", given)

    def is_made_by(self, file: File, node: ast.AST, path: str) -> bool:
        """True if a function of a library makes all values of a variable."""
        values = self.binding(file, node)[0]
        return bool(values) and all(isinstance(value, ast.Call) and self.index.names.target(where, value.func) == path for where, value in values)

    def module_makers(self, path: str) -> List[Tuple[File, str]]:
        """Returns the names of modules that hold what a function of a library makes."""
        found = []
        for where, call in self.calls_of(path):
            node = where.parents.get(call)
            if isinstance(node, ast.Assign) and isinstance(where.parents[node], ast.Module) and isinstance(node.targets[0], ast.Name):
                found.append((where, node.targets[0].id))
        return found

    def calls_of(self, path: str) -> List[Tuple[File, ast.Call]]:
        calls = [(where, where.parents.get(node), node) for where, node in self.index.names.library_uses(path)]
        return [(where, call) for where, call, node in calls if isinstance(call, ast.Call) and call.func is node]

    def once(self, file: File, call: ast.Call, changes: Dict) -> Dict[str, str]:
        """Returns the argument for a value that each client needs and that takes long to make: it is made once."""
        function, how = file.around(call), changes.get("once")
        if how is None or function is None or self.is_made_once(function):
            return {}
        self.of(file).made[how["name"]] = f"{self.spelled(file, how['value'], call)}()"
        return {how["argument"]: how["name"]}

    def is_made_once(self, function: Function) -> bool:
        """True if it is the constructor of objects that only modules make, as they are loaded."""
        if function.name != "__init__" or function.owner is None:
            return False
        calls = [(where, where.parents.get(node)) for where, node in self.index.names.class_uses(function.owner)]
        return bool(calls) and all(isinstance(call, ast.Call) and where.around(call) is None for where, call in calls)

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
        """Returns the values of a variable or an attribute, and all its uses; nothing where it is not known which one it is."""
        found = self.index.names.variable(file, node)
        if found is None:
            return [], []
        for where, use in found.unknown:
            if not isinstance(where.parents.get(use), ast.Call):
                raise self.refuse("unknown-receiver", f"whose `{use.attr}` this is is not known, and `{ast.unparse(node)}` becomes async", where, use)
        values = [(where, value_of(where, target)) for where, target in found.targets]
        return [*self.given(file, node, found.is_parameter), *values], found.uses

    @staticmethod
    def given(file: File, node: ast.AST, is_parameter: bool) -> List[Placed]:
        """Returns the parameter that a name is."""
        function = file.around(node)
        while function and is_parameter:
            taken = function.node.args
            every = [*taken.posonlyargs, *taken.args, *taken.kwonlyargs, taken.vararg, taken.kwarg]
            if found := [(file, one) for one in every if one and one.arg == node.id]:
                return found
            function = function.outer
        return []

    def walk(self, file: File, node: ast.AST, old: str, new: str, attributes: Optional[Dict] = None) -> None:
        """Mends the uses of a value that is of another type from now on; of one with `attributes` only those are read."""
        parent = file.parents.get(node)
        if isinstance(parent, (ast.Expr, ast.Global)) or is_tested(file, node, parent):
            return None
        if isinstance(parent, ast.Attribute):
            if attributes is not None:
                return self.attribute(file, parent, new, attributes)
            return self.member(file, parent, old, new)
        target = None
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            target = parent.targets[0]
        elif isinstance(parent, (ast.AnnAssign, ast.NamedExpr)):
            target = parent.target
        elif isinstance(parent, ast.withitem) and attributes is None:
            self.block(file, parent)
            if parent.optional_vars is None:
                return None
            target = parent.optional_vars
        if isinstance(target, (ast.Name, ast.Attribute)):
            return self.uses(file, target, node, old, new, attributes)
        if attributes is None and isinstance(parent, ast.Subscript) and parent.value is node:
            gives = self.gives(old, new, "__getitem__")
            return self.walk(file, parent, *gives) if gives else None
        if attributes is None and (self.blocks_iterated(old) or (self.changes(old, new) or {}).get("iterated") == "async"):
            return self.iterated(file, node, f"a `{new}`")
        raise self.refuse("handed-on", f"a `{old}` is handed on here, and becomes a `{new}`", file, node)

    def uses(self, file: File, target: ast.AST, node: ast.AST, old: str, new: str, attributes: Optional[Dict]) -> None:
        key = ("uses", *span(file, target), file.path)
        if key in self.converted:
            return
        self.converted.add(key)
        values, uses = self.binding(file, target)
        other = next((one for one in values if one[1] is not node and not (isinstance(one[1], ast.Constant) and one[1].value is None)), None)
        if other is not None and not any(one[1] is node for one in values):
            raise self.refuse("handed-on", f"what `{ast.unparse(target)}` is is not known", file, target)
        if other is not None and not isinstance(other[1], ast.Call):
            raise self.refuse("handed-on", f"`{ast.unparse(target)}` is something else here", *other)
        for where, use in uses:
            self.walk(where, use, old, new, attributes)

    def gives(self, old: str, new: str, name: str) -> Optional[Tuple[str, str]]:
        """Returns the types of an item, or of an attribute that nobody lists."""
        before, after = self.binary.twin(f"{old}.{name}"), self.binary.twin(f"{new}.{name}")
        kind = old if before["returns"] == "Self" else before["returns"]
        twin = (new if after["returns"] == "Self" else after["returns"]) or (kind and self.twin_type(kind))
        return (kind, twin) if kind and twin and kind != twin else None

    def attribute(self, file: File, attribute: ast.Attribute, new: str, attributes: Dict) -> None:
        if attribute.attr not in attributes:
            raise self.refuse("attributes", f"`{new}` has no `{attribute.attr}` that is the same", file, attribute)
        if attributes[attribute.attr] != attribute.attr:
            self.of(file).renamed[span(file, attribute)] = attributes[attribute.attr]

    def member(self, file: File, attribute: ast.Attribute, old: str, new: str) -> None:
        """A method that is called on the client, or something else of it."""
        call, method = file.parents.get(attribute), attribute.attr
        changes = self.changes(old, new) or {}
        last = attribute
        while isinstance(file.parents.get(last), ast.Attribute):
            last = file.parents[last]
        if last is not attribute and isinstance(file.parents.get(last), ast.Call) and file.parents[last].func is last and self.gives(old, new, method) is None:
            # `client.chat.completions.create(…)`, of whose middle models say nothing.
            names = ast.unparse(last)[len(ast.unparse(attribute.value)) + 1 :]
            return self.called(file, last, names, old, new, changes)
        if not isinstance(call, ast.Call) or call.func is not attribute:
            if method in changes.get("client", {}) and isinstance(attribute.ctx, ast.Load):
                return None
            gives = self.gives(old, new, method) or self.gives(old, new, "__getattr__")
            if gives is None or not isinstance(attribute.ctx, ast.Load):
                raise self.refuse("handed-on", f"what `{ast.unparse(attribute)}` is on the async client is not known", file, attribute)
            return self.walk(file, attribute, *gives)
        if method in changes.get("client", {}):
            name = changes["client"][method]
            if name != method:
                self.of(file).renamed[span(file, attribute)] = name
            if name in changes.get("async_methods", []):
                self.waited(file, call)
            return None
        return self.called(file, attribute, method, old, new, changes)

    def called(self, file: File, attribute: ast.Attribute, method: str, old: str, new: str, changes: Dict) -> None:
        call, last = file.parents[attribute], attribute.attr
        path = self.causes.get((file.path, *file.start(call), last)) or f"{old}.{method}"
        known = self.binary.twin(path)
        twins = known["twins"].get(self.runtime, [])
        twin = twins[0] if twins else f"{new}.{method}"
        result = self.binary.twin(twin)
        if not result["known"]:
            # The type as which it is made decides: a row of the twin's own type says more than one of a kind of it.
            twin = f"{new}.{method}"
            result = self.binary.twin(twin)
        if not known["known"] or not result["known"]:
            raise self.refuse("unknown-method", f"models say nothing of `{path if not known['known'] else twin}`, so whether it is awaited is not known", file, call)
        name = twin.rpartition(".")[2]
        if name != last:
            self.of(file).renamed[span(file, attribute)] = name
        self.keywords(file, call, changes)
        self.converted.add((file.path, *file.start(call), path))
        if known["lazy"] and not result["async"]:
            return self.iterated(file, call, f"what `{twin}` gives")
        if known["effect"] or result["async"]:
            self.waited(file, call)
            self.errors(file, file.around(call), changes)
        if any(keyword.arg == "stream" and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value) for keyword in call.keywords):
            return self.streamed(file, call, twin)
        kind = old if known["returns"] == "Self" else known["returns"]
        after = (new if result["returns"] == "Self" else result["returns"]) or (kind and self.twin_type(kind))
        if kind and after and kind != after:
            cross = self.changes(kind, after) or {}
            self.walk(file, call, kind, after, cross.get("attributes"))
        return None

    def streamed(self, file: File, call: ast.Call, twin: str) -> None:
        """An answer that comes in parts: each of its uses is `async for`."""
        parent = file.parents.get(call)
        uses = [(file, call)]
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            values, uses = self.binding(file, parent.targets[0])
            if len(values) > 1:
                raise self.refuse("handed-on", f"`{parent.targets[0].id}` is something else here", *next(one for one in values if one[1] is not call))
        for where, use in uses:
            self.iterated(where, use, f"what `{twin}` streams")

    def waited(self, file: File, call: ast.Call) -> None:
        function = file.around(call)
        if function is None:
            raise self.refuse("module-level", f"`{ast.unparse(call.func)}` is called while the module is loaded", file, call)
        self.inside(file, call, function)
        self.awaited(file, call)

    # --- iteration and blocks -------------------------------------------------------------------------

    def blocks_iterated(self, kind: str) -> bool:
        return any(self.binary.twin(f"{kind}.{name}")["effect"] for name in ("__iter__", "__next__"))

    def iterated(self, file: File, node: ast.AST, what: str) -> None:
        """Adds `async for` over a value that asks the server as it is iterated over, or a list of it if taken whole."""
        parent = file.parents.get(node)
        function = file.around(node)
        if function is None:
            raise self.refuse("module-level", f"{what} is iterated over while the module is loaded", file, node)
        if isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node:
            self.inside(file, parent.target, function)
            self.of(file).async_blocks.add(file.start(parent if isinstance(parent, ast.For) else node))
        elif isinstance(parent, ast.Call) and node in parent.args and self.index.names.target(file, parent.func) in CHANGES["whole"]:
            self.inside(file, node, function)
            self.of(file).gathered.add(span(file, node))
        else:
            raise self.refuse("handed-on", f"{what} is handed on here, and is iterated over with `async for` from now on", file, node)
        self.need(file, node)

    def block(self, file: File, item: ast.withitem) -> None:
        statement = file.parents[item]
        if len(statement.items) > 1:
            raise self.refuse("shape", "the `with` enters other things as well", file, statement)
        self.of(file).async_blocks.add(file.start(statement))
        self.need(file, statement)


def numbers(version: str) -> Tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def pinned(library: str, requirements: List[str]) -> Optional[Tuple[int, ...]]:
    """Returns the version to which a project holds a library: `redis==3.5`, `redis = "^3.5"`."""
    pin = re.compile(rf"(?<![\w-]){re.escape(library)}(?:\[[^\]]*\])?[\s\"']*(?:=\s*[\"'])?(?:==|~=|\^|<=|<)\s*v?(\d+(?:\.\d+)*)", re.IGNORECASE)
    found = [numbers(match.group(1)) for text in requirements for match in pin.finditer(text)]
    return min(found, default=None)


def is_tested(file: File, node: ast.AST, parent: ast.AST) -> bool:
    """`x is None`, `if x`, `not x`, `x and …` where only the truth of it counts."""
    if isinstance(parent, ast.Compare):
        return any(isinstance(one, ast.Constant) and one.value is None for one in parent.comparators)
    if isinstance(parent, (ast.If, ast.IfExp, ast.While)) and parent.test is node:
        return True
    if isinstance(parent, ast.UnaryOp):
        return isinstance(parent.op, ast.Not)
    return isinstance(parent, ast.BoolOp) and is_tested(file, parent, file.parents.get(parent))
