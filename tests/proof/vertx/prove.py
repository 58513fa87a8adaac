#!/usr/bin/env python3
"""Proves with real Vert.x that a call on the event loop stalls it, and that `executeBlocking` does not.

    prove.py [--blocklint BLOCKLINT] [--runs N]

`on_the_loop/` is the mistake: blocklint must find BLT101 in it, and its event loop must stand still as long as the call takes.
`handed_over/` follows the help line of the finding: nothing is found, the answers are the same, and the loop is stalled for a tenth of
that at most. `only_wrapped/`, a future around the same call, looks like the fix and must fail: it is found, and the loop is stalled.
Needs a JDK and Maven, which fetches vertx-core.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "measure"))

import jvm  # noqa: E402
from asked import asked_with  # noqa: E402
MESSAGES = 4
# The seconds for which the call holds its thread.
CALL = 300
# The text of the advice of `blocklint check`.
HELP = "vertx.executeBlocking(() -> …)"
PROGRAMS = {"on_the_loop": 1, "handed_over": 0, "only_wrapped": 1}


@dataclass
class Measured:
    """The longest stall of the event loop in milliseconds, the number of right answers, and of calls."""

    stall: int
    right: int
    calls: int


def measured(source: Path, path: str, work: Path) -> Measured:
    sources = [str(HERE / "Stall.java"), str(source / "Answers.java")]
    jvm.compiled(sources, path, work)
    return Measured(*jvm.numbers(work, path, "Stall"))


def checked(blocklint: str, work: Path, form: str) -> str:
    """Returns the output for BLT101 in a copy, because files below `tests/` count as tests."""
    command = [blocklint, "check", "--isolated", "--no-cache", "--select", "BLT101", "--output-format", form, "."]
    run = subprocess.run(command, cwd=work, capture_output=True, encoding="utf-8")
    if run.returncode not in (0, 1):
        raise SystemExit(run.stderr)
    return run.stdout


def found(blocklint: str, work: Path) -> int:
    return len(json.loads(checked(blocklint, work, "json")))


def helps(blocklint: str, work: Path) -> bool:
    """True if the help line advises the change of `handed_over/`."""
    return HELP in checked(blocklint, work, "full")


def prove(blocklint: str, path: str, work: Path) -> list[str]:
    """Runs all programs once and returns the failures."""
    wrong: list[str] = []
    stalls: dict[str, int] = {}
    for program, expected in PROGRAMS.items():
        source = work / f"{program}_source"
        shutil.copytree(HERE / program, source)
        findings = found(blocklint, source)
        if findings != expected:
            wrong.append(f"{program}: BLT101 is found {findings} times, not {expected}")
        if bool(findings) != helps(blocklint, source):
            wrong.append(f"{program}: what is found does not say `{HELP}`")
        result = measured(source, path, work / program)
        stalls[program] = result.stall
        print(f"    {program:15} stands still for {result.stall:5} ms, {result.right} answers of {result.calls} calls")
        if (result.right, result.calls) != (MESSAGES, MESSAGES):
            wrong.append(f"{program}: {result}")
    if stalls["on_the_loop"] < CALL:
        wrong.append(f"on_the_loop stands still for {stalls['on_the_loop']} ms only")
    if stalls["handed_over"] * 10 > stalls["on_the_loop"]:
        wrong.append(f"handed_over stands still for {stalls['handed_over']} ms")
    if stalls["only_wrapped"] * 10 <= stalls["on_the_loop"]:
        wrong.append("only_wrapped should be rejected")
    return wrong


def main() -> int:
    arguments = asked_with(__doc__)
    start, wrong = time.monotonic(), []
    with tempfile.TemporaryDirectory() as fetched:
        path = jvm.jars(HERE / "pom.xml", Path(fetched))
        for run in range(arguments.runs):
            print(f"  run {run + 1}")
            with tempfile.TemporaryDirectory() as work:
                wrong += prove(arguments.blocklint, path, Path(work))
    print(f"{time.monotonic() - start:.0f} s")
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
