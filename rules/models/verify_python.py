#!/usr/bin/env python3
"""Checks the rows of Python model files against the libraries themselves.

    verify_python.py rules/models/python/requests.toml …       print what does not hold
    verify_python.py --write FILE …                             and record what does in VERIFIED.toml
    verify_python.py --also lxml-stubs FILE …                   read further packages: stubs, bases in other libraries

For each file the newest version of its library within `version` is downloaded without dependencies and read as syntax
trees; nothing is installed, imported or run. Of every row the path must exist, be a coroutine function where `async`
says so and none where an effect stands, and have the parameters that the row names. Exempt are paths with a
synthetic `<…>` segment and rows with `unchecked`. The further packages are recorded with the result and read again the
next time.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import re
import sys
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import python_packages
from python_signatures import Signature, is_async, is_coroutine, signatures
from python_sources import Class, Entity, Function, Module, Outside, Sources, Value

HERE = Path(__file__).resolve().parent
TABLES = ("call", "type", "handover")
Row = dict[str, Any]


@dataclass
class Result:
    """What checking one model file found."""

    file: Path
    library: str = ""
    version: str = ""
    rows: int = 0
    checked: int = 0
    exempt: int = 0
    unchecked: int = 0
    also: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    expansions: dict[str, list[str]] = field(default_factory=dict)

    def problem(self, line: int, path: str, message: str) -> None:
        self.problems.append(f"{self.file}:{line}: {path}: {message}")


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def expand(path: str) -> list[str]:
    """`{a,b}` written out; braces may stand in braces."""
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
    """The lines of the `path` keys of each table, in order."""
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


class Checker:
    """Checks one file against one set of sources."""

    def __init__(self, result: Result, document: Row, sources: Sources) -> None:
        self.result, self.document, self.sources = result, document, sources
        self.exact = {p for row in document.get("call", []) for p in paths_of(row) if not re.search(r"[*\[]", p)}

    def row(self, table: str, row: Row, line: int) -> None:
        for path in paths_of(row):
            if "unchecked" in row:
                self.result.exempt += 1
                self.result.unchecked += 1
            elif "<" in path:
                self.result.exempt += 1
            else:
                self.result.checked += 1
                for message in self.path(table, row, path):
                    self.result.problem(line, path, message)

    def path(self, table: str, row: Row, path: str) -> list[str]:
        if re.search(r"[*\[]", path):
            return self.glob(table, row, path)
        found = self.sources.resolve(path)
        if not found:
            return [self.missing(path)]
        outside = [e for e in found if isinstance(e, Outside)]
        if len(outside) == len(found):
            if outside[0].path.startswith("builtins."):
                return []
            return [f"leads to `{outside[0].path}`, which is not at hand; give its package with --also"]
        found = [e for e in found if not isinstance(e, Outside)]
        if table == "type":
            return self.type(row, path, found)
        messages = self.kind(row, path, found) if table == "call" else []
        messages += self.arguments(row, path, found)
        if table == "call":
            messages += self.twins(row, path, found)
        return messages

    def missing(self, path: str) -> str:
        parts = path.split(".")
        for length in range(len(parts) - 1, 0, -1):
            head = ".".join(parts[:length])
            known = self.sources.resolve(head)
            if known:
                compiled = any(isinstance(e, Module) and e.compiled for e in known)
                hint = " in its sources; it is compiled and has no stub" if compiled else ""
                return f"`{head}` has no `{parts[length]}`{hint}"
        return f"no module `{parts[0]}`"

    def glob(self, table: str, row: Row, path: str) -> list[str]:
        parts = path.split(".")
        first = next(at for at, part in enumerate(parts) if re.search(r"[*\[]", part))
        entities = self.sources.resolve(".".join(parts[:first]))
        if not entities:
            return [self.missing(".".join(parts[: first + 1]))]
        if "**" in parts:
            return []
        covered: dict[str, list[Entity]] = {".".join(parts[:first]): entities}
        for part in parts[first:]:
            covered = {
                f"{head}.{name}": found
                for head, owners in covered.items()
                for owner in owners
                for name, found in self.sources.public_members(owner).items()
                if fnmatch.fnmatchcase(name, part)
            }
        covered = {
            name: calls
            for name, found in covered.items()
            if (calls := [e for e in found if isinstance(e, Function) and not e.is_property or isinstance(e, Value)])
        }
        self.result.expansions[path] = sorted(covered)
        if not covered:
            return ["matches nothing"]
        if table != "call" or "effect" not in row or row["effect"] == "none" or row.get("async"):
            return []
        loose = [n for n, e in covered.items() if n not in self.exact and all(is_coroutine(self.sources, x) for x in e)]
        return [f"covers the coroutine function `{name}`" for name in sorted(loose)]

    def kind(self, row: Row, path: str, found: list[Entity]) -> list[str]:
        functions = [e for e in found if isinstance(e, Function)]
        if row.get("property"):
            ok = any(isinstance(e, Value) or isinstance(e, Function) and e.is_property for e in found)
            return [] if ok else ["is not a property"]
        if functions and len(functions) == len(found) and all(f.is_property for f in functions):
            return ["is a property; say `property = true`"]
        if any(isinstance(e, Module) for e in found) and len(found) == 1:
            return ["is a module"]
        held = row.get("effect", "none") != "none"
        if row.get("async"):
            if functions and not any(is_async(self.sources, f) for f in functions):
                return ["is not seen to give something to await"]
        elif held and functions and all(is_coroutine(self.sources, f) for f in functions):
            return ["is a coroutine function"]
        if held and not row.get("async") and not row.get("lazy") and not path.endswith(".__iter__"):
            if functions and all("contextmanager" in f.decorators for f in functions):
                return ["is a context manager: the effect is that of entering it"]
            if functions and all(f.is_generator and not f.decorators for f in functions):
                return ["is a generator function: say `lazy = true`"]
        return []

    def type(self, row: Row, path: str, found: list[Entity]) -> list[str]:
        classes = [e for e in found if isinstance(e, Class)]
        if not classes:
            values = [e for e in found if isinstance(e, Value)]
            return [] if values and ("fields" in row or path in self.exact) else ["is not a class"]
        messages = []
        known = [self.sources.mro(c) for c in classes]
        for base in row.get("bases", []):
            plain = re.split(r"[\[<|]", base)[0].strip()
            if "<" in base:
                continue
            wanted = self.sources.resolve(plain)
            same = any(w in order for w in wanted for order in known)
            last = plain.rsplit(".", 1)[-1]
            same = same or any(isinstance(b, Outside) and b.path.rsplit(".", 1)[-1] == last for o in known for b in o)
            same = same or any(isinstance(b, type) and b.__name__ == last for o in known for b in o)
            if not same:
                messages.append(f"does not derive from `{base}`")
        for name in row.get("fields", {}):
            if not any(self.sources.member(c, name) for c in classes):
                messages.append(f"has no field `{name}`")
        return messages

    def arguments(self, row: Row, path: str, found: list[Entity]) -> list[str]:
        references = references_of(row)
        if not references:
            return []
        known = signatures(self.sources, found)
        if not known:
            return []
        return [m for ref in references if (m := best_mismatch(known, ref)) is not None]

    def twins(self, row: Row, path: str, found: list[Entity]) -> list[str]:
        given = row.get("instead", [])
        names = [t for v in (given.values() if isinstance(given, dict) else [given]) for t in as_list(v)]
        messages = []
        for name in names:
            target = name.replace("*", path.rsplit(".", 1)[-1])
            if self.sources.module(target.split(".")[0]) is None:
                continue
            twin = [e for e in self.sources.resolve(target) if not isinstance(e, Outside)]
            if not twin:
                messages.append(f"twin `{target}` does not exist")
                continue
            functions = [e for e in twin if isinstance(e, Function)]
            if functions and not any(is_async(self.sources, f) for f in functions):
                messages.append(f"twin `{target}` is not seen to give something to await")
            elif functions and "rewrite" not in row:
                messages += lost_parameters(signatures(self.sources, found), signatures(self.sources, twin), target)
        return messages


def references_of(row: Row) -> list[str | int]:
    """Every argument that a row names."""
    found: list[str | int] = [row[key] for key in ("timeout", "adds", "consumes", "argument") if key in row]
    for key in ("when", "unless"):
        found += [c["argument"] for c in as_list(row.get(key, [])) if "argument" in c]
    if row.get("concurrency") not in (None, "bounded", "unbounded"):
        found.append(row["concurrency"])
    texts = [str(row.get("returns", "")), *(str(t) for t in as_list(row.get("gives", [])))]
    for text in texts:
        found += [int(x) if x.isdigit() else x for x in re.findall(r"\$(\w+(?:@\d+)?)", text)]
    return [f for f in found if f not in ("*", "receiver")]


def best_mismatch(known: list[Signature], reference: str | int) -> str | None:
    """Nothing if any overload has the argument, else what is wrong with the first."""
    messages = [signature.mismatch(reference) for signature in known]
    return None if None in messages else messages[0]


def lost_parameters(call: list[Signature], twin: list[Signature], target: str) -> list[str]:
    if not call or not twin:
        return []
    lost = [
        [n for n in c.names if n not in t.names and not t.keywords and not (t.rest and n in c.positional)]
        for c in call
        for t in twin
    ]
    least = min(lost, key=len)
    return [f"twin `{target}` has no parameter `{name}`" for name in least]


def alias_problems(document: Row, sources: Sources) -> list[tuple[str, str]]:
    problems = []
    for left, right in document.get("alias", {}).items():
        if "<" in right:
            continue
        one, other = sources.resolve(left), sources.resolve(right)
        if any(isinstance(e, Outside) for e in one + other):
            continue
        if any(sources.module(name.split(".")[0]) is None for name in (left, right)):
            # A facade in another package, which is not at hand.
            continue
        if not one or not other:
            problems.append((left, f"`{left if not one else right}` does not exist"))
            continue
        nodes = {id(e.node) for e in other if isinstance(e, (Class, Function))}
        same = any(e in other for e in one) or any(
            isinstance(e, (Class, Function)) and id(e.node) in nodes for e in one
        )
        same = same or any(isinstance(e, Module) for e in one) and any(isinstance(e, Module) for e in other)
        for a in one:
            for b in other:
                if isinstance(a, Class) and isinstance(b, Class):
                    same = same or b in sources.mro(a) or a in sources.mro(b)
                same = same or isinstance(a, Value) or isinstance(b, Value)
        if not same:
            problems.append((left, f"is not `{right}`"))
    return problems


def within(version: str, ranges: str) -> bool:
    """Whether a version lies in a range such as `>=2,<3`."""

    def numbers(text: str) -> list[int]:
        found = [int(n) for n in re.findall(r"\d+", re.match(r"[\d.]*", text.strip())[0])]  # type: ignore[index]
        while found and found[-1] == 0:
            found.pop()
        return found

    for part in ranges.split(","):
        found = re.match(r"\s*(<=|>=|==|!=|<|>)\s*([\d.]+)", part)
        if not found:
            continue
        have, want = numbers(version), numbers(found[2])
        holds = {"<": have < want, "<=": have <= want, ">": have > want, ">=": have >= want}
        holds |= {"==": have == want, "!=": have != want}
        if not holds[found[1]]:
            return False
    return True


def check(file: Path, also: list[str], cache: Path) -> Result:
    text = file.read_text()
    document = tomllib.loads(text)
    result = Result(file, also=also)
    library = as_list(document["library"])[0]
    result.library = library
    if library == "python":
        result.problem(1, library, "the standard library is not a package; this script does not check it")
        return result
    versions = document.get("version", "")
    try:
        extra = [python_packages.download(*split_requirement(name), cache) for name in also]
        package = python_packages.download(library, versions, cache)
    except python_packages.DownloadError as why:
        result.problem(1, library, str(why))
        return result
    result.version = package.version
    folders = [*package.folders, *(f for p in extra for f in p.folders)]
    main = Checker(result, document, Sources(folders))
    older: dict[str, Checker] = {}
    lines = lines_of(text)
    for table in TABLES:
        for index, row in enumerate(document.get(table, [])):
            result.rows += 1
            checker = main
            own = row.get("version")
            if own and not within(package.version, own) and "unchecked" not in row:
                if own not in older:
                    try:
                        other = python_packages.download(library, ",".join(filter(None, (versions, own))), cache)
                    except python_packages.DownloadError as why:
                        result.problem(lines[table][index], str(row["path"]), str(why))
                        continue
                    folders = [*other.folders, *(f for p in extra for f in p.folders)]
                    older[own] = Checker(result, document, Sources(folders))
                checker = older[own]
            checker.row(table, row, lines[table][index])
    for left, message in alias_problems(document, main.sources):
        at = next((n for n, line in enumerate(text.splitlines(), 1) if line.startswith(f'"{left}"')), 1)
        result.problem(at, left, message)
    return result


def split_requirement(text: str) -> tuple[str, str]:
    found = re.match(r"([\w.\-]+)(.*)", text)
    return (found[1], found[2].strip()) if found else (text, "")


def model_name(file: Path) -> str:
    """The file below `rules/models`, or as it is given."""
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
            "also": result.also, "sha256": hashlib.sha256(result.file.read_bytes()).hexdigest(),
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
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "blocklint-models")
    arguments = parser.parse_args()
    known = recorded()
    good: list[Result] = []
    failed = False
    for file in arguments.files:
        earlier = known.get(model_name(file), {}).get("also", [])
        result = check(file, sorted({*earlier, *arguments.also}), arguments.cache)
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
