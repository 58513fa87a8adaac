#!/usr/bin/env python3
"""Proves by execution that codemods fix findings across files.

    prove.py --python PYTHON --blocklint BLOCKLINT [--runs N] [SERVICE …]

Each folder of `services/` is a small service with a finding two to four calls deep. On a copy: its tests pass and its
loop is stalled; `blocklint codemod asyncify --write` fixes it; then nothing is found, its tests pass, it answers the
same, and the stall is at most a quarter of the one before. Then `offload` is tried; and libcst's tool must write the same
files. PYTHON must have the packages of `requirements.txt`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]

# The share of a stall that may be left.
LEFT = 1 / 4


class Failed(Exception):
    """A condition that did not hold."""


def ran(command: list, folder: Path, **more: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", **more}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)


def stall(python: str, folder: Path) -> tuple:
    """Returns the shortest of three stalls, because other programs only make a stall longer."""
    found = []
    for _ in range(3):
        done = ran([python, "-W", "error::RuntimeWarning", str(HERE / "stall.py"), str(folder)], folder)
        if done.returncode or "never awaited" in done.stderr:
            raise Failed(f"it does not run: {done.stderr[-2000:]}")
        found.append(json.loads(done.stdout))
    if any(answer != found[0][1] for _, answer in found):
        raise Failed("it answers differently each time")
    return min(found, key=lambda one: one[0])


def tests(python: str, folder: Path) -> None:
    done = ran([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error::RuntimeWarning"], folder)
    if done.returncode:
        raise Failed(f"its tests fail: {done.stdout[-2000:]}")


def found(blocklint: str, folder: Path) -> list:
    done = ran([blocklint, "check", "--no-baseline", "--output-format", "json", str(folder)], folder)
    return [one for one in json.loads(done.stdout) if one["context"] == "event-loop"]


def prove(python: str, blocklint: str, name: str, codemod: str) -> str:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / name
        shutil.copytree(HERE / "services" / name, folder, ignore=shutil.ignore_patterns("__pycache__"))
        deepest = max((len(one["trace"]) for one in found(blocklint, folder)), default=0)
        if deepest < 2:
            raise Failed("nothing that deep is found")
        tests(python, folder)
        stood, answered = stall(python, folder)
        done = ran([python, "-m", "blocklint.codemods", codemod, "--write", "."], folder, BLOCKLINT_BINARY=blocklint)
        if done.returncode:
            raise Failed(f"refused: {done.stderr}")
        if after := found(blocklint, folder):
            raise Failed(f"still found: {after[0]['message']}")
        tests(python, folder)
        stands, answers = stall(python, folder)
        if answers != answered:
            raise Failed(f"it answers {answers} instead of {answered}")
        if stands > stood * LEFT:
            raise Failed(f"it stands still for {stands:.0f} ms, {stood:.0f} ms before")
        return f"{deepest} calls deep, {stood:.0f} ms before, {stands:.0f} ms after"


def with_libcsts_tool(python: str, blocklint: str, name: str) -> None:
    """Checks that libcst's tool writes the same files. Its processes share one result, so that none reads a file that is edited already."""
    with tempfile.TemporaryDirectory() as temporary:
        written = []
        tool = ["-m", "libcst.tool", "codemod", "-x", "blocklint.codemods.asyncify.AsyncifyCommand", "--no-format", "."]
        for number, command in enumerate([["-m", "blocklint.codemods", "asyncify", "--write", "."], tool]):
            folder = Path(temporary) / str(number) / name
            shutil.copytree(HERE / "services" / name, folder, ignore=shutil.ignore_patterns("__pycache__"))
            done = ran([python, *command], folder, BLOCKLINT_BINARY=blocklint)
            if done.returncode:
                raise Failed(f"{command[1]}: {done.stderr[-2000:]}")
            written.append({path.name: path.read_text() for path in folder.rglob("*.py")})
        if written[0] != written[1]:
            raise Failed("libcst's tool writes something else")


def main() -> int:
    services = sorted(folder.name for folder in (HERE / "services").iterdir())
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--blocklint", default="blocklint")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("service", nargs="*", default=services)
    asked = parser.parse_args()
    blocklint = str(Path(shutil.which(asked.blocklint) or asked.blocklint).resolve())
    # Links are not resolved, because the link identifies a virtual environment.
    python = str(Path(asked.python).absolute())
    failed = 0
    try:
        with_libcsts_tool(python, blocklint, "plain")
        print("plain asyncify: libcst's tool writes the same", flush=True)
    except Failed as why:
        failed += 1
        print(f"plain asyncify by libcst's tool: FAILED: {why}", flush=True)
    for name in asked.service:
        for codemod in ("asyncify", "offload"):
            for _ in range(asked.runs):
                try:
                    print(f"{name} {codemod}: {prove(python, blocklint, name, codemod)}", flush=True)
                except Failed as why:
                    failed += 1
                    print(f"{name} {codemod}: FAILED: {why}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
