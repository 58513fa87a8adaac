#!/usr/bin/env python3
"""Checks the models of Python's standard library against interpreters.

    verify_stdlib.py [--models FOLDER] [--results FILE] [--unsigned] PYTHON...

For each interpreter, every path of every row must name what it says: modules, classes, methods and properties exist,
parameters stand under their name at their place, base classes are base classes, aliases are the same object, twins are
awaited. A row's `version` must be as wide as the interpreters show: outside of it the path must not exist, or something
else that the row names, as the class of what is returned. So it is with rows that say `unchecked = "removed in Python
3.13"`. Other rows with `unchecked`, and synthetic types, are exempt and counted. The exit code is 1 if anything is wrong.
`--results` writes what was found, for the repository.

Needs Python 3.11 or newer; the interpreters that are asked may be older.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomllib

from digest import digest

Row = dict[str, Any]
Version = tuple[int, ...]
HERE = Path(__file__).resolve().parent
PROBE = HERE / "verify_stdlib_probe.py"
# The tables whose rows have paths.
TABLES = ("call", "type", "handover")
COMPARISONS: dict[str, Callable[[Version, Version], bool]] = {
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
}
# Spellings of other platforms, which these interpreters cannot have.
ELSEWHERE = {
    "asyncio.ProactorEventLoop": "Windows only",
    "compression.bz2": "Python 3.14",
    "compression.gzip": "Python 3.14",
    "compression.lzma": "Python 3.14",
    "compression.zlib": "Python 3.14",
    "typing_extensions": "a library of its own with the same names",
}
# The first segments of names of the standard library; twins in other libraries are checked with their models.
STANDARD = frozenset(sys.stdlib_module_names) | {"builtins", "asyncore", "asynchat", "smtpd", "imp", "distutils"}


@dataclass(frozen=True)
class Place:
    """The row from which a question comes."""

    file: str
    line: int
    path: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: `{self.path}`"


@dataclass
class Asked:
    """A question, and the interpreters in which the answer must be yes."""

    place: Place
    question: Row
    ranges: list[str]
    removed: Version | None = None
    exempt: str | None = None

    def applies(self, version: Version) -> bool:
        """True if the row applies to an interpreter."""
        return all(holds(one, version) for one in self.ranges) and (self.removed is None or version < self.removed)


@dataclass
class Tally:
    """The results of one interpreter."""

    counts: Counter[str] = field(default_factory=Counter)
    unbuilt: set[str] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)
    # Missing names that another version may have, with the rows that have them.
    absent: set[str] = field(default_factory=set)
    present: set[str] = field(default_factory=set)
    # Functions without a signature in the interpreter.
    unsigned: set[str] = field(default_factory=set)


def as_list(value: Any) -> list[Any]:
    """Returns a value or a list as a list."""
    return value if isinstance(value, list) else [value]


def numbers(text: str) -> Version:
    """Returns a version such as `3.12` as numbers."""
    return tuple(int(part) for part in text.split("."))


def holds(versions: str, version: Version) -> bool:
    """True if a version is in a range such as `>=3.9,<3.13`."""
    for comparison in versions.split(","):
        found = re.fullmatch(r"\s*(<=|>=|==|!=|<|>)\s*([\d.]+)\s*", comparison)
        if found is None:
            raise SystemExit(f"`{versions}` is no version range")
        if not COMPARISONS[found[1]](version, numbers(found[2])):
            return False
    return True


def expand(path: str) -> Iterator[str]:
    """Yields the paths of a pattern with `{a,b}`."""
    found = re.search(r"\{([^{}]*)\}", path)
    if found is None:
        yield path
        return
    for part in found[1].split(","):
        yield from expand(path[: found.start()] + part.strip() + path[found.end() :])


def paths_of(row: Row) -> list[str]:
    """Returns all paths of a row."""
    return [one for path in as_list(row["path"]) for one in expand(path)]


def conditions(row: Row) -> list[Row]:
    """Returns the conditions of a row."""
    return [one for key in ("when", "unless") for one in as_list(row.get(key, []))]


def arguments(row: Row) -> list[str]:
    """Returns the arguments in a row."""
    named = [one["argument"] for one in conditions(row) if "argument" in one]
    named += [row[key] for key in ("timeout", "consumes", "adds", "argument", "concurrency") if key in row]
    texts = as_list(row.get("returns", [])) + as_list(row.get("gives", []))
    named += [name for text in texts for name in re.findall(r"\$([\w@]+)", text)]
    return sorted({str(one) for one in named} - {"receiver", "*", "unbounded", "bounded"})


def dotted(text: str) -> list[str]:
    """Returns the names in a type expression that the standard library must have."""
    names = re.findall(r"[A-Za-z_]\w*(?:\.(?:\w+|<\w+>))+", text)
    return [name for name in names if name.split(".")[0] in STANDARD and "<" not in name]


def also_named(row: Row) -> list[str]:
    """Returns the names in a row besides its path."""
    names: list[str] = []
    for one in conditions(row):
        names += [symbol for symbol in as_list(one.get("symbol", [])) if symbol.split(".")[0] in STANDARD]
        names += [name for text in as_list(one.get("type", [])) for name in dotted(text)]
    for key in ("returns", "gives", "element", "enters", "awaits"):
        names += [name for text in as_list(row.get(key, [])) for name in dotted(text)]
    for text in row.get("fields", {}).values():
        names += dotted(text)
    templates = row.get("rewrite", {})
    for template in templates.values() if isinstance(templates, dict) else [templates]:
        names += [
            name for name in re.findall(r"\{([A-Za-z_][\w.]*\.\w+)\}", template) if name.split(".")[0] in STANDARD
        ]
    return sorted(set(names))


def twins(row: Row, path: str) -> list[str]:
    """Returns the async twins in the standard library."""
    given = row.get("instead", [])
    listed = [one for value in (given.values() if isinstance(given, dict) else [given]) for one in as_list(value)]
    full = [one.replace("*", path.rsplit(".", 1)[-1]) for one in listed]
    return sorted({one for one in full if one.split(".")[0] in STANDARD})


def removed_in(row: Row) -> Version | None:
    """Returns the version that removed the name of a row, if the row has one."""
    found = re.search(r"\bremoved in Python (\d+\.\d+)", row.get("unchecked", ""))
    return numbers(found[1]) if found else None


def line_of(text: str, table: str, index: int) -> int:
    """Returns the line of a row's header."""
    heads = [number for number, line in enumerate(text.splitlines(), 1) if line.strip() == f"[[{table}]]"]
    return heads[index]


