#!/usr/bin/env python3
"""Checks the rows of Java model files against the class files of the libraries.

    verify_java.py rules/models/java/okhttp.toml …            print what does not hold
    verify_java.py --write FILE …                             and record what does in VERIFIED.toml
    verify_java.py --also org.springframework:spring-tx FILE  read further jars: bases in other artifacts

For each file the newest versions of its artifacts within `version` are downloaded through Maven without their
dependencies, and their class files are read; nothing is run. Of every row the class and the method must exist, with the
parameters that the row names; what it returns must fit; a call with an effect must not give a future or publisher unless
it says `async`, and one with `async` must. Exempt are paths with a synthetic `<…>` segment and rows with `unchecked`.
The further jars are recorded with the result and read again the next time. `jdk.toml` is read from the JDK at hand.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import tomllib
from pathlib import Path

import java_packages
from java_classes import FINAL, PUBLIC, STATIC, Classes, Method, jdk_modules
from verify_python import TABLES, Result, Row, as_list, lines_of, model_name, paths_of, record, recorded

#: Work that is under way, or runs when subscribed, where the type itself is in a jar that is not at hand.
AWAITABLE = re.compile(r"(Future|CompletionStage|Promise|Mono|Flux|Publisher|Flowable|Single|Maybe|Completable|Observable|Uni|Multi|FutureCallback)$")
AWAITABLE_BASES = (
    "java.util.concurrent.Future", "java.util.concurrent.CompletionStage", "java.util.concurrent.Flow.Publisher",
    "org.reactivestreams.Publisher",
)  # fmt: skip
GLOB = re.compile(r"[*\[]")


class Checker:
    """Checks one file against one set of jars."""

    def __init__(self, result: Result, document: Row, classes: Classes) -> None:
        self.result, self.document, self.classes = result, document, classes
        self.exact = {bare(p) for row in document.get("call", []) for p in paths_of(row) if not GLOB.search(bare(p))}
        self.described = {p for row in document.get("type", []) for p in paths_of(row)}

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
        if GLOB.search(bare(path)):
            return self.glob(table, row, path)
        if table == "type":
            return self.type(row, path)
        name = bare(path)
        known = self.classes.get(name)
        if row.get("via") == "decorator":
            if known is None:
                return [self.missing(name)]
            return [] if known.is_annotation else ["is no annotation"]
        if known is not None:
            found = self.classes.methods(name, "<init>")
            if not found:
                return ["has no public constructor"]
        else:
            owner, _, member = name.rpartition(".")
            if self.classes.get(owner) is None:
                return [self.missing(name)]
            found = self.classes.methods(owner, member)
            if not found:
                missing = self.classes.order(owner)[1]
                hint = f"; `{missing[0]}` is not at hand, give its artifact with --also" if missing else ""
                return [f"`{owner}` has no `{member}`{hint}"]
        if "(" in path:
            wanted = parameters(path)
            fitting = [m for m in found if fits(m.parameters, wanted)]
            if not fitting:
                shown = " ".join(sorted({f"({','.join(m.parameters)})" for m in found}))
                return [f"no overload has these parameters; there are {shown}"]
            found = fitting
        if row.get("via") == "override":
            return ["is final" if all(m.flags & (FINAL | STATIC) for m in found) else ""][: all(m.flags & (FINAL | STATIC) for m in found)]
        messages = self.arguments(row, found)
        if table == "call":
            messages += self.kind(row, name if known else name.rpartition(".")[0], known is not None, found)
            messages += self.returns(row, name if known else name.rpartition(".")[0], known is not None, found)
            messages += self.twins(row, name)
        return messages

    def missing(self, name: str) -> str:
        parts = name.split(".")
        for length in range(len(parts) - 1, 0, -1):
            head = ".".join(parts[:length])
            if self.classes.get(head) is not None:
                return f"`{head}` has no `{parts[length]}`"
            if head in self.classes.packages:
                return f"package `{head}` has no `{parts[length]}`"
        return f"no package `{parts[0]}`"

    def glob(self, table: str, row: Row, path: str) -> list[str]:
        if table == "type":
            return ["a type has no pattern"]
        plain = bare(path)
        owner, _, member = plain.rpartition(".")
        if "**" in plain.split("."):
            head = plain.split("**")[0].rstrip(".")
            inside = any(p == head or p.startswith(head + ".") for p in self.classes.packages)
            return [] if inside or self.classes.get(head) else [self.missing(head + ".x")]
        owners = [owner] if not GLOB.search(owner) else self.matching(owner)
        if not GLOB.search(owner) and self.classes.get(owner) is None:
            return [self.missing(owner + ".x")]
        covered = {
            f"{each}.{name}": found
            for each in sorted(owners)
            for name, found in self.classes.members(each).items()
            if re.fullmatch(pattern(member), name)
        }
        self.result.expansions[path] = sorted(covered)
        if not covered:
            return ["matches nothing"]
        if table != "call" or row.get("effect", "none") == "none" or row.get("async"):
            return []
        rest = {n: f for n, f in covered.items() if n not in self.exact and not self.narrower(n, path)}
        return [f"covers `{name}`, which gives work to wait for" for name, f in sorted(rest.items()) if self.all_awaitable(f)]

    def matching(self, owner: str) -> list[str]:
        """The public classes of the library that a pattern means."""
        names = [name for name in self.classes.own if re.fullmatch(pattern(owner), name)]
        return [name for name in names if (known := self.classes.get(name)) and known.flags & PUBLIC]

    def narrower(self, name: str, path: str) -> bool:
        """Whether another pattern with more literal characters speaks of a name."""
        rows = self.document.get("call", [])
        others = [p for row in rows for p in paths_of(row) if GLOB.search(bare(p)) and p != path and len(p) > len(path)]
        return any(re.fullmatch(pattern(bare(p)), name) for p in others)

    def all_awaitable(self, found: list[Method]) -> bool:
        return bool(found) and all(self.awaitable(m) for m in found)

    def awaitable(self, method: Method) -> bool:
        name = method.returns
        if self.classes.get(name) is None:
            return bool(AWAITABLE.search(name.rpartition(".")[2]))
        order, missing = self.classes.order(name)
        names = [known.name for known in order] + missing
        return any(base in names for base in AWAITABLE_BASES) or any(AWAITABLE.search(n.rpartition(".")[2]) for n in names)

    def kind(self, row: Row, owner: str, constructor: bool, found: list[Method]) -> list[str]:
        held = row.get("effect", "none") != "none"
        # `future.sync()` gives the future itself, once it is done.
        found = found if row.get("async") else [m for m in found if not held or not self.classes.derives(owner, m.returns)]
        if constructor:
            return ["a constructor gives nothing to wait for"] if row.get("async") else []
        if row.get("async"):
            ok = any(self.awaitable(m) for m in found)
            return [] if ok else [f"gives `{found[0].returns}`, which is nothing to wait for"]
        if held and not row.get("lazy") and self.all_awaitable(found):
            return [f"gives `{found[0].returns}`, work to wait for: say `async = true`"]
        return []

    def returns(self, row: Row, owner: str, constructor: bool, found: list[Method]) -> list[str]:
        wanted = re.match(r"[\w.]+", row.get("returns", ""))
        if not wanted or "<" in re.sub(r"(?<=\w)<", "", row["returns"]):
            return []
        name = owner if wanted[0] == "Self" else wanted[0]
        if "." not in name or constructor:
            return []
        if self.classes.get(name) is None:
            inside = any(name.startswith(p + ".") for p in self.own_packages())
            return [f"`{name}` in `returns` does not exist"] if inside else []
        for method in found:
            given = method.returns
            if given == "java.lang.Object" or self.classes.derives(name, given) or self.classes.derives(given, name):
                return []
            if self.classes.get(given) is None and given not in ("void", "int", "long", "boolean", "double", "float"):
                return []
        return [f"gives `{found[0].returns}`, not `{name}`"]

    def own_packages(self) -> set[str]:
        return {name.rpartition(".")[0] for name in self.classes.own} & self.classes.packages

    def type(self, row: Row, path: str) -> list[str]:
        known = self.classes.get(path)
        if known is None:
            return [self.missing(path)]
        messages = []
        order, missing = self.classes.order(path)
        names = {each.name for each in order} | set(missing)
        for base in row.get("bases", []):
            plain = re.split(r"[<\[]", base)[0].strip()
            if "<" not in base.replace(plain, "", 1)[:1] and "<" in plain or ".<" in base:
                continue
            if plain not in names:
                more = f" ({missing[0]} is not at hand)" if missing else ""
                messages.append(f"does not derive from `{plain}`{more}")
        for name in row.get("fields", {}):
            if not any(name in each.fields for each in order):
                messages.append(f"has no field `{name}`")
        if (method := row.get("functional")) and not self.classes.methods(path, method):
            messages.append(f"has no method `{method}`")
        return messages

    def arguments(self, row: Row, found: list[Method]) -> list[str]:
        most = max(len(m.parameters) for m in found)
        return [f"has no argument {n}" for n in positions(row) if (n >= most if n >= 0 else -n > most)]

    def twins(self, row: Row, name: str) -> list[str]:
        given = row.get("instead", [])
        targets = [t for v in (given.values() if isinstance(given, dict) else [given]) for t in as_list(v)]
        messages = []
        for target in targets:
            target = bare(target).replace("*", name.rpartition(".")[2])
            owner, _, member = target.rpartition(".")
            if self.classes.get(target) is not None or self.classes.methods(owner, member):
                continue
            if target in self.own_packages() or owner in self.own_packages() or self.classes.get(owner) is not None:
                messages.append(f"twin `{target}` does not exist")
        return messages


def bare(path: str) -> str:
    """A path without its parameter list."""
    return path.partition("(")[0]


def parameters(path: str) -> list[str]:
    inside = path[path.index("(") + 1 : path.rindex(")")]
    return [p.strip() for p in inside.split(",") if p.strip()]


def fits(have: tuple[str, ...], wanted: list[str]) -> bool:
    def same(one: str, other: str) -> bool:
        other = other.replace("...", "[]")
        return other == "_" or one == other or one.endswith("." + other)

    return len(have) == len(wanted) and all(same(h, w) for h, w in zip(have, wanted, strict=True))


def pattern(path: str) -> str:
    """A regular expression for a path with `*` and one character of a class."""
    out = ""
    for part in re.split(r"(\*|\[A-Z\]|\[a-z\])", path):
        out += {"*": r"\w*", "[A-Z]": "[A-Z]", "[a-z]": "[a-z]"}.get(part, re.escape(part))
    return out


def positions(row: Row) -> list[int]:
    """Every position of an argument that a row names."""
    found = [row.get(key) for key in ("timeout", "adds", "consumes", "argument", "concurrency")]
    for key in ("when", "unless"):
        found += [c.get("argument") for c in as_list(row.get(key, []))]
    found += list(row.get("moves", {}).values())
    if isinstance(row.get("context"), dict):
        found.append(row["context"].get("of"))
    found += [int(n) for n in re.findall(r"\$(\d+)", str(row.get("returns", "")) + str(row.get("gives", "")))]
    return [f for f in found if isinstance(f, int) and not isinstance(f, bool)]


def check(file: Path, also: list[str], cache: Path) -> Result:
    text = file.read_text()
    document = tomllib.loads(text)
    result = Result(file, also=also)
    libraries = as_list(document["library"])
    result.library = libraries[0]
    versions = document.get("version", "")
    try:
        main = load(result, document, libraries, versions, also, cache)
    except java_packages.DownloadError as why:
        result.problem(1, result.library, str(why))
        return result
    older: dict[str, Checker] = {}
    lines = lines_of(text)
    for table in TABLES:
        for index, row in enumerate(document.get(table, [])):
            result.rows += 1
            checker = main
            own = row.get("version")
            if own and not java_packages.within(result.version, own) and "unchecked" not in row:
                if result.library == "jdk":
                    result.problem(lines[table][index], str(row["path"]), f"needs a JDK {own}; this is {result.version}")
                    continue
                try:
                    both = ",".join(filter(None, (versions, own)))
                    if own not in older:
                        older[own] = load(Result(file), document, libraries, both, also, cache)
                except java_packages.DownloadError as why:
                    result.problem(lines[table][index], str(row["path"]), str(why))
                    continue
                checker = older[own]
                checker.result = result
            checker.row(table, row, lines[table][index])
    for left, right in document.get("alias", {}).items():
        at = next((n for n, line in enumerate(text.splitlines(), 1) if line.startswith(f'"{left}"')), 1)
        known = {*main.classes.places, *main.classes.packages}
        # The other side of a renamed package is in another artifact, or in an older version of this one.
        if not any(p == side or p.startswith(side + ".") for p in known for side in (left, right)):
            result.problem(at, left, f"neither `{left}` nor `{right}` exists")
    return result


def load(result: Result, document: Row, libraries: list[str], versions: str, also: list[str], cache: Path) -> Checker:
    """Downloads what one file needs; the first library's version is the one that is recorded."""
    if libraries == ["jdk"]:
        release = next((m.parent.parent / "release" for m in jdk_modules()), None)
        found = re.search(r'JAVA_VERSION="([^"]+)"', release.read_text()) if release else None
        if found is None:
            raise java_packages.DownloadError("no JDK with module files: set JAVA_HOME")
        result.version = found[1]
        classes = Classes([])
        classes.own = set(classes.places)
        return Checker(result, document, classes)
    artifacts = [java_packages.download(libraries[0], versions, cache)]
    result.version = artifacts[0].version
    for name in libraries[1:]:
        try:
            artifacts.append(java_packages.download(name, versions, cache))
        except java_packages.DownloadError:
            artifacts.append(java_packages.download(name, "", cache))
    artifacts += [java_packages.download(*split_requirement(name), cache) for name in also]
    return Checker(result, document, Classes([a.jar for a in artifacts]))


def split_requirement(text: str) -> tuple[str, str]:
    found = re.match(r"([\w.:\-]+)(.*)", text)
    return (found[1], found[2].strip()) if found else (text, "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--also", action="append", default=[], help="a further artifact to read, with a version if need be")
    parser.add_argument("--write", action="store_true", help="record files without problems in VERIFIED.toml")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "blocklint-models-java")
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
