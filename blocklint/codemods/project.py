"""A project that a codemod edits: its findings, the edits for each, and the proof on a copy that they fix it."""

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
from .edits import Edits, apply_edits, parse_problem
from .hops import Hops, find_only_hops
from .index import File, Function, Index
from .leaf import Leaves
from .refusal import Refusal
from .shared import Change, find_changes_below, find_early_flag
from .spelling import span

Finding = Dict[str, Any]
# The start and end of the replaced text, and its replacement.
TextEdit = Tuple[Tuple[int, int], Tuple[int, int], str]

# Kinds of refusals for calls that no `await` can replace; the other kinds are about functions that cannot await.
NOTHING_TO_AWAIT = ("no-twin", "no-library", "handle", "file", "no-file-library", "lazy", "no-call")


@dataclass
class FixResult:
    """The result of a codemod: new texts of files, and notes for the reviewer."""

    texts: Dict[str, str]
    notes: List[str] = field(default_factory=list)
    coroutines: Set[Tuple[str, str]] = field(default_factory=set)
    # Files in which a library function was replaced by a client for each call.
    per_call: Set[str] = field(default_factory=set)
    # Set if all new awaits only enter threads.
    hops: Optional[Hops] = None


class Project:
    def __init__(self, root: str, binary: Optional[Binary] = None) -> None:
        self.root = os.path.realpath(root)
        self.binary = binary or Binary()
        # `blocklint ask` reads the project while `blocklint check` runs.
        self.index = Index(self.root, self.binary.path)
        self.findings = self.binary.findings(self.root)
        self.shown = self.binary.fixes_of_usual_run(self.root)
        for one in self.findings:
            # Fixes depend on the other shown findings, so those of a usual run are used.
            if one["fingerprint"] in self.shown:
                one["fix"], one["no_fix"] = self.shown[one["fingerprint"]]
        self.index.names.begin()
        self.causes = causes_of(self.findings)
        # The causes of a usual run; other causes are converted only if a finding needs it.
        self.usual = causes_of([one for one in self.findings if one["fingerprint"] in self.shown])
        self.unfixed = {location_key(one["trace"][0]): one["no_fix"] for one in self.findings if len(one["trace"]) == 1 and one["no_fix"]}

    def close(self) -> None:
        self.index.names.close()

    def fixable_findings(self) -> List[Finding]:
        """Returns the findings of a usual run about calls on an event loop."""
        return [one for one in self.findings if one["fingerprint"] in self.shown and one["context"] == "event-loop" and one["trace"]]

    def runtime(self, finding: Finding) -> str:
        """Returns the runtime of the coroutine: that of the thread function in its fix, else that of its file's imports."""
        message = (finding["fix"] or {}).get("message", "")
        if "trio." in message or "anyio." in message:
            return "trio" if "trio." in message else "anyio"
        heads = {path.split(".")[0] for path in self.index.file(finding["filename"]).imports.values()}
        return "trio" if "trio" in heads and "asyncio" not in heads else "asyncio"

    # --- asyncify -------------------------------------------------------------------------------------

    def asyncify(self, finding: Finding, public: bool = False) -> FixResult:
        """Returns the edits that make the blocking call awaited. If no `await` can replace the call, its helper runs in a thread.

        Raises Refusal.
        """
        try:
            result = self._asyncify(finding, public)
            return self._prefer_one_thread(finding, result) if result.hops and len(finding["trace"]) > 1 else result
        except Refusal as refusal:
            if refusal.kind not in NOTHING_TO_AWAIT or len(finding["trace"]) < 2:
                raise
            no_fix = finding["no_fix"]
            if no_fix and "filename" in no_fix:
                # The code that no thread may run is in a callee of the helper.
                reason = f"{refusal.reason}; and no thread can run `{finding['trace'][1]['function']}` as it is: {no_fix['reason']}"
                raise Refusal("bound", reason, no_fix["filename"], no_fix["location"]["row"]) from None
            if not finding["fix"]:
                raise
            try:
                result = self.offload(finding)
            except Refusal:
                raise refusal from None
            helper = finding["trace"][1]["function"]
            if (change := next(self._shared_changes(finding), None)) is not None:
                function, node, name = change
                reason = f"{refusal.reason}; and a thread cannot run `{helper}` as it is, for `{function}` changes `{name}`, which the loop or another thread may do at once"
                raise Refusal("shared-state", reason, function.file.path, node.lineno) from None
            result.notes.append(f"{refusal.path}:{refusal.line}: `{helper}` is run in a thread, for {refusal.reason}")
            return result

    def _prefer_one_thread(self, finding: Finding, result: FixResult) -> FixResult:
        """Returns edits that run the first helper in one thread, if the given ones would only enter threads, repeatedly, and one may run the helper."""
        no_fix, repeated = finding["no_fix"], result.hops.repeated
        if no_fix and "filename" not in no_fix:
            # The reason is about the call itself, so no thread helps, wherever it begins.
            last = finding["trace"][-1]
            raise Refusal("bound", no_fix["reason"], last["filename"], last["location"]["row"])
        if repeated is None or not finding["fix"] or next(self._shared_changes(finding), None) is not None:
            return result
        try:
            offloaded = self.offload(finding)
            self.prove(finding, offloaded)
        except Refusal:
            return result
        helper = finding["trace"][1]["function"]
        offloaded.notes.append(f"{repeated.file.path}:{result.hops.line}: `{helper}` is run in a thread as a whole, for nothing in it has a twin, and each call would enter one")
        return offloaded

    def _shared_changes(self, finding: Finding) -> Iterator[Change]:
        """Yields the changes of shared state in the first helper of a trace and its callees."""
        helper = self._helper(finding)
        return find_changes_below(self.index, helper) if helper else iter(())

    def alternative(self, finding: Finding) -> str:
        """Returns a hint with the command that fixes a finding that asyncify refuses; an empty text if there is none."""
        if not finding["fix"]:
            return ""
        if len(finding["trace"]) < 2:
            return "`blocklint check --fix --unsafe-fixes` mends it"
        try:
            self.prove(finding, self.offload(finding))
        except Refusal:
            return ""
        return "`blocklint codemod offload` mends it"

    def _asyncify(self, finding: Finding, public: bool) -> FixResult:
        edits: Dict[str, Edits] = {}
        runtime = self.runtime(finding)
        leaves = Leaves(self.index, self.binary, edits, runtime, self.causes)
        leaves.unfixed = self.unfixed
        chain = Chain(self.index, edits, leaves, public)
        for step in finding["trace"]:
            self.index.file(step["filename"], step["location"]["row"])
        self._convert_call(leaves, finding["trace"][-1])
        for cause in finding["causes"]:
            # The coroutine is fixed only if all of its causes are converted.
            self._convert_call(leaves, cause)
        chain.convert_callers()
        self._convert_other_calls(leaves, chain)
        for file, call in chain.calls:
            # A caller that catches exceptions of the old library would not catch those of the new one.
            for above in file.up(call):
                for handler in above.handlers if isinstance(above, ast.Try) else []:
                    for one in ast.walk(handler.type) if handler.type else []:
                        if isinstance(one, (ast.Name, ast.Attribute)) and self.index.names.target(file, one) in leaves.raising and span(file, one) not in edits.get(file.path, Edits()).replaced:
                            raise Refusal("errors", f"`{ast.unparse(one)}` is caught here, which the twin does not raise", file.path, one.lineno)
        self._check_early_flags(edits)
        return self._result(edits, chain)

    def _check_early_flags(self, edits: Dict[str, Edits]) -> None:
        """Refuses if a function would set a flag before the awaited work that the flag stands for."""
        for path, one in edits.items():
            for function in self.index.file(path).functions if one else []:
                if (early := find_early_flag(function, one)) is not None:
                    node, name = early
                    reason = f"`{function}` looks at `{name}`, and sets it before a call that would now be awaited: another task could continue too early"
                    raise Refusal("interleaves", reason, path, node.lineno)

    def _convert_call(self, leaves: Leaves, step: Dict[str, Any]) -> None:
        file = self.index.file(step["filename"], step["location"]["row"])
        node = self._find_node(file, step)
        if node is None:
            raise Refusal("unreadable", "what is called is not written here", step["filename"], step["location"]["row"])
        leaves.convert(file, node, step["call"])

    @staticmethod
    def _find_node(file: File, step: Dict[str, Any]) -> Optional[ast.AST]:
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

    def _convert_other_calls(self, leaves: Leaves, chain: Chain) -> None:
        """Converts other blocking calls in functions that become coroutines, if no other function must change for them."""
        changed = {one.file.path for one in chain.coroutines}
        for key, path in list(self.usual.items()):
            function = self.index.at(key[0], key[1]) if key[0] in changed else None
            if function not in chain.coroutines:
                continue
            file = self.index.file(key[0])
            node = next((one for one in ast.walk(function.node) if isinstance(one, ast.Call) and file.start(one) == key[1:3] and getattr(one.func, "attr", getattr(one.func, "id", "")) == key[3]), None)
            if node is None or (key[0], *key[1:3], path) in leaves.converted:
                continue
            # The edits are made on copies, because a refusal may come after some of them.
            edits = {name: copy_edits(one) for name, one in leaves.edits.items()}
            trial = Leaves(self.index, self.binary, edits, leaves.runtime, self.causes)
            trial.converted = set(leaves.converted)
            trial.unfixed = self.unfixed
            try:
                trial.convert(file, node, path)
                if any(one not in chain.coroutines and not one.is_async for one, _, _ in trial.touched):
                    raise Refusal("more", "other functions would have to change")
            except Refusal as refusal:
                chain.notes.append(f"{key[0]}:{key[1]}: `{path}` still blocks: {refusal.reason}")
                continue
            leaves.edits.clear()
            leaves.edits.update(edits)
            leaves.converted = trial.converted
            leaves.raising |= trial.raising

    def _result(self, edits: Dict[str, Edits], chain: Chain) -> FixResult:
        texts = self._texts(edits)
        return FixResult(texts, chain.notes, {(one.file.path, one.name) for one in chain.coroutines}, {path for path, one in edits.items() if one.wraps}, find_only_hops(self.index, edits, chain.coroutines))

    def _texts(self, edits: Dict[str, Edits]) -> Dict[str, str]:
        texts = {}
        for path, one in edits.items():
            if one:
                texts[path] = apply_edits(self.index.file(path).source, one, self.index.names)
        return texts

    # --- offload --------------------------------------------------------------------------------------

    def offload(self, finding: Finding) -> FixResult:
        """Runs the first helper of the trace in a thread wherever a coroutine calls it, by the edits of `blocklint check --fix`.

        Raises Refusal.
        """
        first = finding["trace"][0]
        if finding["no_fix"]:
            no_fix = finding["no_fix"]
            raise Refusal("bound", no_fix["reason"], no_fix.get("filename", first["filename"]), no_fix.get("location", first["location"])["row"])
        if not finding["fix"]:
            raise Refusal("no-call", "there is no call here that could run in a thread", first["filename"], first["location"]["row"])
        helper = self._helper(finding)
        alike = [one for one in self.findings if one["fix"] and one["context"] == "event-loop" and self._helper(one) is helper] if helper else []
        edits: Dict[str, Set[TextEdit]] = {}
        for one in [finding, *alike]:
            for edit in one["fix"]["edits"]:
                if self.index.holds(edit["filename"]):
                    edits.setdefault(edit["filename"], set()).add((position(edit["location"]), position(edit["end_location"]), edit["content"]))
        changed = find_changes_below(self.index, helper) if helper else []
        notes = [f"{function.file.path}:{node.lineno}: `{function}` changes `{name}`, now from a thread" for function, node, name in changed]
        return FixResult({path: apply_text_edits(self.index.file(path).source, of_file) for path, of_file in edits.items()}, notes)

    def _helper(self, finding: Finding) -> Optional[Function]:
        """Returns the function of the project that the coroutine of a finding calls."""
        steps = finding["trace"][1:2]
        return self.index.at(steps[0]["filename"], steps[0]["location"]["row"]) if steps else None

    # --- proof ----------------------------------------------------------------------------------------

    def prove(self, finding: Finding, result: FixResult, gone: bool = True) -> None:
        """Analyses a copy of the project with the edits. Raises Refusal unless the finding is gone and no new one appears."""
        for path, text in result.texts.items():
            if problem := parse_problem(text):
                raise Refusal("breaks", f"the edit does not parse: {problem}", path, 1)
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(os.path.realpath(folder), os.path.basename(self.root) or "project")
            shutil.copytree(self.root, copy, ignore=shutil.ignore_patterns(".git", ".venv", "venv", "node_modules", "__pycache__", "*.pyc"), ignore_dangling_symlinks=True)
            for path, text in result.texts.items():
                with open(os.path.join(copy, os.path.relpath(path, self.root)), "w", encoding="utf-8", newline="") as stream:
                    stream.write(text)
            after = self.binary.findings(copy)
            usual = self.binary.fixes_of_usual_run(copy)
            if result.coroutines:
                self._check_all_awaited(Index(copy, self.binary.path), result)
        before = [one for one in self.findings if one["context"] == "event-loop"]
        now = [one for one in after if one["context"] == "event-loop"]
        key = lambda one: (one["function"], one["code"], cause_key(one))  # noqa: E731
        target = key(finding)
        if gone and Counter(map(key, now))[target] >= Counter(map(key, before))[target]:
            raise Refusal("not-gone", "the finding would still be there", finding["filename"], finding["location"]["row"])
        known = {cause_key(one) for one in before}
        serious = [one for one in now if one["fingerprint"] in usual and cause_key(one) not in known]
        others = {(one["code"], one["function"]) for one in self.findings if one["context"] != "event-loop"}
        serious += [one for one in after if one["context"] != "event-loop" and one["code"] in ("BLT601", "BLT107", "BLT502", "BLT201") and one["fingerprint"] in usual and (one["code"], one["function"]) not in others]
        # `requests.get` creates a client for each call too, so the finding about this is a note, and not new.
        before_files = {os.path.join(copy, os.path.relpath(path, self.root)) for path in result.per_call}
        for one in [one for one in serious if one["code"] == "BLT502" and one["filename"] in before_files or one["code"] == "BLT502" and any(step["filename"] in before_files for step in one["trace"])]:
            serious.remove(one)
            result.notes.append(f"{os.path.join(self.root, os.path.relpath(one['filename'], copy))}:{one['location']['row']}: a client for each call, as before; one for all would be faster")
        if serious:
            one = serious[0]
            raise Refusal("new-finding", f"the edit would bring another finding: {one['message']}", finding["filename"], finding["location"]["row"])

    def _check_all_awaited(self, index: Index, result: FixResult) -> None:
        """Refuses if a call of a new coroutine function is not awaited, run or iterated over."""
        try:
            index.names.begin()
            for path, name in result.coroutines:
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
    """Returns the library path of each blocking call, by file, position and last name."""
    causes = {}
    for finding in findings:
        # A finding without an effect is about the creation of a client, which is converted with the calls on it.
        for one in [*finding["causes"], *finding["trace"][-1:]] if finding["effect"] else []:
            causes[(*location_key(one), one["call"].rpartition(".")[2])] = one["call"]
    return causes


def position(location: Dict[str, int]) -> Tuple[int, int]:
    return location["row"], location["column"]


def apply_text_edits(source: str, edits: Set[TextEdit]) -> str:
    """Returns the text with the edits applied; rows and columns count from 1, in characters."""
    starts = [0]
    for line in source.split("\n"):
        starts.append(starts[-1] + len(line) + 1)

    def offset(place: Tuple[int, int]) -> int:
        return starts[place[0] - 1] + place[1] - 1

    for start, end, content in sorted(edits, reverse=True):
        source = source[: offset(start)] + content + source[offset(end) :]
    return source


def copy_edits(edits: Edits) -> Edits:
    return Edits(**{name: value.copy() for name, value in vars(edits).items()})


def location_key(step: Dict[str, Any]) -> Tuple[str, int, int]:
    return step["filename"], step["location"]["row"], step["location"]["column"] - 1


def cause_key(finding: Finding) -> Tuple[str, str]:
    """Returns the function and the library call that hold the thread, which edits elsewhere do not change."""
    last = finding["trace"][-1] if finding["trace"] else finding
    return last["function"], last.get("call", "")
