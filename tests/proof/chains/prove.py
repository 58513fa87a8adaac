#!/usr/bin/env python3
"""Proves with real tokio that helpers which become `async` together end the stall that they were.

    prove.py [--blocklint BLOCKLINT] [--runs N]

The server is built and asked for two names before and after `check --fix --unsafe-fixes` of a copy: behind one of them a
helper's helper sleeps, behind the other it reads a pipe that has no writer yet. The answers must be the same, the
heartbeat that was late must be in time, and no finding be left. Needs mkfifo and cargo, which fetches what it uses.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "measure"))

from asked import asked_with  # noqa: E402

# The seconds for which each name holds the thread, and the answer.
NAMES = {"slow": (0.3, "kept"), "pipe": (0.4, "written")}

# The number of requests for each name. The shortest counts, because other programs only add to it.
REQUESTS = 3

# The minimum delay of the heartbeat before the fix, as a share of that time, and the factor by which it must shrink.
HELD = 0.8
TIMES = 10


def checked(blocklint: str, folder: Path, *options: str) -> list[dict]:
    command = [blocklint, "check", "--isolated", "--no-cache", *options]
    run = subprocess.run([*command, "--output-format", "json", "."], cwd=folder, capture_output=True, text=True)
    if run.returncode not in (0, 1):
        raise SystemExit(run.stderr)
    return json.loads(run.stdout)


def target_folder() -> Path:
    return Path(os.environ.get("CARGO_TARGET_DIR") or HERE.parents[2] / "target") / "proof"


def built(folder: Path, name: str) -> Path:
    """Returns the program, which compiles without a warning."""
    target = target_folder()
    subprocess.run(["cargo", "build", "--quiet", "--locked", "--target-dir", target], cwd=folder, check=True)
    program = folder / name
    shutil.copy(target / "debug" / "chains", program)
    return program


def tested(folder: Path, target: Path) -> int:
    """Returns the number of tests that pass; none may fail."""
    command = ["cargo", "test", "--quiet", "--locked", "--target-dir", target]
    # The tests write files into the copy, which is removed.
    environment = {**os.environ, "TMPDIR": str(folder)}
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    passed = re.search(r"test result: ok. (\d+) passed", run.stdout)
    if run.returncode or not passed:
        raise SystemExit(f"the tests of the program fail:\n{run.stdout}\n{run.stderr}")
    return int(passed[1])


def asked(port: int, line: str) -> str:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(f"{line}\n".encode())
        return connection.makefile().readline().strip()


def measured(program: Path) -> dict[str, tuple[str, int]]:
    """Returns for each name the last answer, and the delay of the heartbeat in its best request, in milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "slow").write_text("kept\n")
        os.mkfifo(Path(folder) / "pipe")
        with subprocess.Popen([program, folder], stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout
            port = int(server.stdout.readline())
            results = {}
            for name, seconds in [(name, seconds) for name, (seconds, _) in NAMES.items() for _ in range(REQUESTS)]:
                asked(port, "late")
                writer = threading.Timer(seconds, lambda: (Path(folder) / "pipe").write_text("written\n"))
                if name == "pipe":
                    writer.start()
                answer = asked(port, name)
                time.sleep(0.05)
                late = int(asked(port, "late"))
                results[name] = answer, min(late, results.get(name, (answer, late))[1])
                noted = (Path(folder) / "noted" / name).read_text()
                assert noted == answer, f"{name}: {noted} was noted"
            server.kill()
        return results


def compare(before: dict[str, tuple[str, int]], after: dict[str, tuple[str, int]]) -> list[str]:
    wrong = []
    for name, (seconds, answer) in NAMES.items():
        held, left = before[name][1], after[name][1]
        print(f"    {name:6} {held:5} ms late before, {left:5} ms after")
        if (before[name][0], after[name][0]) != (answer, answer):
            wrong.append(f"{name}: the answers are {before[name][0]!r} and {after[name][0]!r}")
        if held < HELD * seconds * 1000:
            wrong.append(f"{name}: the heartbeat was only {held} ms late before")
        if left * TIMES > held:
            wrong.append(f"{name}: the heartbeat is still {left} ms late")
    return wrong


def main() -> int:
    arguments = asked_with(__doc__)
    wrong = []
    # In a copy, because files below `tests/` count as tests; with new times, because cargo would reuse an earlier build.
    with tempfile.TemporaryDirectory() as work:
        copy = Path(work) / "server"
        shutil.copytree(HERE, copy, ignore=shutil.ignore_patterns("target"), copy_function=shutil.copy)
        before, passed = built(copy, "before"), tested(copy, target_folder())
        found = {(Path(one["filename"]).name, one["code"]) for one in checked(arguments.blocklint, copy)}
        if found != {("main.rs", "BLT101"), ("main.rs", "BLT104")}:
            wrong.append(f"found {found}")
        checked(arguments.blocklint, copy, "--fix", "--unsafe-fixes")
        if left := checked(arguments.blocklint, copy, "--min-severity", "note"):
            wrong.append(f"left: {[one['message'] for one in left]}")
        changed = "".join(path.read_text() for path in sorted((copy / "src").iterdir()))
        for helper in ("is_limited", "settle", "load", "note", "read"):
            if f"async fn {helper}(" not in changed:
                wrong.append(f"{helper} did not become async")
        after, passes = built(copy, "after"), tested(copy, target_folder())
        if "#[test]" in changed or passes != passed:
            wrong.append(f"{passed} tests passed before, {passes} after, of which some did not become async")
        for run in range(arguments.runs):
            print(f"  run {run + 1}")
            wrong += compare(measured(before), measured(after))
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
