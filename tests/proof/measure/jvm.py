"""Compiles and runs Java programs with libraries that Maven fetches, and parses the numbers that they print."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def jars(pom: Path, work: Path) -> str:
    """Returns the class path of the dependencies in a `pom.xml`."""
    copy = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies"]
    subprocess.run([*copy, f"-DoutputDirectory={work}", "-DincludeScope=runtime"], check=True)
    return os.pathsep.join(str(jar) for jar in sorted(work.glob("*.jar")))


def compiled(sources: list[str], path: str, work: Path) -> Path:
    subprocess.run(["javac", "-nowarn", "-cp", path, "-d", str(work), *sources], check=True)
    return work


def numbers(folder: Path, path: str, program: str, *arguments: str) -> list[int]:
    command = ["java", "-cp", os.pathsep.join([str(folder), path]), program, *arguments]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return [int(number) for number in run.stdout.split()]
