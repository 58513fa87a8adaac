"""The blocking call at the end of a trace becomes its async twin, as models name it."""

from __future__ import annotations

import ast
import re
from typing import Dict, List, Set, Tuple

from .binary import Binary
from .edits import Edits, Wrap
from .files import OPENING, Files
from .index import File, Function, Index, own_nodes
from .refusal import Refusal
from .spelling import CHANGES, is_class, leave, span, spelled, top
from .values import Values

# How each runtime runs a call in a thread, and whether keywords are passed on.
THREADS = {
    "asyncio": ("asyncio.to_thread", True),
    "anyio": ("anyio.to_thread.run_sync", False),
    "trio": ("trio.to_thread.run_sync", False),
}


class Leaves(Values, Files):
    def __init__(self, index: Index, binary: Binary, edits: Dict[str, Edits], runtime: str, causes: Dict[Tuple, str]) -> None:
        self.index, self.binary, self.edits, self.runtime, self.causes = index, binary, edits, runtime, causes
        # Calls of which blocklint says why no thread may make them.
        self.unfixed: Dict[Tuple, Dict] = {}
        self.used: Dict[Tuple[str, str], bool] = {}
        # Exceptions that are raised no more.
        self.raising: Set[str] = set()
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
        function = file.around(call)
        if function is None:
            raise self.refuse("module-level", f"`{path}` is called while the module is loaded", file, call)
        above = file.parents.get(call)
        if isinstance(above, (ast.For, ast.comprehension)) and above.iter is call and path.endswith(("__next__", "__iter__")):
            return self.iterated_over(file, call, path)
        if not isinstance(call, ast.Call):
            raise self.refuse("no-call", f"`{path}` blocks without a call that is written here", file, call)
        self.inside(file, call, function)
        known = self.binary.twin(path)
        canonical = known["path"]
        twins = known["twins"].get(self.runtime, [])
        if canonical in OPENING:
            return self.file_block(file, call)
        if (opened := self.opened(file, call)) is not None:
            return self.file_block(file, opened)
        if twins and self.makes(file, call):
            # Making it may be awaited; what is called on it is.
            return self.maker(file, call) if isinstance(file.parents.get(call), ast.withitem) else self.held(file, call, canonical)
        if twins and twins[0].rpartition(".")[0] == canonical.rpartition(".")[0] and self.too_old(twins[0], file):
            # Another method of the same object; of what is made anew its maker asks.
            twins = []
        twin = twins[0] if twins else ""
        parent, _, name = twin.rpartition(".")
        before, _, old = canonical.rpartition(".")
        # Models have no row of their own for some types of which they say what methods do.
        is_method, is_method_then = (bool(of) and (is_class(of) or self.binary.twin(of)["type"]) for of in (before, parent))
        if known["lazy"] and not (is_method and is_method_then):
            raise self.refuse("lazy", f"`{path}` only builds: what consumes its result blocks", file, call)
        rewrite = known["rewrite"].get(self.runtime)
        if rewrite and rewrite.startswith("await "):
            return self.rewrite(file, call, rewrite)
        alike = top(twin) == top(canonical) or self.changes(canonical, twin) is not None and self.is_used(top(twin), file)
        moves = known["fix"] in ("offload", "none") and not (is_method and is_method_then)
        if not twins or moves or (is_method or is_method_then) and not alike:
            return self.thread(file, call, canonical, known)
        if before == parent and isinstance(call.func, ast.Attribute) and is_method:
            self.of(file).renamed[span(file, call.func)] = name
            return self.awaited(file, call)
        if is_method_then and not is_method:
            return self.wrapped(file, call, before, parent, name)
        if is_method and not is_method_then:
            return self.thread(file, call, canonical, known)
        if is_method and not isinstance(call.func, ast.Attribute):
            raise self.refuse("shape", f"`{path}` is called by another name here", file, call)
        if is_method:
            return self.receiver(file, call, canonical)
        self.of(file).replaced[span(file, call.func)] = self.spelled(file, twin, call.func, True)
        self.awaited(file, call)

    def held(self, file: File, call: ast.Call, path: str) -> None:
        """A client that is made where a name holds it."""
        parent = file.parents.get(call)
        if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
            raise self.refuse("shape", f"`{path}` is made here, and no name holds it", file, call)
        self.root(file, parent.targets[0], call)

    def iterated_over(self, file: File, node: ast.AST, path: str) -> None:
        """`for line in stream`: what is iterated over becomes asynchronous where it is made."""
        for value_file, value in self.binding(file, node)[0] if isinstance(node, ast.Name) else []:
            if isinstance(value, ast.Call) and self.index.names.target(value_file, value.func) in OPENING:
                return self.file_block(value_file, value)
        self.root(file, node, node)
        if not self.reached(file, node):
            raise self.refuse("no-call", f"`{path}` blocks without a call that is written here", file, node)

    def awaited(self, file: File, call: ast.Call) -> None:
        self.of(file).awaited.add(span(file, call))
        self.need(file, call)

    def is_used(self, library: str, file: File) -> bool:
        """True if the part of the project imports a library or names it among those it needs: an edit adds none."""
        needs = self.index.needs
        part = needs.part(file.path)
        if (library, part) not in self.used:
            # A library that only tests import is there for developers.
            of_part = (source for path, source in self.index.sources() if needs.part(path) == part and not self.index.is_for_tests(path))
            imported = re.compile(rf"^[ \t]*(?:from[ \t]+|import[ \t](?:.*[ ,])?){re.escape(library)}\b".encode(), re.MULTILINE)
            imports = any(map(imported.search, of_part))
            named = re.compile(rf"(?<![\w-]){re.escape(library).replace('_', '[_-]')}(?![\w-])", re.IGNORECASE)
            self.used[library, part] = imports or any(named.search(text) for text in needs.texts(file.path))
        return self.used[library, part]

    def need(self, file: File, node: ast.AST) -> None:
        function = file.around(node)
        if function is None:
            raise self.refuse("module-level", "it is used while the module is loaded", file, node)
        self.touched.append((function, file.path, node.lineno))

    def spelled(self, file: File, path: str, at: ast.AST, replaces: bool = False) -> str:
        return spelled(self.index.names, file, path, self.of(file), at, replaces)

    def inside(self, file: File, node: ast.AST, function: Function) -> None:
        """Refuses what cannot be awaited where it stands."""
        for above in file.up(node):
            if above is function.node:
                return
            if isinstance(above, ast.Lambda):
                raise self.refuse("lambda", "it stands in a lambda, which cannot await", file, node)
            if isinstance(above, ast.GeneratorExp):
                whole = file.parents.get(above)
                target = self.index.names.target(file, whole.func) if isinstance(whole, ast.Call) else None
                if target not in CHANGES["whole"] or len(whole.args) != 1:
                    raise self.refuse("generator-expression", "it stands in a generator expression, which runs elsewhere", file, node)
                self.of(file).lists.add(file.start(above.elt))

    # --- by kind --------------------------------------------------------------------------------------

    def rewrite(self, file: File, call: ast.Call, template: str) -> None:
        """`await {receiver}.run()`: the text in place of the call."""
        def part(match):
            name = match.group(1)
            if name == "receiver" and isinstance(call.func, ast.Attribute):
                return ast.get_source_segment(file.source, call.func.value) or ""
            if name.isdigit() and int(name) < len(call.args):
                return ast.get_source_segment(file.source, call.args[int(name)]) or ""
            if "." in name:
                return self.spelled(file, name, call)
            raise self.refuse("arguments", "its arguments do not fit the twin", file, call)

        if len(call.args) + len(call.keywords) > len(set(re.findall(r"\{(\d)\}", template))):
            raise self.refuse("arguments", "its arguments do not fit the twin", file, call)
        code = re.sub(r"\{([\w.]+)\}", part, template)
        self.of(file).replaced[span(file, call)] = code
        self.need(file, call)

    def thread(self, file: File, call: ast.Call, path: str, known: Dict) -> None:
        """No twin that takes its place: the call alone moves to a thread."""
        if not known["known"]:
            raise self.refuse("no-twin", f"models say nothing of `{path}` itself, and so not whether a thread may make the call", file, call)
        if known["effect"] in ("database", "wait", "nested-loop", "input") or known["fix"] == "none":
            raise self.refuse("no-twin", f"models name no async twin for `{path}`, and a {known['effect']} call alone does not move to a thread", file, call)
        if known["effect"] == "cpu":
            raise self.refuse("no-twin", f"`{path}` computes: there is no async twin", file, call)
        if known["type"]:
            raise self.refuse("no-twin", f"a `{path}` is made here, and belongs where it is used: make it once, at start-up", file, call)
        if isinstance(file.parents.get(call), ast.withitem):
            raise self.refuse("handle", f"what `{path}` opens is used and closed here as well: offload a function that does all of it", file, call)
        if (said := self.unfixed.get((file.path, *file.start(call))) or self.index.names.bound(file, call)) is not None:
            raise Refusal("bound", said["reason"], said.get("filename", file.path), said.get("location", {}).get("row", call.lineno))
        for inner in ast.walk(call):
            # A call that gives the receiver or an argument still runs here, before the thread.
            name = getattr(inner.func, "attr", getattr(inner.func, "id", "")) if isinstance(inner, ast.Call) and inner is not call else ""
            if name and (cause := self.causes.get((file.path, *file.start(inner), name))) is not None and file.end(inner) <= file.end(call):
                self.convert(file, inner, cause)
        to, keywords = THREADS[self.runtime]
        if self.runtime == "asyncio" and self.starlette(file) and not hands_over(file):
            to = "starlette.concurrency.run_in_threadpool"
        partial = "" if keywords or not call.keywords else self.spelled(file, "functools.partial", call)
        self.of(file).threads[span(file, call)] = (self.spelled(file, to, call), partial)
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
        self.keywords(file, call, changes)
        if old and new and old != new:
            self.walk(file, call, old, new, (self.changes(old, new) or {}).get("attributes"))
        function = file.around(call)
        used = {node.id for node in ast.walk(function.node) if isinstance(node, ast.Name)}
        name = next(name for name in ["client", "http_client", "async_client", "client_"] if name not in used)
        edits = self.of(file)
        more = {**changes.get("add", {}), **self.once(file, call, changes)}
        arguments = ", ".join(f"{key}={value}" for key, value in more.items() if not any(k.arg and changes.get("arguments", {}).get(k.arg) == key for k in call.keywords))
        edits.wraps[span(file, call)] = Wrap(f"{self.spelled(file, client, call)}({arguments})", name)
        edits.replaced[span(file, call.func)] = f"{name}.{method}"
        leave(file, call.func, edits)
        self.errors(file, function, changes)
        self.awaited(file, call)

    def keywords(self, file: File, call: ast.Call, changes: Dict) -> None:
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
            self.of(file).arguments[span(file, call)] = (names, {})

    def errors(self, file: File, function: Function, changes: Dict) -> None:
        """Exceptions that are caught around the call are those of the twin from now on."""
        if changes.get("errors"):
            self.raising.update(changes["errors"])
        for node in own_nodes(function.node):
            if not isinstance(node, ast.ExceptHandler) or node.type is None:
                continue
            for one in node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]:
                target = self.index.names.target(file, one)
                if isinstance(target, str) and target in changes.get("errors", {}):
                    new = changes["errors"][target]
                    self.of(file).replaced[span(file, one)] = self.spelled(file, new, one, True)
                elif isinstance(target, str) and changes.get("errors") and target.split(".")[0] == next(iter(changes["errors"])).split(".")[0]:
                    raise self.refuse("errors", f"`{target}` is caught, which the twin does not raise", file, one)


def hands_over(file: File) -> bool:
    """True if a file runs calls in threads by what asyncio has for it, as it would go on doing."""
    return "asyncio.to_thread" in file.source
