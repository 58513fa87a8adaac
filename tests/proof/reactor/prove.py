#!/usr/bin/env python3
"""Proves with real Reactor that a scheduler for each instance makes threads grow, and that a shared one does not.

    prove.py [--blocklint BLOCKLINT] [--runs N] [--clients N …]

`per_client/` is the incident: blocklint must find BLT501 in it, and N clients must add N threads. `shared/` is the fix that the
rule's page shows: nothing is found, N clients add at most ten threads for each core and one more, and where one client is closed all
others go on; what `--fix` makes of `per_client/` (`fixed`) must hold the same. `shared_but_disposed/`, the same fix that keeps
`dispose()`, must fail: there the other clients stand still.
Needs a JDK and Maven, which fetches reactor-core.
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


@dataclass
class Counted:
    """The threads that clients added, the number of clients that still refresh after one is closed, and the cores of the machine."""

    threads: int
    alive: int
    cores: int


def compiled(source: Path, path: str, work: Path) -> Path:
    sources = [str(HERE / "Count.java"), str(source / "Client.java")]
    return jvm.compiled(sources, path, work)


def counted(folder: Path, path: str, clients: int) -> Counted:
    return Counted(*jvm.numbers(folder, path, "Count", str(clients)))


def fixed(blocklint: str, source: Path) -> None:
    """Applies the fix to a copy."""
    command = [blocklint, "check", "--isolated", "--no-cache", "--select", "BLT501", "--fix", "--unsafe-fixes", "."]
    run = subprocess.run(command, cwd=source, capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(run.stdout + run.stderr)


def found(blocklint: str, work: Path) -> int:
    """Returns the number of BLT501 findings in a copy, because files below `tests/` count as tests."""
    command = [blocklint, "check", "--isolated", "--no-cache", "--select", "BLT501", "--output-format", "json", "."]
    run = subprocess.run(command, cwd=work, capture_output=True, text=True)
    if run.returncode not in (0, 1):
        raise SystemExit(run.stderr)
    return len(json.loads(run.stdout))


def is_right(now: Counted, clients: int) -> bool:
    """True if threads do not grow with the clients, and closing one leaves the others alone."""
    return now.threads <= 10 * now.cores + 1 and now.alive == clients - 1


def prove(blocklint: str, path: str, sizes: list[int], work: Path) -> list[str]:
    """Runs all programs once and returns the failures."""
    wrong: list[str] = []
    for program, expected in (("per_client", 1), ("fixed", 0), ("shared", 0), ("shared_but_disposed", 0)):
        source = work / f"{program}_source"
        shutil.copytree(HERE / ("per_client" if program == "fixed" else program), source)
        if program == "fixed":
            fixed(blocklint, source)
        now = found(blocklint, source)
        if now != expected:
            wrong.append(f"{program}: BLT501 is found {now} times, not {expected}")
        folder = compiled(source, path, work / program)
        for clients in sizes:
            result = counted(folder, path, clients)
            print(f"    {program:20} {clients:5} clients {result.threads:5} threads, then {result.alive:5} refresh")
            if program == "per_client" and result.threads != clients:
                wrong.append(f"{program}: {clients} clients add {result.threads} threads")
            if program in ("fixed", "shared") and not is_right(result, clients):
                wrong.append(f"{program}: {clients} clients: {result}")
            if program == "shared_but_disposed" and is_right(result, clients):
                wrong.append(f"{program} should be rejected")
    return wrong


def main() -> int:
    arguments = asked_with(__doc__, clients={"type": int, "nargs": "+", "default": [4, 64, 896]})
    start, wrong = time.monotonic(), []
    with tempfile.TemporaryDirectory() as fetched:
        path = jvm.jars(HERE / "pom.xml", Path(fetched))
        for run in range(arguments.runs):
            print(f"  run {run + 1}")
            with tempfile.TemporaryDirectory() as work:
                wrong += prove(arguments.blocklint, path, arguments.clients, Path(work))
    print(f"{time.monotonic() - start:.0f} s")
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
