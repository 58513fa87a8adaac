"""Programs that are run: their twin is used differently, and so the call moves to a thread."""

import subprocess
import sys


def version(flag: str) -> str:
    done = subprocess.run([sys.executable, flag], capture_output=True, text=True, check=True, timeout=20)
    return done.stdout.strip()


def ask() -> str:
    return version("--version")


async def show() -> str:
    return ask()
