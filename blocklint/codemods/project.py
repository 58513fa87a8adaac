"""A project under a codemod: its findings, edits to it, and the proof on a copy that they mend it."""

from __future__ import annotations

import ast
import os
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

from .binary import Binary
from .chain import Chain
from .edits import Edits, applied, parse_problem
from .hops import Hops, only_hops
from .index import File, Function, Index
from .leaf import Leaves
from .refusal import Refusal
from .shared import Change, changed_below, done_too_early
from .spelling import span

Finding = Dict[str, Any]
# Start, end and the text between them from now on.
TextEdit = Tuple[Tuple[int, int], Tuple[int, int], str]

# Refusals that say that no await can take the place of a call; the others say who could not await.
NOTHING_TO_AWAIT = ("no-twin", "no-library", "handle", "file", "no-file-library", "lazy", "no-call")


@dataclass
class Mended:
    """New texts of files, and what a reader should look at."""

    texts: Dict[str, str]
    notes: List[str] = field(default_factory=list)
    coroutines: Set[Tuple[str, str]] = field(default_factory=set)
    # Files in which a function of a library became a client for each call.
    per_call: Set[str] = field(default_factory=set)
    # Set where nothing is awaited but threads.
    hops: Optional[Hops] = None


class Project:
    def __init__(self, root: str, binary: Optional[Binary] = None) -> None:
        self.root = os.path.realpath(root)
        self.binary = binary or Binary()
        # It reads the project while the findings are looked for.
        self.index = Index(self.root, self.binary.path)
        self.findings = self.binary.findings(self.root)
        self.shown = self.binary.shown(self.root)
        for one in self.findings:
            # How a usual run mends it: one that shows more has more findings beside it, by which edits are chosen.
            if one["fingerprint"] in self.shown:
                one["fix"], one["no_fix"] = self.shown[one["fingerprint"]]
        self.index.names.begin()
        self.causes = causes_of(self.findings)
        # A call that a usual run does not report stays as it is where nothing else needs it.
        self.usual = causes_of([one for one in self.findings if one["fingerprint"] in self.shown])
        self.unfixed = {place(one["trace"][0]): one["no_fix"] for one in self.findings if len(one["trace"]) == 1 and one["no_fix"]}

    def close(self) -> None:
        self.index.names.close()

    def mendable(self) -> List[Finding]:
        """Returns the findings of a usual run that are of calls on a loop."""
        return [one for one in self.findings if one["fingerprint"] in self.shown and one["context"] == "event-loop" and one["trace"]]

    def runtime(self, finding: Finding) -> str:
        """Returns the runtime of the coroutine: what runs its calls in a thread tells, else its file's imports."""
        said = (finding["fix"] or {}).get("message", "")
        if "trio." in said or "anyio." in said:
            return "trio" if "trio." in said else "anyio"
        heads = {path.split(".")[0] for path in self.index.file(finding["filename"]).imports.values()}
        return "trio" if "trio" in heads and "asyncio" not in heads else "asyncio"

    # --- asyncify -------------------------------------------------------------------------------------

    def asyncify(self, finding: Finding, public: bool = False) -> Mended:
        """Returns the edits that make the finding's call an awaited one; where nothing takes its place, its helper is run in a thread.

        Raises Refusal.
        """
        try:
            mended = self._asyncify(finding, public)
            return self._at_once(finding, mended) if mended.hops and len(finding["trace"]) > 1 else mended
        except Refusal as refusal:
            if refusal.kind not in NOTHING_TO_AWAIT or len(finding["trace"]) < 2:
                raise
            said = finding["no_fix"]
            if said and "filename" in said:
                # The code that no thread may run stands below the helper.
                reason = f"{refusal.reason}; and no thread can run `{finding['trace'][1]['function']}` as it is: {said['reason']}"
                raise Refusal("bound", reason, said["filename"], said["location"]["row"]) from None
            if not finding["fix"]:
                raise
            try:
                mended = self.offload(finding)
            except Refusal:
                raise refusal from None
            helper = finding["trace"][1]["function"]
            if (told := next(self._meets(finding), None)) is not None:
                function, node, name = told
                reason = f"{refusal.reason}; and a thread cannot run `{helper}` as it is, for `{function}` changes `{name}`, which the loop or another thread may do at once"
                raise Refusal("shared-state", reason, function.file.path, node.lineno) from None
            mended.notes.append(f"{refusal.path}:{refusal.line}: `{helper}` is run in a thread, for {refusal.reason}")
            return mended

    def _at_once(self, finding: Finding, mended: Mended) -> Mended:
        """Of edits that only enter threads: one thread for the first helper where they would do so again and again, and one may run it as it is."""
        said, again = finding["no_fix"], mended.hops.again
        if said and "filename" not in said:
            # It is said of the call itself, which gains by no thread wherever that is entered.
            last = finding["trace"][-1]
            raise Refusal("bound", said["reason"], last["filename"], last["location"]["row"])
        if again is None or not finding["fix"] or next(self._meets(finding), None) is not None:
            return mended
        try:
            whole = self.offload(finding)
            self.prove(finding, whole)
        except Refusal:
            return mended
        helper = finding["trace"][1]["function"]
        whole.notes.append(f"{again.file.path}:{mended.hops.line}: `{helper}` is run in a thread as a whole, for nothing in it has a twin, and each call would enter one")
        return whole

    def _meets(self, finding: Finding) -> Iterator[Change]:
        """Yields the changes that the first helper of a trace, and its callees, make besides their own variables."""
        helper = self._helper(finding)
        return changed_below(self.index, helper) if helper else iter(())

    def otherwise(self, finding: Finding) -> str:
        """Returns the command that mends a finding that asyncify refuses; nothing, if none is known to."""
        if not finding["fix"]:
            return ""
        if len(finding["trace"]) < 2:
            return "`blocklint check --fix --unsafe-fixes` mends it"
        try:
            self.prove(finding, self.offload(finding))
        except Refusal:
            return ""
        return "`blocklint codemod offload` mends it"

    def _asyncify(self, finding: Finding, public: bool) -> Mended:
        edits: Dict[str, Edits] = {}
        runtime = self.runtime(finding)
        leaves = Leaves(self.index, self.binary, edits, runtime, self.causes)
        leaves.unfixed = self.unfixed
        chain = Chain(self.index, edits, leaves, public)
        for step in finding["trace"]:
            self.index.file(step["filename"], step["location"]["row"])
        self._leaf(leaves, finding["trace"][-1])
        for cause in finding["causes"]:
            # The others of the same coroutine: it is free only without all of them.
            self._leaf(leaves, cause)
        chain.settle()
        self._besides(leaves, chain)
        for file, call in chain.calls:
            # A caller that catches the old library's errors would catch nothing.
            for above in file.up(call):
                for handler in above.handlers if isinstance(above, ast.Try) else []:
                    for one in ast.walk(handler.type) if handler.type else []:
                        if isinstance(one, (ast.Name, ast.Attribute)) and self.index.names.target(file, one) in leaves.raising and span(file, one) not in edits.get(file.path, Edits()).replaced:
                            raise Refusal("errors", f"`{ast.unparse(one)}` is caught here, which the twin does not raise", file.path, one.lineno)
        self._in_order(edits)
        return self._made(edits, chain)

    def _in_order(self, edits: Dict[str, Edits]) -> None:
        """Refuses where a task would see something done for which another one still waits."""
        for path, one in edits.items():
            for function in self.index.file(path).functions if one else []:
                if (early := done_too_early(function, one)) is not None:
                    node, name = early
                    reason = f"`{function}` looks at `{name}`, and sets it before what it waits for from now on: another task would go on too early"
                    raise Refusal("interleaves", reason, path, node.lineno)

    def _leaf(self, leaves: Leaves, step: Dict[str, Any]) -> None:
        file = self.index.file(step["filename"], step["location"]["row"])
        node = self._node(file, step)
        if node is None:
            raise Refusal("unreadable", "what is called is not written here", step["filename"], step["location"]["row"])
        leaves.convert(file, node, step["call"])

    @staticmethod
    def _node(file: File, step: Dict[str, Any]) -> Optional[ast.AST]:
        start = (step["location"]["row"], step["location"]["column"] - 1)
        end = step.get("end_location")
        last = step["call"].rpartition(".")[2]
        found = []
        for node in ast.walk(file.tree):
            if isinstance(node, ast.expr) and file.start(node) == start:
                above = file.parents.get(node)
                if last in ("__next__", "__iter__") and isinstance(above, (ast.For, ast.comprehension)) and above.iter is node:
                    return node
                if end and file.end(node) == (end["row"], end["column"] - 1):
                    return node
                if not end and isinstance(node, ast.Call):
                    found.append(node)
        named = [one for one in found if getattr(one.func, "attr", getattr(one.func, "id", "")) == last]
        return next(iter(named or found[-1:]), None)

    def _besides(self, leaves: Leaves, chain: Chain) -> None:
        """Other blocking calls in functions that are coroutines now: what can be mended without more is mended as well."""
        changed = {one.file.path for one in chain.made}
        for key, path in list(self.usual.items()):
            function = self.index.at(key[0], key[1]) if key[0] in changed else None
            if function not in chain.made:
                continue
            file = self.index.file(key[0])
            node = next((one for one in ast.walk(function.node) if isinstance(one, ast.Call) and file.start(one) == key[1:3] and getattr(one.func, "attr", getattr(one.func, "id", "")) == key[3]), None)
            if node is None or (key[0], *key[1:3], path) in leaves.converted:
                continue
            # On copies: half of a call's edits are none.
            edits = {name: copied(one) for name, one in leaves.edits.items()}
            trial = Leaves(self.index, self.binary, edits, leaves.runtime, self.causes)
            trial.converted = set(leaves.converted)
            trial.unfixed = self.unfixed
            try:
                trial.convert(file, node, path)
                if any(one not in chain.made and not one.is_async for one, _, _ in trial.touched):
                    raise Refusal("more", "other functions would have to change")
            except Refusal as refusal:
                chain.notes.append(f"{key[0]}:{key[1]}: `{path}` still blocks: {refusal.reason}")
                continue
            leaves.edits.clear()
            leaves.edits.update(edits)
            leaves.converted = trial.converted
            leaves.raising |= trial.raising

    def _made(self, edits: Dict[str, Edits], chain: Chain) -> Mended:
        texts = self._texts(edits)
        return Mended(texts, chain.notes, {(one.file.path, one.name) for one in chain.made}, {path for path, one in edits.items() if one.wraps}, only_hops(self.index, edits, chain.made))

    def _texts(self, edits: Dict[str, Edits]) -> Dict[str, str]:
        texts = {}
        for path, one in edits.items():
            if one:
                texts[path] = applied(self.index.file(path).source, one, self.index.names)
        return texts

    # --- offload --------------------------------------------------------------------------------------

    def offload(self, finding: Finding) -> Mended:
        """Runs the first helper of the trace in a thread wherever a coroutine calls it, by the edits of `blocklint check --fix`.

        Raises Refusal.
        """
        first = finding["trace"][0]
        if finding["no_fix"]:
            said = finding["no_fix"]
            raise Refusal("bound", said["reason"], said.get("filename", first["filename"]), said.get("location", first["location"])["row"])
        if not finding["fix"]:
            raise Refusal("no-call", "there is no call here that could run in a thread", first["filename"], first["location"]["row"])
        helper = self._helper(finding)
        alike = [one for one in self.findings if one["fix"] and one["context"] == "event-loop" and self._helper(one) is helper] if helper else []
        edits: Dict[str, Set[TextEdit]] = {}
        for one in [finding, *alike]:
            for edit in one["fix"]["edits"]:
                if self.index.holds(edit["filename"]):
                    edits.setdefault(edit["filename"], set()).add((at(edit["location"]), at(edit["end_location"]), edit["content"]))
        changed = changed_below(self.index, helper) if helper else []
        notes = [f"{function.file.path}:{node.lineno}: `{function}` changes `{name}`, now from a thread" for function, node, name in changed]
        return Mended({path: replaced(self.index.file(path).source, of_file) for path, of_file in edits.items()}, notes)

    def _helper(self, finding: Finding) -> Optional[Function]:
        """Returns the function of the project that the coroutine calls."""
        steps = finding["trace"][1:2]
        return self.index.at(steps[0]["filename"], steps[0]["location"]["row"]) if steps else None

    # --- proof ----------------------------------------------------------------------------------------

    def prove(self, finding: Finding, mended: Mended, gone: bool = True) -> None:
        """Analyses a copy with the edits. Raises Refusal unless the finding is gone and nothing came."""
        for path, text in mended.texts.items():
            if problem := parse_problem(text):
                raise Refusal("breaks", f"the edit does not parse: {problem}", path, 1)
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(os.path.realpath(folder), os.path.basename(self.root) or "project")
            shutil.copytree(self.root, copy, ignore=shutil.ignore_patterns(".git", ".venv", "venv", "node_modules", "__pycache__", "*.pyc"), ignore_dangling_symlinks=True)
            for path, text in mended.texts.items():
                with open(os.path.join(copy, os.path.relpath(path, self.root)), "w", encoding="utf-8", newline="") as stream:
                    stream.write(text)
            after = self.binary.findings(copy)
            usual = self.binary.shown(copy)
            if mended.coroutines:
                self._all_awaited(Index(copy, self.binary.path), mended)
        before = [one for one in self.findings if one["context"] == "event-loop"]
        now = [one for one in after if one["context"] == "event-loop"]
        key = lambda one: (one["function"], one["code"], cause(one))  # noqa: E731
        target = key(finding)
        if gone and Counter(map(key, now))[target] >= Counter(map(key, before))[target]:
            raise Refusal("not-gone", "the finding would still be there", finding["filename"], finding["location"]["row"])
        known = {cause(one) for one in before}
        serious = [one for one in now if one["fingerprint"] in usual and cause(one) not in known]
        others = {(one["code"], one["function"]) for one in self.findings if one["context"] != "event-loop"}
        serious += [one for one in after if one["context"] != "event-loop" and one["code"] in ("BLT601", "BLT107", "BLT502", "BLT201") and one["fingerprint"] in usual and (one["code"], one["function"]) not in others]
        # `requests.get` makes a client for each call as well, though nobody sees it: that is told, and not new.
        before_files = {os.path.join(copy, os.path.relpath(path, self.root)) for path in mended.per_call}
        for one in [one for one in serious if one["code"] == "BLT502" and one["filename"] in before_files or one["code"] == "BLT502" and any(step["filename"] in before_files for step in one["trace"])]:
            serious.remove(one)
            mended.notes.append(f"{os.path.join(self.root, os.path.relpath(one['filename'], copy))}:{one['location']['row']}: a client for each call, as before; one for all would be faster")
        if serious:
            one = serious[0]
            raise Refusal("new-finding", f"the edit would bring another finding: {one['message']}", finding["filename"], finding["location"]["row"])

    def _all_awaited(self, index: Index, mended: Mended) -> None:
        """Refuses where a call of a function that is a coroutine function now is not awaited, run or iterated over."""
        try:
            index.names.begin()
            for path, name in mended.coroutines:
                there = index.file(os.path.join(index.root, os.path.relpath(path, self.root)))
                for function in [one for one in there.functions if one.name == name and one.is_async]:
                    for use in index.names.uses(function).uses:
                        call = use.file.parents.get(use.node)
                        if use.means != "family" or not isinstance(call, ast.Call) or call.func is not use.node:
                            continue
                        if not isinstance(use.file.parents.get(call), (ast.Await, ast.AsyncFor, ast.comprehension, ast.withitem, ast.Call)):
                            raise Refusal("not-awaited", f"`{name}` would not be awaited here", os.path.join(self.root, os.path.relpath(use.file.path, index.root)), use.node.lineno)
        finally:
            index.names.close()


