#!/usr/bin/env python3
"""Checks the rows of Python model files against the libraries themselves.

    verify_python.py rules/models/python/requests.toml …       print what does not hold
    verify_python.py --write FILE …                             and record what does in VERIFIED.toml
    verify_python.py --also lxml-stubs FILE …                   read further packages: stubs, bases in other libraries

For each file the newest version of its library within `version` is downloaded without dependencies, and `blocklint
models verify` reads it; nothing is installed, imported or run. Of every row the path must exist, be a coroutine
function if the row has `async` and none if it has an effect, and have the parameters in the row. Exempt are
paths with a synthetic `<…>` segment and rows with `unchecked`. The further packages are recorded with the result and
read again the next time.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import python_packages
from digest import digest

HERE = Path(__file__).resolve().parent
TABLES = ("call", "type", "handover")
Row = dict[str, Any]


@dataclass
class Result:
    """The result of checking one model file."""

    file: Path
    library: str = ""
    version: str = ""
    rows: int = 0
    checked: int = 0
    exempt: int = 0
    unchecked: int = 0
    also: list[str] = field(default_factory=list)
    older: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    expansions: dict[str, list[str]] = field(default_factory=dict)

    def problem(self, line: int, path: str, message: str) -> None:
        self.problems.append(f"{self.file}:{line}: {path}: {message}")


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def expand(path: str) -> list[str]:
    """Returns the paths of a pattern with `{a,b}`; braces may be nested."""
    start = path.find("{")
    if start < 0:
        return [path]
    depth, parts, last = 0, [], start + 1
    for at in range(start, len(path)):
        depth += {"{": 1, "}": -1}.get(path[at], 0)
        if depth == 0 or depth == 1 and path[at] == ",":
            parts.append(path[last:at].strip())
            last = at + 1
        if depth == 0:
            break
    return [path[:start] + p + rest for part in parts for p in expand(part) for rest in expand(path[last:])]


def paths_of(row: Row) -> list[str]:
    return [q for path in as_list(row["path"]) for q in expand(path)]


def lines_of(text: str) -> dict[str, list[int]]:
    """Returns the lines of the `path` keys of each table, in order."""
    found: dict[str, list[int]] = {table: [] for table in TABLES}
    current = ""
    for number, line in enumerate(text.splitlines(), 1):
        if head := re.match(r"\[\[(\w+)\]\]", line.strip()):
            current = head[1]
            if current in found:
                found[current].append(number)
        elif current in found and re.match(r"path\s*=", line.strip()):
            found[current][-1] = number
    return found


def sources(package: python_packages.Package) -> list[str]:
    return [str(folder) for folder in package.folders]


class Blocklint:
    """The blocklint binary, which checks each row against the sources of a library."""

    def __init__(self, command: list[str]) -> None:
        self.command = command

    def verify(self, file: Path, main: python_packages.Package, others: list[python_packages.Package],
               extra: list[python_packages.Package]) -> Row:  # fmt: skip
        arguments = ["models", "verify", *sources(main), "--model", str(file), "--library-version", main.version]
        for other in others:
            arguments += [part for folder in sources(other) for part in ("--other", f"{other.version}={folder}")]
        for package in extra:
            arguments += [part for folder in sources(package) for part in ("--with", folder)]
        arguments += ["--standard-library", sysconfig.get_paths()["stdlib"], "--output-format", "json"]
        run = subprocess.run([*self.command, *arguments], check=False, capture_output=True, text=True)
        if run.returncode not in (0, 1):
            raise RuntimeError(run.stderr.strip())
        return json.loads(run.stdout)[0]


def blocklint(given: Path | None) -> Blocklint:
    """Returns the given program, else a build of this repository."""
    if given is not None:
        return Blocklint([str(given.resolve())])
    manifest = HERE.parent.parent / "Cargo.toml"
    return Blocklint(["cargo", "run", "--quiet", "--manifest-path", str(manifest), "-p", "blocklint", "--"])


def check(file: Path, also: list[str], cache: Path, program: Blocklint) -> Result:
    document = tomllib.loads(file.read_text())
    result = Result(file, also=also)
    library = as_list(document["library"])[0]
    result.library = library
    if library == "python":
        result.problem(1, library, "the standard library is not a package; this script does not check it")
        return result
    versions = document.get("version", "")
    others: list[python_packages.Package] = []
    try:
        extra = [python_packages.download(*split_requirement(name), cache) for name in also]
        package = python_packages.download(library, versions, cache)
        report = program.verify(file, package, others, extra)
        for needed in report["needs"]:
            others.append(python_packages.download(library, ",".join(filter(None, (versions, needed))), cache))
        if others:
            report = program.verify(file, package, others, extra)
    except (python_packages.DownloadError, RuntimeError) as why:
        result.problem(1, library, str(why))
        return result
    result.version = package.version
    result.rows, result.checked = report["rows"], report["checked"]
    result.exempt, result.unchecked = report["exempt"], report["unchecked"]
    result.expansions = dict(report["expansions"])
    for problem in report["problems"]:
        result.problem(problem["line"], problem["path"], problem["message"].replace("--with", "--also"))
    for needed in report["needs"]:
        result.problem(1, library, f"no version {needed} is at hand, of which rows speak")
    return result


def split_requirement(text: str) -> tuple[str, str]:
    found = re.match(r"([\w.\-]+)(.*)", text)
    return (found[1], found[2].strip()) if found else (text, "")


def model_name(file: Path) -> str:
    """Returns the path of a file relative to `rules/models`, or unchanged if it is elsewhere."""
    resolved = file.resolve()
    return resolved.relative_to(HERE).as_posix() if resolved.is_relative_to(HERE) else file.as_posix()


def recorded() -> dict[str, Row]:
    file = HERE / "VERIFIED.toml"
    return {m["file"]: m for m in tomllib.loads(file.read_text())["model"]} if file.is_file() else {}


def record(results: list[Result]) -> None:
    known = recorded()
    for result in results:
        name = model_name(result.file)
        known[name] = {
            "file": name, "library": result.library, "version": result.version, "rows": result.rows,
            "checked": result.checked, "exempt": result.exempt, "unchecked": result.unchecked,
            "also": result.also, "older": result.older, "sha256": digest(result.file),
        }  # fmt: skip
        pinned = HERE / ".expected" / Path(name).with_suffix(".txt")
        if result.expansions:
            pinned.parent.mkdir(parents=True, exist_ok=True)
            lines = [f"{glob}\n" + "".join(f"    {n}\n" for n in names) for glob, names in result.expansions.items()]
            pinned.write_text("".join(lines))
        elif pinned.is_file():
            pinned.unlink()
    text = (
        "# Written by `verify_python.py --write`: which version of each library its model was last checked against.\n"
    )
    for name in sorted(known):
        text += "\n[[model]]\n"
        for key, value in known[name].items():
            if value != []:
                shown = str(value) if isinstance(value, int) else repr(value).replace("'", '"')
                text += f"{key} = {shown}\n"
    (HERE / "VERIFIED.toml").write_text(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument(
        "--also", action="append", default=[], help="a further package to read, with a version if need be"
    )
    parser.add_argument("--write", action="store_true", help="record files without problems in VERIFIED.toml")
    parser.add_argument("--blocklint", type=Path, help="the program to ask; default: the one built from these sources")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "blocklint-models")
    arguments = parser.parse_args()
    known = recorded()
    program = blocklint(arguments.blocklint)
    good: list[Result] = []
    failed = False
    for file in arguments.files:
        earlier = known.get(model_name(file), {}).get("also", [])
        result = check(file, sorted({*earlier, *arguments.also}), arguments.cache, program)
        for problem in result.problems:
            print(problem)
        print(
            f"{result.library} {result.version or '(not read)'}: {result.rows} rows, {result.checked} names checked, "
            f"{result.exempt} exempt ({result.unchecked} unchecked), {len(result.problems)} problems"
        )
        failed = failed or bool(result.problems)
        if not result.problems:
            good.append(result)
    if arguments.write and good:
        record(good)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
