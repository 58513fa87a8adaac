#!/usr/bin/env python3
"""Checks the rows of Rust model files against the sources of the crates themselves.

    verify_rust.py rules/models/rust/reqwest.toml …            print what does not hold
    verify_rust.py --write FILE …                               and record what does in VERIFIED.toml
    verify_rust.py --also axum-core FILE …                      read further crates: what the library re-exports
    verify_rust.py --also "bincode <2" FILE …                   look in an older version too, for rows that hold for both
    verify_rust.py --sources DIR FILE …                         read crates below a folder, and download none

For each file the newest version of its crates within `version` is read as items; nothing is compiled. Of every row the
path must be public, be an `async fn` or return a future if the row has `async` and none if it has an effect, and have
the parameters that the row names; twins and the types that a row gives must exist too. Exempt are rows with
`unchecked`. The further crates and versions are recorded with the result and read again the next time.
"""

from __future__ import annotations

import argparse
import fnmatch
import re
import sys
import tempfile
import tomllib
from functools import partial
from pathlib import Path
from typing import Any

import rust_crates
from rust_items import Item, Module, plain_path
from rust_sources import STANDARD, Entity, Outside, Sources
from verify_python import TABLES, Result, Row, as_list, lines_of, model_name, paths_of, record, recorded, split_requirement

TYPES = {"struct", "enum", "union", "trait", "type"}
FUTURES = re.compile(r"Future|AsyncResult|BoxFut")


