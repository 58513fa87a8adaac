"""The blocking call at the end of a trace becomes its async twin, as models name it."""

from __future__ import annotations

import ast
import json
import os
from typing import Dict, List, Optional, Set, Tuple

from .binary import Binary
from .edits import Edits, Wrap
from .index import File, Function, Index, attribute_values, bindings, dotted, module_values, own_nodes
from .refusal import Refusal

with open(os.path.join(os.path.dirname(__file__), "changes.json"), encoding="utf-8") as stream:
    CHANGES = json.load(stream)

# How each runtime hands a call to a thread, and whether keywords are passed on.
THREADS = {
    "asyncio": ("asyncio.to_thread", True),
    "anyio": ("anyio.to_thread.run_sync", False),
    "trio": ("trio.to_thread.run_sync", False),
}


class Leaves:
    def __init__(self, index: Index, binary: Binary, edits: Dict[str, Edits], runtime: str, causes: Dict[Tuple, str]) -> None:
        self.index, self.binary, self.edits, self.runtime, self.causes = index, binary, edits, runtime, causes
        # Calls of which blocklint says why no thread may make them.
        self.unfixed: Dict[Tuple, Dict] = {}
        # Functions whose blocking calls became awaited ones: they must be coroutines.
        self.touched: List[Tuple[Function, str, int]] = []
        self.converted: Set[Tuple[str, int, int, str]] = set()

    def of(self, file: File) -> Edits:
        return self.edits.setdefault(file.path, Edits())

    def refuse(self, kind: str, reason: str, file: File, node: ast.AST) -> Refusal:
        return Refusal(kind, reason, file.path, node.lineno)

    def convert(self, file: File, call: ast.AST, path: str) -> None:
        """Makes the edits for one blocking call."""
        key = (file.path, *file.start(call), path)
        if key in self.converted:
            return
        self.converted.add(key)
        if not isinstance(call, ast.Call):
            raise self.refuse("no-call", f"`{path}` blocks without a call that is written here", file, call)
        function = file.around(call)
        if function is None:
            raise self.refuse("module-level", f"`{path}` is called while the module is loaded", file, call)
        self.inside(file, call, function)
        known = self.binary.twin(path)
        if known["lazy"]:
            raise self.refuse("lazy", f"`{path}` only builds: what consumes its result blocks", file, call)
        canonical = known["path"]
        if self.files(file, call, canonical):
            return self.file_block(file, call)
        twins = known["twins"].get(self.runtime, [])
        if known["type"] and twins:
            # Making it is not awaited; what is called on it is.
            return self.receiver_of(file, call, canonical, twins[0])
        rewrite = known["rewrite"].get(self.runtime)
        if rewrite and rewrite.startswith("await "):
            return self.rewrite(file, call, rewrite)
        if not twins or known["fix"] in ("offload", "none"):
            return self.thread(file, call, canonical, known)
        twin = twins[0]
        parent, _, name = twin.rpartition(".")
        before, _, old = canonical.rpartition(".")
        if before == parent and isinstance(call.func, ast.Attribute) and self.binary.twin(parent)["type"]:
            self.of(file).renamed[span(file, call.func)] = name
            return self.awaited(file, call)
        if is_class(parent) and not is_class(before):
            return self.wrapped(file, call, before, parent, name)
        if is_class(before) and not is_class(parent):
            return self.thread(file, call, canonical, known)
        if is_class(before):
            return self.receiver(file, call, before, parent)
        self.module(file, parent)
        self.of(file).replaced[span(file, call.func)] = twin
        if isinstance(call.func, ast.Name) or isinstance(call.func, ast.Attribute):
            self.of(file).left.add(file.imports.get((dotted(call.func) or "").split(".")[0], "").split(".")[0] or "-")
        self.awaited(file, call)

    def awaited(self, file: File, call: ast.Call) -> None:
        self.of(file).awaited.add(span(file, call))
        self.need(file, call)

    def need(self, file: File, node: ast.AST) -> None:
        function = file.around(node)
        if function is None:
            raise self.refuse("module-level", "it is used while the module is loaded", file, node)
        self.touched.append((function, file.path, node.lineno))

    def module(self, file: File, name: str) -> None:
        self.of(file).imports.add(name)

    def inside(self, file: File, node: ast.AST, function: Function) -> None:
        """Refuses what cannot be awaited where it stands."""
        for above in file.up(node):
            if above is function.node:
                return
            if isinstance(above, ast.Lambda):
                raise self.refuse("lambda", "it stands in a lambda, which cannot await", file, node)
            if isinstance(above, ast.GeneratorExp):
                whole = file.parents.get(above)
                target = self.index.target(file, whole.func) if isinstance(whole, ast.Call) else None
                if target not in CHANGES["whole"] or len(whole.args) != 1:
                    raise self.refuse("generator-expression", "it stands in a generator expression, which runs elsewhere", file, node)
                self.of(file).lists.add(file.start(above.elt))

    # --- by kind --------------------------------------------------------------------------------------

    def rewrite(self, file: File, call: ast.Call, template: str) -> None:
        """`await {receiver}.run()`: the text in place of the call."""
        import re

        def part(match):
            name = match.group(1)
            if name == "receiver" and isinstance(call.func, ast.Attribute):
                return ast.get_source_segment(file.source, call.func.value) or ""
            if name.isdigit() and int(name) < len(call.args):
                return ast.get_source_segment(file.source, call.args[int(name)]) or ""
            if "." in name:
                self.module(file, name.rpartition(".")[0])
                return name
            raise self.refuse("arguments", "its arguments do not fit the twin", file, call)

        if len(call.args) + len(call.keywords) > len(set(re.findall(r"\{(\d)\}", template))):
            raise self.refuse("arguments", "its arguments do not fit the twin", file, call)
        code = re.sub(r"\{([\w.]+)\}", part, template)
        self.of(file).replaced[span(file, call)] = f"({code})"
        self.need(file, call)

    def thread(self, file: File, call: ast.Call, path: str, known: Dict) -> None:
        """No twin that takes its place: the call alone moves to a thread."""
        if known["effect"] in ("database", "wait", "nested-loop", "input") or known["fix"] == "none":
            raise self.refuse("no-twin", f"models name no async twin for `{path}`, and a {known['effect']} call alone does not move to a thread", file, call)
        if known["effect"] == "cpu":
            raise self.refuse("no-twin", f"`{path}` computes: there is no async twin", file, call)
        if isinstance(file.parents.get(call), ast.withitem):
            raise self.refuse("handle", f"what `{path}` opens is used and closed here as well: offload a function that does all of it", file, call)
        if (said := self.unfixed.get((file.path, *file.start(call)))) is not None:
            raise Refusal("bound", said["reason"], said.get("filename", file.path), said.get("location", {}).get("row", call.lineno))
        to, keywords = THREADS[self.runtime]
        if self.runtime == "asyncio" and self.starlette(file):
            to = "starlette.concurrency.run_in_threadpool"
        edits = self.of(file)
        self.module(file, to.rpartition(".")[0])
        edits.threads[span(file, call)] = (to, keywords)
        if not keywords and call.keywords:
            self.module(file, "functools")
        self.awaited(file, call)

    @staticmethod
    def starlette(file: File) -> bool:
        return "starlette.concurrency.run_in_threadpool" in file.imports.values()

    def wrapped(self, file: File, call: ast.Call, library: str, client: str, method: str) -> None:
        """`requests.get(…)`: a client for this call, ended behind the statement."""
        statement = next((above for above in file.up(call) if isinstance(above, ast.stmt)), None)
        simple = isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return, ast.AugAssign))
        if not simple or any(isinstance(above, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)) for above in file.up(call) if above is not statement and not isinstance(above, ast.stmt)):
            raise self.refuse("shape", "the call stands where no client can be opened around it", file, call)
        if any(keyword.arg is None for keyword in call.keywords):
            raise self.refuse("arguments", "what `**` passes is not known", file, call)
        old = self.binary.twin(f"{library}.{method}")["returns"]
        new = self.binary.twin(f"{client}.{method}")["returns"]
        changes = CHANGES.get(f"{library.split('.')[0]}>{client.split('.')[0]}", {})
        self.keywords(file, call, changes, {})
        self.result(file, call, old, new)
        function = file.around(call)
        used = {node.id for node in ast.walk(function.node) if isinstance(node, ast.Name)}
        name = next(name for name in ["client", "http_client", "async_client", "client_"] if name not in used)
        edits = self.of(file)
        self.module(file, client.rpartition(".")[0])
        more = {**changes.get("add", {}), **self.once(file, call, changes)}
        arguments = ", ".join(f"{key}={value}" for key, value in more.items() if not any(k.arg and changes.get("arguments", {}).get(k.arg) == key for k in call.keywords))
        edits.wraps[span(file, call)] = Wrap(f"{client}({arguments})", name)
        edits.replaced[span(file, call.func)] = f"{name}.{method}"
        edits.left.add(library.split(".")[0])
        self.errors(file, function, changes)
        self.awaited(file, call)

    def keywords(self, file: File, call: ast.Call, changes: Dict, add: Dict) -> None:
        allowed = changes.get("arguments")
        if allowed is None:
            return
        if len(call.args) > 1:
            raise self.refuse("arguments", "more than one argument is given by position, and the twin's order differs", file, call)
        for keyword in call.keywords:
            if keyword.arg not in allowed:
                raise self.refuse("arguments", f"the twin has no argument `{keyword.arg or '**'}`", file, call)
        names = {keyword.arg: allowed[keyword.arg] for keyword in call.keywords if allowed[keyword.arg] != keyword.arg}
        if names or add:
            self.of(file).arguments[span(file, call)] = (names, add)

    def errors(self, file: File, function: Function, changes: Dict) -> None:
        """Exceptions that are caught around the call are those of the twin from now on."""
        for node in own_nodes(function.node):
            if not isinstance(node, ast.ExceptHandler) or node.type is None:
                continue
            for one in node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]:
                target = self.index.target(file, one)
                if isinstance(target, str) and target in changes.get("errors", {}):
                    new = changes["errors"][target]
                    self.of(file).replaced[span(file, one)] = new
                    self.module(file, new.rpartition(".")[0])
                elif isinstance(target, str) and changes.get("errors") and target.split(".")[0] == next(iter(changes["errors"])).split(".")[0]:
                    raise self.refuse("errors", f"`{target}` is caught, which the twin does not raise", file, one)

    # --- values ---------------------------------------------------------------------------------------

    def receiver(self, file: File, call: ast.Call, old: str, new: str) -> None:
        """A method of a client: the client becomes the async one wherever it is made and used."""
        node = call.func
        while isinstance(node, (ast.Attribute, ast.Subscript)) and not self.is_attribute_of_self(file, node):
            node = node.value
        if isinstance(node, ast.Call):
            made = node
            self.made(file, made, new)
            return self.use(file, call.func.value, old, new)
        values, uses = self.binding(file, node)
        if not values:
            raise self.refuse("made-elsewhere", f"where `{ast.unparse(node)}` is made is not known", file, call)
        key = ("value", *span(file, values[0][1]))
        if key in self.converted:
            return
        self.converted.add(key)
        for where, value in values:
            if isinstance(value, ast.Constant) and value.value is None:
                continue
            if not isinstance(value, ast.Call):
                raise self.refuse("made-elsewhere", f"`{ast.unparse(node)}` is given from elsewhere", where, value)
            self.made(where, value, new)
        made = self.index.type_of(values[0][0], values[0][1])
        known = self.binary.twin(made) if isinstance(made, str) else None
        kind = known["path"].rpartition(".")[0] if known and known["returns"] in ("Self",) else made
        kind = (known["returns"] if known and known["returns"] not in (None, "Self") else kind) if known else old
        twin_kind = self.twin_type(kind if isinstance(kind, str) else old) or new
        for where, use in uses:
            self.use(where, use, kind if isinstance(kind, str) else old, twin_kind)

    def receiver_of(self, file: File, call: ast.Call, old: str, new: str) -> None:
        """A client that is made: where a name holds it, the name's uses change with it."""
        parent = file.parents.get(call)
        target = None
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            target = parent.targets[0]
        elif isinstance(parent, ast.withitem):
            target = parent.optional_vars
        if target is None:
            raise self.refuse("shape", f"`{old}` is made here, and no name holds it", file, call)
        use = ast.copy_location(ast.Attribute(value=target, attr="", ctx=ast.Load()), call)
        self.receiver(file, ast.copy_location(ast.Call(func=use, args=[], keywords=[]), call), old, new)

    def twin_type(self, kind: str) -> Optional[str]:
        found = self.binary.twin(kind)["twins"].get(self.runtime, [])
        return found[0] if found else None

    def is_attribute_of_self(self, file: File, node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and bool(
            (function := self.index.method_around(file, node)) and function.node.args.args and node.value.id == function.node.args.args[0].arg
        ) and not isinstance(file.parents.get(node), ast.Call)

    def binding(self, file: File, node: ast.AST) -> Tuple[List[Tuple[File, ast.AST]], List[Tuple[File, ast.AST]]]:
        """What a receiver is bound to, and all its uses."""
        if isinstance(node, ast.Name):
            function = file.around(node)
            values = self.index.local_values(file, node)
            if values is not None:
                scope = function
                while scope and bindings(scope.node, node.id) is None:
                    scope = scope.outer
                uses = [one for one in ast.walk(scope.node) if isinstance(one, ast.Name) and one.id == node.id and isinstance(one.ctx, ast.Load)]
                return [(file, value) for value in values], [(file, use) for use in uses]
            home, name = file, node.id
            if name in file.imports:
                path, _, name = file.imports[name].rpartition(".")
                found = self.index.symbol(path)
                if not isinstance(found, File):
                    return [], []
                home = found
            values = module_values(home, name)
            uses = []
            for where, use in self.index.named.get(name, []):
                if not isinstance(getattr(use, "ctx", None), ast.Load):
                    continue
                if isinstance(use, ast.Name) and (where is home or where.imports.get(use.id) == f"{home.module}.{name}") and self.index.local_values(where, use) is None:
                    uses.append((where, use))
                elif isinstance(use, ast.Attribute) and self.index.target(where, use.value) is home:
                    uses.append((where, use))
            return [(home, value) for value in values], uses
        if isinstance(node, ast.Attribute):
            method = self.index.method_around(file, node)
            owner = method.owner if method else None
            if owner is None:
                return [], []
            owners = [one for one in [*self.index.lineage(owner), *self.index.heirs(owner)] if not isinstance(one, str) and one]
            values = [(one.file, value) for one in owners for value in attribute_values(one, node.attr)]
            uses = []
            for where, use in self.index.named.get(node.attr, []):
                if not isinstance(use, ast.Attribute) or not isinstance(use.ctx, ast.Load):
                    continue
                of = self.index.type_of(where, use.value)
                if of in owners:
                    uses.append((where, use))
                elif of is None and not isinstance(where.parents.get(use), ast.Call):
                    if self.index.target(where, use.value) is None:
                        raise self.refuse("unknown-receiver", f"whose `{node.attr}` this is is not known, and that of `{owner.name}` becomes async", where, use)
            return values, uses
        return [], []

    def made(self, file: File, call: ast.Call, new: str) -> None:
        """The call that makes the client makes the async one."""
        made = self.index.target(file, call.func)
        if not isinstance(made, str):
            raise self.refuse("made-elsewhere", "the client is made by a function of the project", file, call)
        known = self.binary.twin(made)
        if made.rpartition(".")[2] and known["returns"] and not known["twins"].get(self.runtime):
            # `requests.session` gives what `requests.Session` makes.
            known = self.binary.twin(known["returns"])
        twins = known["twins"].get(self.runtime, [])
        if not twins:
            raise self.refuse("no-twin", f"models name no async twin for `{made}`, which makes the client", file, call)
        twin = twins[0]
        changes = CHANGES.get(f"{known['path'].split('.')[0]}>{twin.split('.')[0]}", {})
        edits = self.of(file)
        edits.replaced[span(file, call.func)] = twin
        parent = twin.rpartition(".")[0]
        self.module(file, parent.rpartition(".")[0] if is_class(parent) else parent)
        edits.left.add(known["path"].split(".")[0])
        add = {**changes.get("add", {}), **self.once(file, call, changes)}
        if add:
            edits.arguments[span(file, call)] = ({}, add)
        if self.binary.twin(twin)["async"]:
            self.inside(file, call, file.around(call)) if file.around(call) else None
            self.awaited(file, call)
        item = file.parents.get(call)
        if isinstance(item, ast.withitem):
            self.block(file, item)

    def once(self, file: File, call: ast.Call, changes: Dict) -> Dict[str, str]:
        """What every client needs and takes long to make is made once for all that are made for each call."""
        function = file.around(call)
        how = changes.get("once")
        if how is None or function is None or function.name == "__init__":
            return {}
        self.of(file).made[how["name"]] = how["value"]
        return {how["argument"]: how["name"]}

    def block(self, file: File, item: ast.withitem) -> None:
        statement = file.parents[item]
        if len(statement.items) > 1:
            raise self.refuse("shape", "the `with` enters other things as well", file, statement)
        self.of(file).async_blocks.add(file.start(statement))
        self.need(file, statement)

    def use(self, file: File, use: ast.AST, old: str, new: str) -> None:
        """One use of a value that is now of another type."""
        parent = file.parents.get(use)
        cross = f"{old.split('.')[0]}>{new.split('.')[0]}"
        changes = CHANGES.get(cross, {})
        if isinstance(parent, ast.withitem) and parent.context_expr is use:
            return self.block(file, parent)
        if isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is use:
            self.of(file).async_blocks.add(file.start(parent) if isinstance(parent, ast.For) else file.start(parent.target))
            return self.need(file, use)
        if isinstance(parent, ast.Compare) and any(isinstance(one, ast.Constant) and one.value is None for one in parent.comparators):
            return None
        if isinstance(parent, (ast.If, ast.UnaryOp, ast.BoolOp)) and not isinstance(file.parents.get(parent), ast.stmt):
            return None
        if isinstance(parent, ast.Global):
            return None
        if not isinstance(parent, (ast.Attribute, ast.Subscript)) or parent.value is not use:
            raise self.refuse("handed-on", f"`{ast.unparse(use)}`, which becomes async, is handed on here", file, use)
        chain = parent
        while isinstance(file.parents.get(chain), (ast.Attribute, ast.Subscript)) and file.parents[chain].value is chain:
            chain = file.parents[chain]
        call = file.parents.get(chain)
        if not isinstance(call, ast.Call) or call.func is not chain or not isinstance(chain, ast.Attribute):
            if isinstance(parent, ast.Attribute) and isinstance(parent.ctx, ast.Load) and parent.attr in changes.get("client", {}):
                return None
            if isinstance(parent, ast.Subscript) and not changes.get("arguments"):
                return None
            raise self.refuse("handed-on", f"what `{ast.unparse(chain)}` is on the async client is not known", file, use)
        method = chain.attr
        path = self.causes.get((file.path, *file.start(call), method)) or f"{old}.{method}"
        known = self.binary.twin(path)
        if chain is parent and method in changes.get("client", {}):
            name = changes["client"][method]
            if name != method:
                self.of(file).renamed[span(file, chain)] = name
            if name in changes.get("async_methods", []):
                self.awaited(file, call)
            return None
        if not known["known"]:
            raise self.refuse("unknown-method", f"models say nothing of `{path}`, so whether its twin is awaited is not known", file, call)
        twins = known["twins"].get(self.runtime, [])
        twin = twins[0] if twins else f"{new}.{method}"
        result = self.binary.twin(twin)
        name = twin.rpartition(".")[2]
        if name != method:
            self.of(file).renamed[span(file, chain)] = name
        self.keywords(file, call, {**changes, "add": {}}, {})
        if known["effect"] or result["async"]:
            function = file.around(call)
            if function is None:
                raise self.refuse("module-level", f"`{path}` is called while the module is loaded", file, call)
            self.inside(file, call, function)
            self.errors(file, function, changes)
            self.converted.add((file.path, *file.start(call), path))
            self.awaited(file, call)
        self.result(file, call, known["returns"], result["returns"], old, new)
        return None

    def result(self, file: File, call: ast.Call, old: Optional[str], new: Optional[str], of_old: str = "", of_new: str = "") -> None:
        """What a call gives is of another type as well: its uses change too."""
        old, new = (of_old if old == "Self" else old), (of_new if new == "Self" else new)
        if not old or old == new:
            return
        new = new or self.twin_type(old)
        if not new:
            return
        cross = f"{old.split('.')[0]}>{new.split('.')[0]}"
        attributes = CHANGES.get(cross, {}).get("attributes")
        parent = file.parents.get(call)
        if isinstance(parent, ast.Expr):
            return
        if isinstance(parent, ast.withitem) and attributes is None:
            self.block(file, parent)
        if isinstance(parent, ast.Attribute):
            return self.one(file, call, parent, old, new, attributes)
        name = None
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            name = parent.targets[0].id
        elif isinstance(parent, ast.withitem) and isinstance(parent.optional_vars, ast.Name):
            name = parent.optional_vars.id
        function = file.around(call)
        if name is None or function is None:
            if attributes is None and isinstance(parent, (ast.For, ast.withitem)):
                return
            raise self.refuse("handed-on", f"a `{old}` is handed on here, and becomes a `{new}`", file, call)
        for use in ast.walk(function.node):
            if isinstance(use, ast.Name) and use.id == name and isinstance(use.ctx, ast.Load):
                above = file.parents.get(use)
                if isinstance(above, ast.Attribute):
                    self.one(file, use, above, old, new, attributes)
                elif attributes is None:
                    self.use(file, use, old, new)
                else:
                    raise self.refuse("handed-on", f"a `{old}` is handed on here, and becomes a `{new}`", file, use)

    def one(self, file: File, use: ast.AST, attribute: ast.Attribute, old: str, new: str, attributes: Optional[Dict]) -> None:
        if attributes is None:
            return self.use(file, use, old, new)
        if attribute.attr not in attributes:
            raise self.refuse("attributes", f"`{new}` has no `{attribute.attr}` that is the same", file, attribute)
        if attributes[attribute.attr] != attribute.attr:
            self.of(file).renamed[span(file, attribute)] = attributes[attribute.attr]
        return None

    # --- files ----------------------------------------------------------------------------------------

    def files(self, file: File, call: ast.Call, path: str) -> bool:
        return path.rpartition(".")[2] == "open" and path in ("builtins.open", "io.open") or path.startswith("io.") and False

    def file_block(self, file: File, call: ast.Call) -> None:
        """`with open(…) as f`: the async file of the library that the project uses."""
        used = {path.split(".")[0] for one in self.index.files.values() for path in one.imports.values()}
        library = "trio" if self.runtime == "trio" else next((name for name in ("aiofiles", "anyio") if name in used), None)
        if library is None:
            raise self.refuse("no-file-library", "the project uses neither anyio nor aiofiles: offload the function instead", file, call)
        item = file.parents.get(call)
        if not isinstance(item, ast.withitem) or not isinstance(item.optional_vars, ast.Name):
            raise self.refuse("shape", "the file is not opened in a `with` of its own", file, call)
        self.block(file, item)
        how, edits = CHANGES["files"][library], self.of(file)
        self.module(file, library)
        edits.replaced[span(file, call.func)] = how["open"]
        if how["entered"]:
            self.awaited(file, call)
        function = file.around(call)
        for use in ast.walk(function.node):
            if not (isinstance(use, ast.Name) and use.id == item.optional_vars.id and isinstance(use.ctx, ast.Load)):
                continue
            above = file.parents.get(use)
            held = file.parents.get(above) if above else None
            if isinstance(above, ast.Attribute) and isinstance(held, ast.Call) and held.func is above and above.attr in CHANGES["files"]["async_methods"]:
                self.inside(file, held, function)
                self.converted.update({(file.path, *file.start(held), of) for of in [self.causes.get((file.path, *file.start(held), above.attr), "")]})
                self.awaited(file, held)
            elif isinstance(above, ast.For) and above.iter is use:
                edits.async_blocks.add(file.start(above))
            else:
                raise self.refuse("handed-on", f"the file `{use.id}` is handed on, and what takes it cannot await", file, use)


def span(file: File, node: ast.AST):
    return file.start(node), file.end(node)


def is_class(path: str) -> bool:
    """Whether a path is spelled like a class."""
    return path.rpartition(".")[2][:1].isupper()
