#!/usr/bin/env python3
"""Checks some of the recorded models against their libraries' newest versions; other ones every day.

    rotate.py [--count 10] [--day N] [--blocklint PROGRAM]

Prints the chosen models, the number of checked rows, and rows that are wrong now. A library that cannot be downloaded is a
failure too.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
DAY = 24 * 60 * 60


def chosen(names: list[str], count: int, day: int) -> list[str]:
    """Returns `count` of the names, beginning after those of the day before."""
    count = min(count, len(names))
    start = day * count % max(len(names), 1)
    return sorted((names + names)[start : start + count])


def recorded() -> list[str]:
    """Returns the models that were once checked, below this folder."""
    files = sorted(HERE.glob("VERIFIED*.toml"))
    return sorted({m["file"] for file in files for m in tomllib.loads(file.read_text())["model"]})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--day", type=int, default=int(time.time()) // DAY, help="default: today, counted from 1970")
    parser.add_argument("--blocklint", type=Path, help="the program to ask; default: the one built from these sources")
    arguments = parser.parse_args()
    names = recorded()
    today = chosen(names, arguments.count, arguments.day)
    print(f"{len(today)} of {len(names)} models, turn {arguments.day}: {', '.join(today)}", flush=True)
    by_language: dict[str, list[str]] = {}
    for name in today:
        by_language.setdefault(name.split("/")[0], []).append(str(HERE / name))
    failed = []
    for language, files in by_language.items():
        script = HERE / f"verify_{language}.py"
        options = ["--blocklint", str(arguments.blocklint)] if arguments.blocklint and language in ("python", "java") else []
        run = subprocess.run([sys.executable, str(script), *options, *files], check=False)
        if run.returncode != 0:
            failed.append(language)
    print(f"{'does not hold: ' + ', '.join(failed) if failed else 'all hold'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
