"""Replaces the blocking call at the end of a trace by its async twin, or moves the call to a thread."""

from __future__ import annotations

import ast
import re
from typing import Dict, List, Set, Tuple

from .binary import Binary
from .edits import Edits, Wrap
from .files import OPENING, Files
from .index import File, Function, Index, own_nodes
from .refusal import Refusal
from .spelling import CHANGES, is_class, mark_import_unused, span, spell, top
from .values import Values

# The function of each runtime that runs a call in a thread, and true if it passes on keyword arguments.
THREADS = {
    "asyncio": ("asyncio.to_thread", True),
    "anyio": ("anyio.to_thread.run_sync", False),
    "trio": ("trio.to_thread.run_sync", False),
}


class Leaves(Values, Files):
    def __init__(self, index: Index, binary: Binary, edits: Dict[str, Edits], runtime: str, causes: Dict[Tuple, str]) -> None:
        self.index, self.binary, self.edits, self.runtime, self.causes = index, binary, edits, runtime, causes
        # Calls that no thread may make, with blocklint's reason.
        self.unfixed: Dict[Tuple, Dict] = {}
        self.used: Dict[Tuple[str, str], bool] = {}
        # Exceptions of the old library, which are not raised any more.
        self.raising: Set[str] = set()
        # Functions with a new `await`, which must become coroutine functions.
        self.touched: List[Tuple[Function, str, int]] = []
        self.converted: Set[Tuple[str, int, int, str]] = set()

    def edits_of(self, file: File) -> Edits:
        return self.edits.setdefault(file.path, Edits())

    def refuse(self, kind: str, reason: str, file: File, node: ast.AST) -> Refusal:
        return Refusal(kind, reason, file.path, node.lineno)

    def convert(self, file: File, call: ast.AST, path: str) -> None:
        """Adds the edits for a blocking call. Raises Refusal."""
        key = (file.path, *file.start(call), path)
        if key in self.converted:
            return
        self.converted.add(key)
        function = file.function_around(call)
        if function is None:
            raise self.refuse("module-level", f"`{path}` is called while the module is loaded", file, call)
        above = file.parents.get(call)
        if isinstance(above, (ast.For, ast.comprehension)) and above.iter is call and path.endswith(("__next__", "__iter__")):
            return self.convert_iterable(file, call, path)
        if not isinstance(call, ast.Call):
            raise self.refuse("no-call", f"`{path}` blocks without a call that is written here", file, call)
        self.check_awaitable(file, call, function)
        known = self.binary.twin(path)
        canonical = known["path"]
        twins = known["twins"].get(self.runtime, [])
        if canonical in OPENING:
            return self.convert_with_open(file, call)
        if (opened := self.opening_call(file, call)) is not None:
            return self.convert_with_open(file, opened)
        if twins and self.async_type_of(file, call):
            # The calls on the client are awaited, and its construction if it is async.
            return self.convert_maker(file, call) if isinstance(file.parents.get(call), ast.withitem) else self.convert_assigned(file, call, canonical)
        if twins and twins[0].rpartition(".")[0] == canonical.rpartition(".")[0] and self.too_old(twins[0], file):
            # A twin in the same class needs a newer version than the project has.
            twins = []
        twin = twins[0] if twins else ""
        parent, _, name = twin.rpartition(".")
        before, _, old = canonical.rpartition(".")
        # Some types have rows for their methods only, so a path that is spelled like a class counts as a type.
        is_method, is_method_then = (bool(of) and (is_class(of) or self.binary.twin(of)["type"]) for of in (before, parent))
        if known["lazy"] and not (is_method and is_method_then):
            raise self.refuse("lazy", f"`{path}` only builds: what consumes its result blocks", file, call)
        rewrite = known["rewrite"].get(self.runtime)
        if rewrite and rewrite.startswith("await "):
            return self.rewrite(file, call, rewrite)
        alike = top(twin) == top(canonical) or self.changes(canonical, twin) is not None and self.is_used(top(twin), file)
        moves = known["fix"] in ("offload", "none") and not (is_method and is_method_then)
        if not twins or moves or (is_method or is_method_then) and not alike:
            return self.move_to_thread(file, call, canonical, known)
        if before == parent and isinstance(call.func, ast.Attribute) and is_method:
            self.edits_of(file).renamed[span(file, call.func)] = name
            return self.await_call(file, call)
        if is_method_then and not is_method:
            return self.open_client(file, call, before, parent, name)
        if is_method and not is_method_then:
            return self.move_to_thread(file, call, canonical, known)
        if is_method and not isinstance(call.func, ast.Attribute):
            raise self.refuse("shape", f"`{path}` is called by another name here", file, call)
        if is_method:
            return self.convert_receiver(file, call, canonical)
        self.edits_of(file).replaced[span(file, call.func)] = self.spell(file, twin, call.func, True)
        self.await_call(file, call)

    def convert_assigned(self, file: File, call: ast.Call, path: str) -> None:
        """Converts a client that is created in an assignment to a name, with all uses of the name."""
        parent = file.parents.get(call)
        if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
            raise self.refuse("shape", f"`{path}` is made here, and no name holds it", file, call)
        self.convert_source(file, parent.targets[0], call)

    def convert_iterable(self, file: File, node: ast.AST, path: str) -> None:
        """Converts `for line in stream`: the stream becomes asynchronous where it is created."""
        for value_file, value in self.binding(file, node)[0] if isinstance(node, ast.Name) else []:
            if isinstance(value, ast.Call) and self.index.names.target(value_file, value.func) in OPENING:
                return self.convert_with_open(value_file, value)
        self.convert_source(file, node, node)
        if not self.is_converted(file, node):
            raise self.refuse("no-call", f"`{path}` blocks without a call that is written here", file, node)

    def await_call(self, file: File, call: ast.Call) -> None:
        self.edits_of(file).awaited.add(span(file, call))
        self.require_coroutine(file, call)

    def is_used(self, library: str, file: File) -> bool:
        """True if the part of the project imports a library or lists it as a requirement; an edit adds no requirements."""
        needs = self.index.needs
        part = needs.part(file.path)
        if (library, part) not in self.used:
            # Imports in tests do not count, because their libraries may be installed for developers only.
            sources_of_part = (source for path, source in self.index.sources() if needs.part(path) == part and not self.index.is_for_tests(path))
            imported = re.compile(rf"^[ \t]*(?:from[ \t]+|import[ \t](?:.*[ ,])?){re.escape(library)}\b".encode(), re.MULTILINE)
            imports = any(map(imported.search, sources_of_part))
            listed = re.compile(rf"(?<![\w-]){re.escape(library).replace('_', '[_-]')}(?![\w-])", re.IGNORECASE)
            self.used[library, part] = imports or any(listed.search(text) for text in needs.texts(file.path))
        return self.used[library, part]

    def require_coroutine(self, file: File, node: ast.AST) -> None:
        function = file.function_around(node)
        if function is None:
            raise self.refuse("module-level", "it is used while the module is loaded", file, node)
        self.touched.append((function, file.path, node.lineno))

    def spell(self, file: File, path: str, at: ast.AST, replaces: bool = False) -> str:
        return spell(self.index.names, file, path, self.edits_of(file), at, replaces)

    def check_awaitable(self, file: File, node: ast.AST, function: Function) -> None:
        """Refuses if an `await` is not possible at a node: in a lambda, or in a generator expression that another function consumes."""
        for above in file.up(node):
            if above is function.node:
                return
            if isinstance(above, ast.Lambda):
                raise self.refuse("lambda", "the call is in a lambda, which cannot await", file, node)
            if isinstance(above, ast.GeneratorExp):
                whole = file.parents.get(above)
                target = self.index.names.target(file, whole.func) if isinstance(whole, ast.Call) else None
                if target not in CHANGES["whole"] or len(whole.args) != 1:
                    raise self.refuse("generator-expression", "the call is in a generator expression, which runs elsewhere", file, node)
                self.edits_of(file).lists.add(file.start(above.elt))

    # --- by kind --------------------------------------------------------------------------------------

    def rewrite(self, file: File, call: ast.Call, template: str) -> None:
        """Replaces the call by the template of its model row, as in `await {receiver}.run()`."""
        def part(match):
            name = match.group(1)
            if name == "receiver" and isinstance(call.func, ast.Attribute):
                return ast.get_source_segment(file.source, call.func.value) or ""
            if name.isdigit() and int(name) < len(call.args):
                return ast.get_source_segment(file.source, call.args[int(name)]) or ""
            if "." in name:
                return self.spell(file, name, call)
            raise self.refuse("arguments", "its arguments do not fit the twin", file, call)

        if len(call.args) + len(call.keywords) > len(set(re.findall(r"\{(\d)\}", template))):
            raise self.refuse("arguments", "its arguments do not fit the twin", file, call)
        code = re.sub(r"\{([\w.]+)\}", part, template)
        self.edits_of(file).replaced[span(file, call)] = code
        self.require_coroutine(file, call)

    def move_to_thread(self, file: File, call: ast.Call, path: str, known: Dict) -> None:
        """Moves the call to a thread, because no twin can take its place."""
        if not known["known"]:
            raise self.refuse("no-twin", f"no model describes `{path}`, so it is not known if a thread may make the call", file, call)
        if known["effect"] in ("database", "wait", "nested-loop", "input") or known["fix"] == "none":
            raise self.refuse("no-twin", f"models name no async twin for `{path}`, and a {known['effect']} call alone does not move to a thread", file, call)
        if known["effect"] == "cpu":
            raise self.refuse("no-twin", f"`{path}` computes: there is no async twin", file, call)
        if known["type"]:
            raise self.refuse("no-twin", f"a `{path}` is made here, and belongs where it is used: make it once, at start-up", file, call)
        if isinstance(file.parents.get(call), ast.withitem):
            raise self.refuse("handle", f"what `{path}` opens is used and closed here as well: offload a function that does all of it", file, call)
        if (bound := self.unfixed.get((file.path, *file.start(call))) or self.index.names.bound(file, call)) is not None:
            raise Refusal("bound", bound["reason"], bound.get("filename", file.path), bound.get("location", {}).get("row", call.lineno))
        for inner in ast.walk(call):
            # A blocking call in the receiver or an argument still runs before the thread, so it is converted too.
            name = getattr(inner.func, "attr", getattr(inner.func, "id", "")) if isinstance(inner, ast.Call) and inner is not call else ""
            if name and (cause := self.causes.get((file.path, *file.start(inner), name))) is not None and file.end(inner) <= file.end(call):
                self.convert(file, inner, cause)
        to, keywords = THREADS[self.runtime]
        if self.runtime == "asyncio" and self.uses_run_in_threadpool(file) and not uses_to_thread(file):
            to = "starlette.concurrency.run_in_threadpool"
        partial = "" if keywords or not call.keywords else self.spell(file, "functools.partial", call)
        self.edits_of(file).threads[span(file, call)] = (self.spell(file, to, call), partial)
        self.await_call(file, call)

    @staticmethod
    def uses_run_in_threadpool(file: File) -> bool:
        return "starlette.concurrency.run_in_threadpool" in file.imports.values()

    def open_client(self, file: File, call: ast.Call, library: str, client: str, method: str) -> None:
        """Opens an async client around the statement of a call such as `requests.get(…)`."""
        statement = next((above for above in file.up(call) if isinstance(above, ast.stmt)), None)
        simple = isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return, ast.AugAssign))
        if not simple or any(isinstance(above, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)) for above in file.up(call) if above is not statement and not isinstance(above, ast.stmt)):
            raise self.refuse("shape", "the call stands where no client can be opened around it", file, call)
        if any(keyword.arg is None for keyword in call.keywords):
            raise self.refuse("arguments", "what `**` passes is not known", file, call)
        old = self.binary.twin(f"{library}.{method}")["returns"]
        new = self.binary.twin(f"{client}.{method}")["returns"]
        changes = CHANGES.get(f"{library.split('.')[0]}>{client.split('.')[0]}", {})
        self.rename_keywords(file, call, changes)
        if old and new and old != new:
            self.convert_uses_of_value(file, call, old, new, (self.changes(old, new) or {}).get("attributes"))
        function = file.function_around(call)
        used = {node.id for node in ast.walk(function.node) if isinstance(node, ast.Name)}
        name = next(name for name in ["client", "http_client", "async_client", "client_"] if name not in used)
        edits = self.edits_of(file)
        more = {**changes.get("add", {}), **self.shared_argument(file, call, changes)}
        arguments = ", ".join(f"{key}={value}" for key, value in more.items() if not any(k.arg and changes.get("arguments", {}).get(k.arg) == key for k in call.keywords))
        edits.wraps[span(file, call)] = Wrap(f"{self.spell(file, client, call)}({arguments})", name)
        edits.replaced[span(file, call.func)] = f"{name}.{method}"
        mark_import_unused(file, call.func, edits)
        self.convert_handlers(file, function, changes)
        self.await_call(file, call)

    def rename_keywords(self, file: File, call: ast.Call, changes: Dict) -> None:
        allowed = changes.get("arguments")
        if allowed is None:
            return
        if len(call.args) > 1:
            raise self.refuse("arguments", "more than one argument is given by position, and the twin's order differs", file, call)
        for keyword in call.keywords:
            if keyword.arg not in allowed:
                raise self.refuse("arguments", f"the twin has no argument `{keyword.arg or '**'}`", file, call)
        names = {keyword.arg: allowed[keyword.arg] for keyword in call.keywords if allowed[keyword.arg] != keyword.arg}
        if names:
            self.edits_of(file).arguments[span(file, call)] = (names, {})

    def convert_handlers(self, file: File, function: Function, changes: Dict) -> None:
        """Replaces caught exceptions of the old library by those of the twin."""
        if changes.get("errors"):
            self.raising.update(changes["errors"])
        for node in own_nodes(function.node):
            if not isinstance(node, ast.ExceptHandler) or node.type is None:
                continue
            for one in node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]:
                target = self.index.names.target(file, one)
                if isinstance(target, str) and target in changes.get("errors", {}):
                    new = changes["errors"][target]
                    self.edits_of(file).replaced[span(file, one)] = self.spell(file, new, one, True)
                elif isinstance(target, str) and changes.get("errors") and target.split(".")[0] == next(iter(changes["errors"])).split(".")[0]:
                    raise self.refuse("errors", f"`{target}` is caught, which the twin does not raise", file, one)


def uses_to_thread(file: File) -> bool:
    """True if a file uses `asyncio.to_thread` already."""
    return "asyncio.to_thread" in file.source