def read(folder: Path) -> list[Asked]:
    """Returns the questions for the rows of the models in a folder."""
    asked: list[Asked] = []
    awaited: set[str] = set()
    aliases: dict[str, str] = {}
    for file in sorted(folder.glob("*.toml")):
        text = file.read_text(encoding="utf-8")
        model = tomllib.loads(text)
        ranges = as_list(model.get("version", []))
        for table in TABLES:
            for index, row in enumerate(model.get(table, [])):
                line = line_of(text, table, index)
                # A future counts as awaited too.
                if row.get("async") or str(row.get("returns")).startswith(("asyncio.Future", "asyncio.Task")):
                    awaited.update(paths_of(row))
                asked += [question_of(file.name, line, table, row, path, ranges) for path in paths_of(row)]
        for spelling, target in model.get("alias", {}).items():
            aliases[spelling] = target
            line = next(number for number, one in enumerate(text.splitlines(), 1) if one.startswith(f'"{spelling}"'))
            exempt = ELSEWHERE.get(spelling)
            place = Place(file.name, line, spelling)
            asked.append(Asked(place, {"path": spelling, "target": target}, ranges, exempt=exempt))
    for one in asked:
        if "twins" in one.question:
            one.question["async"] = sorted(awaited & set(one.question["twins"]))
        one.question["spellings"] = spellings(one.place.path, aliases)[1:]
        one.question["names"] = [spellings(name, aliases) for name in one.question.get("names", [])]
    return asked


def is_below(path: str, prefix: str) -> bool:
    """True if a path is equal to another or below it."""
    return path == prefix or path.startswith(prefix + ".")


def spellings(path: str, aliases: dict[str, str]) -> list[str]:
    """Returns a path and its other spellings."""
    return [path] + [other + path[len(known) :] for other, known in aliases.items() if is_below(path, known)]


def question_of(file: str, line: int, table: str, row: Row, path: str, ranges: list[str]) -> Asked:
    """Returns the question for one path of a row."""
    question: Row = {"path": path, "names": also_named(row)}
    if table == "type":
        question["class"] = True
        question["bases"] = [re.sub(r"\[.*", "", base) for base in as_list(row.get("bases", [])) if "<" not in base]
        question["fields"] = sorted(row.get("fields", {}))
    if table == "call":
        question["call"] = True
        question["property"] = row.get("property", False)
        question["holds"] = row.get("effect", "none") != "none" and not row.get("async")
        question["twins"] = twins(row, path)
    # The arguments of a decorator or override are those of the callable.
    if row.get("via") is None and table != "type":
        question["arguments"] = arguments(row)
    removed = removed_in(row)
    exempt = "a synthetic type" if "<" in path else None
    if removed is None and "unchecked" in row:
        exempt = row["unchecked"]
    own = as_list(row.get("version", []))
    return Asked(Place(file, line, path), question, ranges + own, removed, exempt)


