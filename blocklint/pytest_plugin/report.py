"""The section about stalls at the end of pytest's output."""

import os
from typing import Any, Dict, List, Tuple

from .evidence import innermost, owner_of_stall
from .matching import Findings
from .missing import model_row

#: The number of tests that are listed for each finding.
MAX_TESTS = 3


class Group:
    """Stalls that have the same finding, or the same place."""

    def __init__(self) -> None:
        self.longest = 0.0
        self.times = 0
        self.tests: List[str] = []
        self.stall: Dict[str, Any] = {}

    def add(self, seconds: float, stall: Dict[str, Any]) -> None:
        self.times += 1
        if seconds >= self.longest:
            self.longest, self.stall = seconds, stall
        test = stall["test"] + ("" if stall["phase"] in ("", "call") else " ({})".format(stall["phase"]))
        if test not in self.tests:
            self.tests.append(test)


class StallReport:
    """The report of a run, and its counts."""

    def __init__(self) -> None:
        self.count = 0
        self.lines: List[str] = []
        self.problems: List[str] = []
        #: The number of stalls in code of the project, and the seconds of the longest one.
        self.of_project = 0
        self.longest = 0.0

    def failure(self) -> str:
        """Returns the message with which `--blocklint-fail` fails the run."""
        times = "once" if self.of_project == 1 else "{} times".format(self.of_project)
        return "FAILED by --blocklint-fail: the project's code stalled the event loop {}, for up to {}".format(times, seconds(self.longest))


def build_report(stalls: List[Dict[str, Any]], findings: Findings, threshold: float, root: str) -> StallReport:
    confirmed: Dict[str, Tuple[Dict[str, Any], Group]] = {}
    others: Dict[Tuple[str, str, str], Group] = {}
    result = StallReport()
    for stall in stalls:
        owner = owner_of_stall(stall)
        explained = False
        for sample in stall["samples"]:
            for finding in findings.confirmed_by(sample["stack"]):
                key = finding.get("fingerprint") or str(finding["location"])
                if owner == "project":
                    confirmed.setdefault(key, (finding, Group()))[1].add(min(sample["seconds"], stall["seconds"]), stall)
                    explained = True
        result.count += 1
        # A stall in the code of a test is listed, and does not count.
        if owner == "project":
            result.of_project += 1
            result.longest = max(result.longest, stall["seconds"])
        if not explained:
            others.setdefault((owner, _path(stall), _where(stall, root)), Group()).add(stall["seconds"], stall)
    for finding, group in sorted(confirmed.values(), key=lambda one: -one[1].longest):
        at = "{}:{}".format(_relative(finding["filename"], root), finding["location"]["row"])
        result.lines.append("confirmed, {}: {} {}: {}".format(seconds(group.longest), finding["code"], at, finding["message"]))
        result.lines += _tests(group)
    for owner in ("project", "library", "unseen", "test"):
        groups = [(key, group) for key, group in others.items() if key[0] == owner]
        for (_, _, where), group in sorted(groups, key=lambda one: -one[1].longest):
            result.lines.append(_headline(owner, where, group))
            result.lines += _tests(group)
            call = group.stall["called"]
            if owner == "project" and call is not None and "?" not in call["path"]:
                result.lines.append("    a model that would explain it (docs/teach.md):")
                result.lines += ["        " + line if line else "" for line in model_row(call)]
    return result


def _headline(owner: str, where: str, group: Group) -> str:
    time, call = seconds(group.longest), group.stall["called"]
    if owner == "unseen":
        return "{}: no sample could be taken, because one call kept the interpreter's lock".format(time)
    if owner == "test":
        return "in the tests' own code, {}: {}".format(time, where)
    if owner == "library":
        return "in libraries alone, {}: {}".format(time, where)
    if call is None:
        return "not explained, {}: {}, by the project's own code".format(time, where)
    path = call["path"]
    if path.startswith("?."):
        return "not explained, {}: {}, in a call of `{}`, of what is not seen".format(time, where, path[2:])
    return "not explained, {}: {}, in `{}` of {}".format(time, where, path, call["library"])


def _tests(group: Group) -> List[str]:
    names = [name for name in group.tests if name]
    lines = ["    " + name for name in names[:MAX_TESTS]]
    if len(names) > MAX_TESTS:
        lines.append("    and {} more tests".format(len(names) - MAX_TESTS))
    if lines and group.times > len(names):
        lines[-1] += " ({} stalls in all)".format(group.times)
    return lines


def _path(stall: Dict[str, Any]) -> str:
    return stall["called"]["path"] if stall["called"] else ""


def _where(stall: Dict[str, Any], root: str) -> str:
    """Returns the line of the innermost frame outside of libraries, as in `app/views.py:42 in get_user`."""
    if not stall["samples"]:
        return ""
    stack = stall["samples"][0]["stack"]
    frame = stack[innermost(stack)]
    return "{}:{} in {}".format(_relative(frame["file"], root), frame["line"], frame["function"])


def _relative(file: str, root: str) -> str:
    try:
        inside = os.path.relpath(file, root)
    except ValueError:  # On another drive.
        return file
    return file if inside.startswith("..") else inside


def seconds(time: float) -> str:
    return "{:.0f} ms".format(time * 1000) if time < 1 else "{:.1f} s".format(time)


def write(reporter: Any, report: StallReport) -> None:
    if not report.count and not report.problems:
        return
    reporter.section("blocklint: {} stall{} of the event loop".format(report.count, "" if report.count == 1 else "s"))
    for line in report.lines:
        reporter.write_line(line)
    for problem in report.problems:
        reporter.write_line("blocklint: {}".format(problem), yellow=True)