class Checker:
    """Checks a model file against a set of crates."""

    def __init__(self, result: Result, document: Row, sources: Sources) -> None:
        self.result, self.sources = result, sources
        self.aliases = document.get("alias", {})
        self.older: list[Checker] = []
        """Checks the same file against older versions; what one of them has may be missing here."""

    def row(self, table: str, row: Row, line: int) -> None:
        for path in paths_of(row):
            if "unchecked" in row:
                self.result.exempt += 1
                self.result.unchecked += 1
                continue
            self.result.checked += 1
            messages = self.path(table, row, path)
            if messages and not any(older.path(table, row, path) == [] for older in self.older):
                for message in messages:
                    self.result.problem(line, path, message)

    def path(self, table: str, row: Row, path: str) -> list[str]:
        if "*" in path:
            return self.glob(row, path)
        found = self.sources.resolve(path)
        if not found:
            return [self.missing(path)]
        inside = [e for e in found if not isinstance(e, Outside)]
        if not inside:
            where = next(e.path for e in found if isinstance(e, Outside))
            if where.split("::")[0] in STANDARD:
                return []
            return [f"leads to `{where}`, which is not at hand; give its crate with --also"]
        if table == "type":
            return self.type(row, inside)
        functions = [e for e in inside if isinstance(e, Item) and e.kind == "fn"]
        if not functions:
            macros = any(isinstance(e, Item) and e.kind == "macro" for e in inside)
            return [] if macros else ["is no function, method or macro"]
        messages = self.kind(row, functions) if table == "call" else []
        if "proc_macro" not in " ".join(f.attributes for f in functions):
            messages += self.arguments(row, functions)
        return messages + self.types(row) + self.twins(row, path)

    def missing(self, path: str) -> str:
        parts = path.split("::")
        if path.startswith("<"):
            return "there is no such impl"
        for length in range(len(parts) - 1, 0, -1):
            if self.sources.resolve("::".join(parts[:length])):
                return f"`{'::'.join(parts[:length])}` has no public `{parts[length]}`"
        return f"no crate `{parts[0]}`"

    def glob(self, row: Row, path: str) -> list[str]:
        owner, _, pattern = path.rpartition("::")
        covered = {}
        for entity in self.sources.resolve(owner):
            for name in self.public_members(entity):
                if fnmatch.fnmatchcase(name, pattern):
                    found = self.sources.resolve(f"{owner}::{name}")
                    functions = [e for e in found if isinstance(e, Item) and e.kind == "fn"]
                    if functions:
                        covered[f"{owner}::{name}"] = functions
        self.result.expansions[path] = sorted(covered)
        if not covered:
            return ["matches nothing"]
        return [f"covers `{n}`, which {m}" for n, found in sorted(covered.items()) for m in self.kind(row, found)]

    def public_members(self, entity: Entity) -> list[str]:
        if isinstance(entity, Module):
            names = [*entity.items, *(u.name for u in entity.uses if u.public and u.name != "*")]
            return [n for n in names if self.sources.names(entity, n, True)]
        if isinstance(entity, Item) and entity.kind == "trait":
            return list(entity.members)
        if isinstance(entity, Item):
            blocks = [b for o in self.sources.aliased([entity]) for b in self.sources.members_of.get(id(o), [])]
            return [n for b in blocks if not b.trait for n, ms in b.members.items() if any(m.public for m in ms)]
        return []

    def kind(self, row: Row, functions: list[Item]) -> list[str]:
        if row.get("async"):
            return [] if any(self.gives_future(f, made=True) for f in functions) else ["is not seen to give something to await"]
        awaited = [f for f in functions if self.gives_future(f, made=False)]
        held = row.get("effect", "none") != "none"
        if held and awaited and len(awaited) == len(functions):
            return ["gives something to await"]
        return []

    def gives_future(self, function: Item, made: bool) -> bool:
        """True if the result of a function can be awaited; with `made` also if a macro defines its type."""
        returned = function.returned
        if function.is_async or "async" in function.attributes or FUTURES.search(" ".join(returned)):
            return True
        paths = [plain_path(returned), *([word] for word in returned if word[0].isupper())]
        return any(self.is_future(path, function.module, made) for path in paths)

    def is_future(self, path: list[str], module: Module | None, made: bool) -> bool:
        if module is None or not path:
            return False
        found = self.sources.follow(path, module)
        items = self.sources.aliased([e for e in found if isinstance(e, Item)])
        for item in items:
            if item.target and item.module is not None:
                found += self.sources.follow(item.target, item.module)
        if any(isinstance(e, Outside) and e.path.startswith("futures") for e in found):
            # Combinators of futures such as `AndThen` are futures.
            return True
        return any(made and i.made or self.sources.implements(i, t) for i in items for t in ("Future", "IntoFuture"))

    def type(self, row: Row, inside: list[Entity]) -> list[str]:
        items = [e for e in inside if isinstance(e, Item) and e.kind in TYPES]
        if not items:
            return ["is no type"]
        messages = []
        for base in row.get("bases", []):
            plain = base.split("<")[0]
            same = any(self.sources.implements(i, plain) or i.kind == "trait" for i in items)
            wanted = self.sources.resolve(plain)
            same = same or any(w in self.sources.aliased(items) for w in wanted)
            if not same:
                messages.append(f"is not seen to implement `{base}`")
        return messages + self.types(row)

    def arguments(self, row: Row, functions: list[Item]) -> list[str]:
        messages = []
        for reference in references_of(row):
            most = max((len(p) for f in functions if (p := f.parameters) is not None), default=None)
            if most is not None and not -most <= reference < most:
                messages.append(f"has no argument {reference}")
        return messages

    def types(self, row: Row) -> list[str]:
        """Checks that the types in a row exist in the crate."""
        texts = [str(row.get("returns", "")), *map(str, row.get("gives", [])), *row.get("fields", {}).values()]
        texts += [str(row.get(key, "")) for key in ("element", "awaits", "enters")]
        names = {n for text in texts for n in re.findall(r"\w+(?:::\w+)+", text)}
        return [
            f"`{name}` does not exist"
            for name in sorted(names)
            if name.split("::")[0] in self.sources.crates and not self.sources.resolve(name)
        ]

    def twins(self, row: Row, path: str) -> list[str]:
        given = row.get("instead", [])
        names = [t for v in (given.values() if isinstance(given, dict) else [given]) for t in as_list(v)]
        messages = []
        for name in names:
            target = name.replace("*", path.rsplit("::", 1)[-1])
            if target.split("::")[0] not in self.sources.crates:
                continue
            twin = [e for e in self.sources.resolve(target) if not isinstance(e, Outside)]
            functions = [e for e in twin if isinstance(e, Item) and e.kind == "fn"]
            if not twin:
                messages.append(f"twin `{target}` does not exist")
            elif functions and "effect" in row and not any(self.gives_future(f, made=True) for f in functions):
                # A constructor of an async type is a twin too, although it is not awaited.
                makes = any(word in ("Self", target.split("::")[-2]) for f in functions for word in f.returned)
                if not makes:
                    messages.append(f"twin `{target}` is not seen to give something to await")
        return messages

    def alias_problems(self) -> list[tuple[str, str]]:
        problems = []
        for left, right in self.aliases.items():
            if any(side.split("::")[0] not in self.sources.crates for side in (left, right)):
                # The type is in another crate, whose sources are not available.
                continue
            one, other = self.sources.resolve(left), self.sources.resolve(right)
            if any(isinstance(e, Outside) for e in one + other):
                continue
            one, other = ([*side, *self.sources.aliased([e for e in side if isinstance(e, Item)])] for side in (one, other))
            if not one or not other:
                problems.append((left, f"`{left if not one else right}` does not exist"))
            elif not any(e in other for e in one) and not (is_module(one) and is_module(other)):
                problems.append((left, f"is not `{right}`"))
        return problems


