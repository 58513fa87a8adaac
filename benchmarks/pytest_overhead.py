#!/usr/bin/env python3
"""Measures the cost of `pytest --blocklint` on a suite of 1,000 async tests; `docs/evidence.md` quotes it.

    benchmarks/pytest_overhead.py [ROUNDS] [TURNS]

Needs a Python with pytest, pytest-asyncio and the wheel installed. Runs the suite with and without the option by turns, and compares the
processor time and the duration: the least of each, for whatever else a machine does only adds, and the median of the pairs. TURNS is how often
each test gives the loop a turn.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SUITE = '''
import asyncio
import pytest


async def work(number):
    for _ in range({turns}):
        await asyncio.sleep(0)
    return number * number


@pytest.mark.parametrize("number", range(100))
async def test_work(number):
    assert await work(number) == number ** 2
'''


def run(folder, *options):
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", *options]
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert b"1000 passed" in done.stdout, done.stdout.decode()
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    turns = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    with tempfile.TemporaryDirectory() as folder:
        for part in range(10):
            Path(folder, "test_part{}.py".format(part)).write_text(SUITE.format(turns=turns))
        Path(folder, "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\n")
        os.environ["PYTHONDONTWRITEBYTECODE"] = ""
        run(folder)
        pairs = []
        for number in range(rounds):
            options = [(), ("--blocklint",)]
            # The two runs take turns in coming first.
            order = options if number % 2 else options[::-1]
            took = {option: run(folder, *option) for option in order}
            pairs.append((took[()], took[("--blocklint",)]))
    for name, at in (("duration", 0), ("processor time", 1)):
        plain, watched = (min(pair[which][at] for pair in pairs) for which in (0, 1))
        median = statistics.median(pair[1][at] / pair[0][at] for pair in pairs)
        told = "{}: {:.2f} s, {:+.1f} % with --blocklint, the median of {} pairs {:+.1f} %"
        print(told.format(name, plain, 100 * (watched / plain - 1), len(pairs), 100 * (median - 1)))


if __name__ == "__main__":
    main()
