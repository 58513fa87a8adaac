#!/usr/bin/env python3
"""Proves with real tokio that a pool's connection held over an `await` stops a program, that blocking work without a bound
starves what must stay alive, and that the fixes of the rules' pages help where others that look plausible do not.

    prove.py [--blocklint BLOCKLINT] [--runs N]

Each program of `src/bin/` is built, checked by blocklint, and run. The first kind (BLT402) runs on one
worker, on both kinds of runtime, with four tasks and with sixteen; it counts tasks that failed and how late a timer was.
The second (BLT401) is asked for more than there is time for; it counts threads and how late `/live` answered, of which the
best of all runs is compared, because other programs of the machine only add to it. Needs Linux, where a process sees its threads, and cargo, which fetches what it uses.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "measure"))

from asked import asked_with  # noqa: E402

# The rule that is found in each program, and true if the program is right.
STARVING = {
    "held_over_await": ("BLT402", False),
    "larger_pool": ("BLT402", False),
    "longer_timeout": ("BLT402", False),
    "taken_in_place": (None, False),
    "taken_inside": (None, True),
}
OVERLOADED = {
    "unbounded": ("BLT401", False),
    "rendered_in_place": (None, False),
    "semaphore": (None, True),
    "rayon_pool": (None, True),
}

# The numbers of tasks. Sixteen are needed, because with four a larger pool behaves like a right program.
LOADS = {"larger_pool": [4, 16], "taken_inside": [4, 16]}

# The delay in milliseconds from which a timer counts as stalled.
LATE = 350


@dataclass
class Starved:
    """The number of failed tasks, and the delay of the timer in milliseconds."""

    failed: int
    late: int

    def is_right(self) -> bool:
        return self.failed == 0 and self.late < LATE


@dataclass
class Overloaded:
    """The maximum number of threads, the delay of `/live` in milliseconds, the cores of the machine, and the answer."""

    threads: int
    late: float
    cores: int
    answer: str

    def is_bounded(self) -> bool:
        """True if there are at most a worker and a pool thread for each core, and a few that start or end."""
        return self.threads <= 2 * self.cores + 16


def built() -> Path:
    """Returns the folder of the programs."""
    target = Path(os.environ.get("CARGO_TARGET_DIR") or HERE.parents[2] / "target") / "proof"
    subprocess.run(["cargo", "build", "--quiet", "--locked", "--target-dir", target], cwd=HERE, check=True)
    return target / "debug"


def found(blocklint: str) -> Counter[tuple[str, str]]:
    """Returns the number of findings of each rule in each program, in a copy, because files below `tests/` count as tests."""
    with tempfile.TemporaryDirectory() as work:
        copy = Path(work) / "programs"
        shutil.copytree(HERE, copy, ignore=shutil.ignore_patterns("target"))
        command = [blocklint, "check", "--isolated", "--no-cache", "--output-format", "json", "."]
        run = subprocess.run(command, cwd=copy, capture_output=True, text=True)
        if run.returncode not in (0, 1):
            raise SystemExit(run.stderr)
        return Counter((Path(one["filename"]).stem, one["code"]) for one in json.loads(run.stdout))


def starved(program: Path, kind: str, tasks: int) -> Starved:
    run = subprocess.run([program, kind, str(tasks)], capture_output=True, text=True, timeout=120, check=True)
    return Starved(*map(int, run.stdout.split()))


def overloaded(program: Path) -> Overloaded:
    run = subprocess.run([program], capture_output=True, text=True, timeout=300, check=True)
    threads, late, cores, answer = run.stdout.split()
    return Overloaded(int(threads), int(late) / 1000, int(cores), answer)


def prove_starving(programs: Path) -> list[str]:
    """Runs all programs of the first kind once and returns the failures."""
    wrong = []
    for name, (_, right) in STARVING.items():
        results = {}
        for kind in ("multi", "current"):
            for tasks in LOADS.get(name, [4]):
                now = results[kind, tasks] = starved(programs / name, kind, tasks)
                what = f"{now.failed} of {tasks} tasks failed, the timer was {now.late} ms late"
                print(f"    {name:18} {kind:8} {what}")
        if all(now.is_right() for now in results.values()) != right:
            wrong.append(f"{name} should be {'right' if right else 'rejected'}: {results}")
        if name == "held_over_await" and any(now.failed != 3 or now.late < LATE for now in results.values()):
            wrong.append(f"{name}: three of four should fail, and the timer be late: {results}")
    return wrong


def compare(runs: dict[str, list[Overloaded]]) -> list[str]:
    """Returns the failures of the second kind of programs."""
    wrong = []
    late = {name: min(run.late for run in of_it) for name, of_it in runs.items()}
    if len({run.answer for of_it in runs.values() for run in of_it}) != 1:
        wrong.append("the programs of the second kind answer different things")
    if any(run.threads < 100 for run in runs["unbounded"]):
        wrong.append(f"unbounded: fewer than 100 threads: {runs['unbounded']}")
    for name, (_, right) in OVERLOADED.items():
        times = late["unbounded"] / late[name]
        print(f"  {name:20} /live {late[name]:8.1f} ms late, {times:6.1f} times better than without a bound")
        bounded = all(run.is_bounded() for run in runs[name])
        if (bounded and times >= 10) != right:
            wrong.append(f"{name} should be {'right' if right else 'rejected'}: {runs[name]}")
    return wrong


def main() -> int:
    arguments = asked_with(__doc__)
    expected = {(name, rule): 1 for name, (rule, _) in (STARVING | OVERLOADED).items() if rule}
    start, wrong = time.monotonic(), []
    if (now := found(arguments.blocklint)) != expected:
        wrong.append(f"found {dict(now)}, not {expected}")
    programs = built()
    print(f"built after {time.monotonic() - start:.0f} s")
    runs: dict[str, list[Overloaded]] = {name: [] for name in OVERLOADED}
    for run in range(arguments.runs):
        print(f"  run {run + 1}")
        wrong += prove_starving(programs)
        for name, of_it in runs.items():
            now = overloaded(programs / name)
            of_it.append(now)
            print(f"    {name:18} {now.threads:5} threads on {now.cores} cores, /live {now.late:.1f} ms late")
    wrong += compare(runs)
    print(f"{time.monotonic() - start:.0f} s")
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
