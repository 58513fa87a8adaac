#!/usr/bin/env python3
"""Proves by execution that what blocklint finds stalls a program, and that its fix ends the stall.

    prove.py --python PYTHON --blocklint BLOCKLINT [--runs N] [CASE …]

Each folder of `cases/` is a program and a `case.toml`. In each run the program is copied, its longest stall measured,
`blocklint check --fix` applied (with `--unsafe-fixes` where the case says so), and the program measured again: it must
give the same answer, and the stall before must be at least `ratio` times the stall after. A case may hold other
versions of its program: those named `right` must pass the same test, those named `wrong`, fixes that look plausible,
must fail it. PYTHON must have the packages of `requirements.txt`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent

# The resolution of stalls in milliseconds: the interval at which the interpreter switches threads.
FINEST = 5.0

# The number of measurements. Other programs only make a stall longer, so the shortest one counts.
MEASUREMENTS = 2


@dataclass
class Case:
    """A program, with its measurement and the expected effect of its fix."""

    name: str
    about: str
    measure: str
    rule: str
    ratio: float
    target: str | None = None
    unsafe: bool | None = None  # None if no fix is offered.
    right: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, folder: Path) -> Case:
        return cls(name=folder.name, **tomllib.loads((folder / "case.toml").read_text()))

    @property
    def folder(self) -> Path:
        return HERE / "cases" / self.name

    def copy(self, to: Path, program: str = "main.py") -> Path:
        """Returns the case's project with one of its programs as the program."""
        other = {"case.toml", *self.right, *self.wrong}
        shutil.copytree(self.folder, to, ignore=lambda _, names: {*other, "__pycache__"} & set(names))
        shutil.copy(self.folder / program, to / "main.py")
        return to


@dataclass
class Measured:
    """The longest stall of a program, in milliseconds, and its answer."""

    stall: float
    answer: object

    def frees(self, after: Measured, ratio: float) -> bool:
        """True if the fixed program gives the same answer with a stall that is shorter by the ratio."""
        return self.answer == after.answer and self.stall >= ratio * max(after.stall, FINEST / ratio)


def measured(python: str, case: Case, folder: Path) -> Measured:
    """Returns the longest stall of a program, the smallest of all measurements, and its answer, which is always the same."""
    each = [measured_once(python, case, folder) for _ in range(MEASUREMENTS)]
    if any(one.answer != each[0].answer for one in each):
        raise SystemExit(f"{case.name}: the same program gives different answers")
    return min(each, key=lambda one: one.stall)


def measured_once(python: str, case: Case, folder: Path) -> Measured:
    command = [python, str(HERE / "measure" / f"{case.measure}.py"), str(folder), "main"]
    command += [case.target] if case.target else []
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if run.returncode != 0:
        raise SystemExit(f"{case.name}: the measurement failed\n{run.stderr}")
    return Measured(**json.loads(run.stdout.splitlines()[-1]))


def checked(blocklint: str, case: Case, folder: Path, *more: str) -> str:
    """Returns the output of blocklint for the project; an error of blocklint ends the proof."""
    command = [blocklint, "check", "--select", case.rule, "--min-severity", "note", *more]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if run.returncode not in (0, 1):
        raise SystemExit(f"{case.name}: blocklint failed\n{run.stderr}")
    return run.stdout


def prove(python: str, blocklint: str, case: Case, work: Path) -> list[str]:
    """Measures a case once and returns the failures."""
    wrong: list[str] = []

    def say(what: str, after: Measured) -> None:
        same = "the same answer" if before.answer == after.answer else f"another answer: {after.answer}"
        print(f"    {what:18} {after.stall:9.1f} ms, {before.stall / max(after.stall, 0.1):6.1f} times shorter, {same}")

    project = case.copy(work / "before")
    if case.rule not in checked(blocklint, case, project, "--output-format", "concise"):
        wrong.append(f"{case.name}: {case.rule} is not found")
    before = measured(python, case, project)
    print(f"    {'before':18} {before.stall:9.1f} ms")
    if case.unsafe is not None:
        project = case.copy(work / "after")
        (project / "blocklint.toml").touch()
        said = checked(blocklint, case, project, "--fix", *(["--unsafe-fixes"] if case.unsafe else []))
        if (project / "main.py").read_text() == (case.folder / "main.py").read_text():
            wrong.append(f"{case.name}: nothing was fixed\n{said}")
        else:
            after = measured(python, case, project)
            say("fixed", after)
            if not before.frees(after, case.ratio):
                wrong.append(f"{case.name}: the fix does not free the thread {case.ratio} times")
    for program in case.right:
        after = measured(python, case, case.copy(work / program, program))
        say(program, after)
        if not before.frees(after, case.ratio):
            wrong.append(f"{case.name}: {program} should free the thread {case.ratio} times")
    for program in case.wrong:
        after = measured(python, case, case.copy(work / program, program))
        say(program + " (wrong)", after)
        if before.frees(after, case.ratio):
            wrong.append(f"{case.name}: {program} should be rejected")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has requirements.txt")
    parser.add_argument("--blocklint", default="blocklint", help="the program")
    parser.add_argument("--runs", type=int, default=3, help="number of runs of each case, all of which must pass")
    parser.add_argument("cases", nargs="*", help="their names; default: all")
    arguments = parser.parse_args()
    folders = sorted(path.parent for path in (HERE / "cases").glob("*/case.toml"))
    start, wrong = time.monotonic(), []
    for case in map(Case.read, folders):
        if arguments.cases and case.name not in arguments.cases:
            continue
        print(f"{case.name}: {case.about}")
        for run in range(arguments.runs):
            print(f"  run {run + 1}")
            with tempfile.TemporaryDirectory() as work:
                wrong += prove(arguments.python, arguments.blocklint, case, Path(work))
    print(f"{time.monotonic() - start:.0f} s")
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