def causes_of(findings: List[Finding]) -> Dict[Tuple, str]:
    """Returns what the traces say: which call enters which library path."""
    causes = {}
    for finding in findings:
        # A call that only makes a client holds nothing; it changes with what is called on it.
        for one in [*finding["causes"], *finding["trace"][-1:]] if finding["effect"] else []:
            causes[(*place(one), one["call"].rpartition(".")[2])] = one["call"]
    return causes


def at(location: Dict[str, int]) -> Tuple[int, int]:
    return location["row"], location["column"]


def replaced(source: str, edits: Set[TextEdit]) -> str:
    """Returns the text with the edits made; rows and columns count characters from 1."""
    starts = [0]
    for line in source.split("\n"):
        starts.append(starts[-1] + len(line) + 1)

    def offset(place: Tuple[int, int]) -> int:
        return starts[place[0] - 1] + place[1] - 1

    for start, end, content in sorted(edits, reverse=True):
        source = source[: offset(start)] + content + source[offset(end) :]
    return source


def copied(edits: Edits) -> Edits:
    return Edits(**{name: value.copy() for name, value in vars(edits).items()})


def place(step: Dict[str, Any]) -> Tuple[str, int, int]:
    return step["filename"], step["location"]["row"], step["location"]["column"] - 1


def cause(finding: Finding) -> Tuple[str, str]:
    """Returns the function and the library call that hold the thread: what an edit elsewhere does not change."""
    last = finding["trace"][-1] if finding["trace"] else finding
    return last["function"], last.get("call", "")