def ask(python: str, questions: list[Row]) -> tuple[Version, list[Row]]:
    """Returns the version of an interpreter, and its answers."""
    show = "import sys; print('.'.join(map(str, sys.version_info[:2])))"
    version = subprocess.run([python, "-I", "-c", show], capture_output=True, text=True, check=True).stdout.strip()
    done = subprocess.run(
        [python, "-I", PROBE], input=json.dumps(questions), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{python}: the probe failed\n{done.stderr}")
    return numbers(version), json.loads(done.stdout)


def judge(asked: list[Asked], version: Version, answers: list[Row]) -> Tally:
    """Compares the answers of an interpreter with the rows."""
    tally = Tally()
    for one, said in zip(asked, answers, strict=True):
        if one.exempt is not None:
            tally.counts["synthetic" if one.exempt == "a synthetic type" else "unchecked"] += 1
        elif "unbuilt" in said:
            tally.counts["not built"] += 1
            tally.unbuilt.add(said["unbuilt"])
        elif not one.applies(version):
            tally.counts["outside of the range"] += 1
            # A function may be older than its return type.
            if "missing" not in said and not said["problems"]:
                tally.errors.append(f"{one.place} exists, and the row says that it does not")
        elif "missing" in said and "target" in one.question:
            # An alias has no version range, so it must exist in at least one interpreter.
            tally.absent.add(f"{one.place}: {said['missing']}")
            tally.counts["aliases of other versions"] += 1
        elif "missing" in said:
            tally.errors.append(f"{one.place}: {said['missing']}")
        else:
            tally.counts["found"] += 1
            tally.present.add(str(one.place))
            # A parameter may be newer than the interpreter.
            tally.absent |= {f"{one.place}: {absent.partition(' in (')[0]}" for absent in said.get("absent", [])}
            if said["signature"] is False:
                tally.unsigned.add(one.place.path)
            if said["signature"] is not None:
                tally.counts["with signature" if said["signature"] else "without signature"] += 1
            tally.errors += [f"{one.place}: {problem}" for problem in said["problems"]]
    return tally


def nowhere(tallies: list[Tally]) -> list[str]:
    """Yields the aliases and parameters that no interpreter has."""
    missing: set[str] = set().union(*(tally.absent for tally in tallies))

    def is_there(text: str, tally: Tally) -> bool:
        return text not in tally.absent and text[: text.rindex("`: ") + 1] in tally.present

    return sorted(text for text in missing if not any(is_there(text, tally) for tally in tallies))


def main() -> int:
    """Checks all interpreters of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, default=HERE / "python/stdlib", help="the folder with the models")
    parser.add_argument("--results", type=Path, help="file for the results")
    parser.add_argument("--unsigned", action="store_true", help="list the functions that tell no parameters")
    parser.add_argument("pythons", nargs="+", metavar="PYTHON", help="an interpreter")
    options = parser.parse_args()
    asked = read(options.models)
    print(f"{len(asked)} paths and aliases of {len({one.place.file for one in asked})} files")
    failed = False
    tallies: list[Tally] = []
    lines: list[str] = []
    for python in options.pythons:
        version, answers = ask(python, [one.question for one in asked])
        tally = judge(asked, version, answers)
        tallies.append(tally)
        counts = ", ".join(f"{count} {what}" for what, count in sorted(tally.counts.items()))
        lines.append(f"Python {'.'.join(map(str, version))}: {counts}, {len(tally.errors)} wrong")
        print(lines[-1])
        if options.unsigned:
            print(f"    without signature: {', '.join(sorted(tally.unsigned))}")
        if tally.unbuilt:
            print(f"    not built: {', '.join(sorted(tally.unbuilt))}")
        for error in tally.errors:
            print(f"    {error}")
        failed |= bool(tally.errors)
    for gone in nowhere(tallies):
        print(f"in none of them: {gone}")
        failed = True
    if options.results is not None and not failed:
        options.results.write_text("\n".join([*lines, *checked(options.models, asked), ""]), encoding="utf-8")
    return int(failed)


def checked(folder: Path, asked: list[Asked]) -> list[str]:
    """Returns a line for each file, with the number of checked paths and a digest."""
    paths = Counter(one.place.file for one in asked)
    digests = {name: digest(folder / name)[:16] for name in sorted(paths)}
    return [f"{name}: {paths[name]} paths and aliases, sha256 {digest}" for name, digest in digests.items()]


if __name__ == "__main__":
    sys.exit(main())