def is_module(found: list[Entity]) -> bool:
    return any(isinstance(e, Module) for e in found)


def references_of(row: Row) -> list[int]:
    """Returns the arguments in a row."""
    found: list[Any] = [row[key] for key in ("timeout", "adds", "consumes", "argument", "concurrency") if key in row]
    for key in ("when", "unless"):
        found += [c["argument"] for c in as_list(row.get(key, [])) if "argument" in c]
    found += [int(x) for x in re.findall(r"\$(\d+)", str(row.get("returns", "")))]
    return [f for f in found if isinstance(f, int) and not isinstance(f, bool)]


def check(file: Path, also: list[str], folders: list[Path], store: Path) -> Result:
    text = file.read_text()
    document = tomllib.loads(text)
    libraries = as_list(document["library"])
    result = Result(file, library=libraries[0], also=also)
    if libraries[0] == "std":
        result.problem(1, "std", "the standard library is not a crate; this script does not check it")
        return result
    get = partial(rust_crates.get, folders=folders, store=store)
    further = [split_requirement(name) for name in also]
    try:
        rest = [get(name, "") for name in libraries[1:]] + [get(*of) for of in further if of[0] != libraries[0]]
        main = get(libraries[0], document.get("version", ""))
        older = [get(*of) for of in further if of[0] == libraries[0]]
    except rust_crates.DownloadError as why:
        result.problem(1, libraries[0], str(why))
        return result
    result.version = main.version
    checkers = {"": Checker(result, document, Sources([main, *rest]))}
    checkers[""].older = [Checker(Result(file), document, Sources([one, *rest])) for one in older]
    lines = lines_of(text)
    for table in TABLES:
        for index, row in enumerate(document.get(table, [])):
            result.rows += 1
            own = row.get("version", "")
            if rust_crates.within(main.version, own) or "unchecked" in row:
                own = ""
            if own not in checkers:
                try:
                    before = get(libraries[0], ",".join(filter(None, (document.get("version", ""), own))))
                except rust_crates.DownloadError as why:
                    result.problem(lines[table][index], str(row["path"]), str(why))
                    continue
                checkers[own] = Checker(result, document, Sources([before, *rest]))
            checkers[own].row(table, row, lines[table][index])
    excused = [dict(one.alias_problems()) for one in checkers[""].older]
    for left, message in checkers[""].alias_problems():
        if any(left not in problems for problems in excused):
            continue
        at = next((n for n, line in enumerate(text.splitlines(), 1) if line.startswith(f'"{left}"')), 1)
        result.problem(at, left, message)
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="record the results of files without problems")
    parser.add_argument("--also", action="append", default=[], help="a further crate to read, with versions if need be")
    parser.add_argument("--sources", action="append", default=[], type=Path, help="a folder with crates' sources")
    parser.add_argument("--cache", type=Path, help="folder for the files of cargo")
    arguments = parser.parse_args()
    known = recorded()
    with tempfile.TemporaryDirectory() as folder:
        store = arguments.cache or Path(folder)
        results = []
        for file in arguments.files:
            also = list(dict.fromkeys([*known.get(model_name(file), {}).get("also", []), *arguments.also]))
            result = check(file, also, arguments.sources, store)
            results.append(result)
            for problem in result.problems:
                print(problem)
            count = f"{result.rows} rows, {result.checked} paths checked, {result.exempt} exempt"
            print(f"{file.name}: {result.library} {result.version}: {count}, {len(result.problems)} problems")
    if arguments.write:
        record([r for r in results if not r.problems])
    return 1 if any(r.problems for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
