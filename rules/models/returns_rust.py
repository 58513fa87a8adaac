#!/usr/bin/env python3
"""Adds rows with the return types of functions to Rust model files, so that call chains keep their types.

    returns_rust.py rules/models/rust/git2.toml …              print the missing rows
    returns_rust.py --write FILE …                              and add them to the files
    returns_rust.py --most 20 FILE …                            at most this many names for each file
    returns_rust.py --sources DIR FILE …                        read crates below a folder, and download none

For each file the newest version of its crates within `version` is read, as `verify_rust.py` does. Wanted types are those
whose methods have an effect, those with tags, those that implement such a trait, and those with a method that returns a
wanted type. Each public function that returns a wanted type gets `returns`, those on the shortest paths to an effect
first, unless a row has its return type already. Rows that `verify_rust.py` would not accept are left out, and so are
files that have only computation.
"""

from __future__ import annotations

import argparse
import fnmatch
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import rust_crates
from rust_items import Item, Module, after_generics, closing, split
from rust_sources import Entity, Outside, Sources
from verify_python import Result, Row, as_list, model_name, paths_of, recorded, split_requirement
from verify_rust import TYPES, Checker

HEADING = "# Functions that return these types."
WRAPPERS = {
    "Result": "std::result::Result", "Option": "std::option::Option", "Box": "std::boxed::Box", "Vec": "std::vec::Vec",
    "Arc": "std::sync::Arc", "Rc": "std::rc::Rc",
}  # fmt: skip
#: Modules that re-export names of others; the documentation does not use these paths.
SECONDARY = re.compile(r"_|prelude$|private$|internals?$|testing$|test_utils?$")
#: Functions that are not used in call chains.
UNSAID = re.compile(r"_|from_(raw|ptr|handle|parts)|unsafe_|.*mock")
#: Modules that are public for the crate's own macros and tests.
INTERNAL = re.compile(r"::(_|impl_|private|internal|testing|tests?::|test_util|hidden)")
#: Types that replace another one in tests, and do not have its effects.
SUBSTITUTES = re.compile(r"Stub|Mock|Dummy|Null|Noop|Memory|Empty|Test")
#: The distance from which a path counts as one that ends in computation only.
COMPUTES = 3
FARTHEST = 6


@dataclass
class Method:
    """A public function, and the type or trait that defines it."""

    path: str
    item: Item
    owner: Item | None = None
    generics: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Given:
    """The return type of a function: its text, and its distance from an effect."""

    text: str
    level: int


@dataclass(frozen=True)
class Addition:
    """A function that gets a row."""

    path: str
    given: Given
    is_async: bool
    awaits: bool
    """True if the row must say too that the call is awaited."""


class Known:
    """The model files that have rows for each path."""

    def __init__(self, folder: Path) -> None:
        self.files: dict[str, set[Path]] = {}
        for file in sorted(folder.glob("**/*.toml")):
            document = tomllib.loads(file.read_text())
            for table in ("call", "type", "handover"):
                for row in document.get(table, []):
                    for path in paths_of(row):
                        self.files.setdefault(path, set()).add(file.resolve())

    def elsewhere(self, path: str, file: Path) -> bool:
        return bool(self.files.get(path, set()) - {file.resolve()})


class Library:
    """A model file with the sources of its crates."""

    def __init__(self, file: Path, document: Row, sources: Sources) -> None:
        self.file, self.document, self.sources = file, document, sources
        self.roots = document.get("roots") or [name.replace("-", "_") for name in as_list(document["library"])]
        self.aliases: dict[str, str] = document.get("alias", {})
        self.calls = [(path, row) for row in document.get("call", []) for path in paths_of(row)]
        self.types = [(path, row) for row in document.get("type", []) for path in paths_of(row)]
        self.parameters = {path: row["params"] for path, row in self.types if "params" in row}
        self.items: dict[int, Item] = {}
        self.names: dict[int, str] = {}
        self.levels: dict[int, int] = {}
        self.walk()
        self.prefer()
        self.methods = list(self.functions())
        self.begin()
        self.close()

    # --- names ---------------------------------------------------------------------------------------------------

    def canonical(self, path: str) -> str:
        """Returns the path after the aliases of the file are resolved."""
        for _ in range(10):
            left = max((a for a in self.aliases if path == a or path.startswith(a + "::")), key=len, default=None)
            if left is None:
                return path
            path = self.aliases[left] + path[len(left) :]
        return path

    def inside(self, path: str) -> bool:
        return any(path == root or path.startswith(root + "::") for root in self.roots)

    def walk(self) -> None:
        """Assigns each public item its shortest path; modules such as `prelude` come last."""
        heads = dict.fromkeys(root.split("::")[0] for root in self.roots)
        roots = [(head, self.sources.crates[head].root) for head in heads if head in self.sources.crates]
        waiting, later, seen = list(roots), list[tuple[str, Module]](), set[int]()
        while waiting or later:
            if not waiting:
                waiting, later = later, []
            following: list[tuple[str, Module]] = []
            for path, module in waiting:
                if id(module) in seen:
                    continue
                seen.add(id(module))
                for name in sorted(self.names_in(module, set())):
                    if name.endswith("!") or "$" in name:
                        continue
                    for entity in self.sources.names(module, name, True):
                        below = f"{path}::{name}"
                        if isinstance(entity, Module):
                            (later if SECONDARY.match(name) else following).append((below, entity))
                        elif isinstance(entity, Item) and (entity.kind in TYPES or entity.kind == "fn"):
                            self.items[id(entity)] = entity
                            self.names.setdefault(id(entity), self.canonical(below))
            waiting = following

    def names_in(self, module: Module, seen: set[int]) -> set[str]:
        """Returns the names of a module that other crates can use; some of them may be private."""
        if id(module) in seen:
            return set()
        seen.add(id(module))
        found = {*module.items, *(use.name for use in module.uses if use.public and use.name != "*")}
        for use in module.uses:
            if use.public and use.name == "*":
                for target in self.sources.globbed(use, module):
                    found |= self.names_in(target, seen) if isinstance(target, Module) else set()
        return found

    def prefer(self) -> None:
        """Returns the preferred path: the one that rows use, else the shortest."""
        through: dict[int, set[str]] = {}
        for path in self.spoken():
            for item in self.resolved(path):
                self.items[id(item)] = item
                self.names[id(item)] = path
                for target in self.sources.aliased([item])[1:]:
                    self.items[id(target)] = target
                    through.setdefault(id(target), set()).add(path)
        direct = {id(item) for path in self.spoken() for item in self.resolved(path)}
        for key, paths in through.items():
            # An alias is used for its type if it is the only alias.
            if key not in direct and len(paths) == 1:
                self.names[key] = next(iter(paths))

    def spoken(self) -> set[str]:
        """Returns the types for which the file has rows."""
        return {owner for path, _ in self.calls if (owner := owner_of(path))} | {path for path, _ in self.types if "*" not in path}

    def resolved(self, path: str) -> list[Item]:
        if not path or "*" in path or not self.inside(path):
            return []
        return [e for e in self.sources.resolve(path) if isinstance(e, Item) and e.kind in TYPES]

    def functions(self) -> Iterator[Method]:
        for key, item in list(self.items.items()):
            path = self.names.get(key)
            if path is None or not self.inside(path):
                continue
            if item.kind == "fn":
                yield Method(path, item)
            elif item.kind == "trait":
                for name, members in item.members.items():
                    yield from (Method(f"{path}::{name}", m, item) for m in members)
            elif item.kind != "type":
                yield from self.methods_of(path, item)

    def methods_of(self, path: str, item: Item) -> Iterator[Method]:
        blocks = [b for b in self.sources.members_of.get(id(item), []) if b.type[0] not in b.generics]
        own = {name for b in blocks if not b.trait for name in b.members}
        bases = {base.split("<")[0] for of, row in self.types if of == path for base in row.get("bases", [])}
        for block in blocks:
            if block.trait and block.trait != ["Default"]:
                traits = self.sources.types_of(block.trait, block.module)
                if not traits or any(self.names.get(id(t)) in bases for t in traits):
                    continue
            for name, members in block.members.items():
                if block.trait and name in own:
                    continue
                yield from (Method(f"{path}::{name}", m, item, block.generics) for m in members if m.public)

    # --- levels --------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Returns the types that have an effect themselves."""
        for path, row in self.calls:
            if row.get("effect", "none") == "none":
                continue
            owner = owner_of(path)
            if "*" in owner:
                items = [i for k, i in self.items.items() if i.kind in TYPES and fnmatch.fnmatchcase(self.names.get(k, ""), owner)]
            else:
                items = self.resolved(owner)
            self.want(items, COMPUTES if row["effect"] == "cpu" else 0)
        for path, row in self.types:
            if row.get("tags"):
                self.want(self.resolved(path), 0)

    def want(self, items: list[Item], level: int) -> bool:
        changed = False
        for item in self.sources.aliased(items):
            if level < self.levels.get(id(item), FARTHEST + 1):
                self.levels[id(item)] = level
                changed = True
        return changed

    def close(self) -> None:
        """Adds the types that implement, derive from or return a wanted type."""
        changed = True
        while changed:
            changed = False
            for key, item in list(self.items.items()):
                for block in self.sources.members_of.get(key, []):
                    traits = self.sources.types_of(block.trait, block.module) if block.trait else []
                    levels = [self.levels[id(t)] for t in traits if id(t) in self.levels]
                    if levels and block.type[0] not in block.generics:
                        changed |= self.want([item], min(levels))
            for path, row in self.types:
                for base in row.get("bases", []):
                    levels = [self.levels[id(t)] for t in self.resolved(base.split("<")[0]) if id(t) in self.levels]
                    if levels:
                        changed |= self.want(self.resolved(path), min(levels))
            for method in self.methods:
                if method.owner is not None and method.item.has_receiver:
                    given = self.given(method)
                    if given is not None:
                        changed |= self.want([method.owner], given.level + 1)

    # --- return types --------------------------------------------------------------------------------------------

    def given(self, method: Method) -> Given | None:
        """Returns the return type of a function, if it is wanted."""
        signature = method.item.signature
        generics = {p[0] for p in split(signature, 2, after_generics(signature, 1) - 1) if p}
        return self.expression(method.item.returned, method, generics | method.generics)

    def expression(self, tokens: list[str], method: Method, generics: set[str]) -> Given | None:
        at = 0
        while at < len(tokens) and (tokens[at] in ("&", "mut", "dyn") or tokens[at][0] == "'"):
            at += 1
        tokens = tokens[at:]
        if not tokens or method.item.module is None or any(t[0] == "$" for t in tokens):
            return None
        if tokens[0] == "(":
            return self.tuple(tokens, method, generics)
        if "+" in tokens and tokens.index("+") < (tokens.index("<") if "<" in tokens else len(tokens)):
            tokens = tokens[: tokens.index("+")]
        path, end = [], 0
        while end < len(tokens) and (tokens[end] == "::" or re.match(r"[A-Za-z_]", tokens[end])):
            path += [tokens[end]] if tokens[end] != "::" else []
            end += 1
        if not path or tokens[0] == "impl":
            return None
        arguments = split(tokens, end + 1, after_generics(tokens, end) - 1) if end < len(tokens) and tokens[end] == "<" else []
        arguments = [a for a in arguments if a[0][0] != "'"]
        if path == ["Self"]:
            level = self.levels.get(id(method.owner)) if method.owner is not None else None
            return Given("Self", level) if level is not None else None
        if path[0] in generics:
            return None
        return self.named(path, arguments, method, generics)

    def tuple(self, tokens: list[str], method: Method, generics: set[str]) -> Given | None:
        parts = [self.expression(part, method, generics) for part in split(tokens, 1, len(tokens) - 1)]
        levels = [part.level for part in parts if part is not None]
        if not levels or len(parts) < 2:
            return None
        return Given(f"({', '.join(part.text if part is not None else '()' for part in parts)})", min(levels))

    def named(self, path: list[str], arguments: list[list[str]], method: Method, generics: set[str]) -> Given | None:
        assert method.item.module is not None
        found = self.sources.follow(path, method.item.module)
        items = self.sources.aliased([e for e in found if isinstance(e, Item) and e.kind in TYPES])
        for item in items:
            text, level = self.names.get(id(item)), self.levels.get(id(item))
            if text is not None and level is not None and self.inside(text) and not INTERNAL.search(text):
                return Given(text + self.arguments(text, arguments, method), level)
        wrapper = WRAPPERS.get(self.outer(path, found, items))
        if wrapper is None or not arguments:
            return None
        inner = self.expression(arguments[0], method, generics)
        return Given(f"{wrapper}<{inner.text}>", inner.level) if inner is not None else None

    def outer(self, path: list[str], found: list[Entity], items: list[Item]) -> str:
        """Returns the last segment of the foreign type to which a path or its alias refers."""
        for item in items:
            if item.kind == "type" and item.target and item.module is not None:
                found = [*found, *self.sources.follow(item.target, item.module)]
        outside = [e.path for e in found if isinstance(e, Outside)]
        if not outside and not found:
            outside = ["::".join(path)]
        return outside[-1].rsplit("::", 1)[-1] if outside else ""

    def arguments(self, text: str, arguments: list[list[str]], method: Method) -> str:
        """Returns `<…>` if the file has the type's parameters and the receiver's type has parameters of the same names."""
        owner = self.names.get(id(method.owner), "")
        names = self.parameters.get(owner, []) if method.item.has_receiver else []
        shown = [self.outside(a, method) or a[0] for a in arguments if self.outside(a, method) or len(a) == 1 and a[0] in names]
        return f"<{', '.join(shown)}>" if shown and len(shown) == len(self.parameters.get(text, [])) else ""

    def outside(self, tokens: list[str], method: Method) -> str:
        """Returns a type of the standard library without arguments."""
        path = [t for t in tokens if t != "::"]
        if "<" in tokens or method.item.module is None or not path or not path[-1][0].isupper():
            return ""
        found = self.sources.follow(path, method.item.module)
        return next((e.path for e in found if isinstance(e, Outside) and e.path.startswith("std::")), "")

    def wraps(self, method: Method) -> bool:
        """True if a function puts an argument of any type into its result, for which only rows by hand can have `$0`."""
        signature = method.item.signature
        start = after_generics(signature, 1)
        generics = {p[0] for p in split(signature, 2, start - 1) if p}
        if start >= len(signature) or signature[start] != "(":
            return False
        carried = generics.intersection(method.item.returned)
        carried |= method.generics if not method.item.has_receiver else set()
        types = [p[p.index(":") + 1 :] for p in split(signature, start + 1, closing(signature, start)) if ":" in p]
        return any(len(t) == 1 and t[0] in carried for t in types)

    # --- rows ----------------------------------------------------------------------------------------------------

    def additions(self, known: Known) -> list[Addition]:
        if not any(row.get("effect", "none") not in ("none", "cpu") for _, row in self.calls):
            return []
        awaited = any(row.get("async") for _, row in self.calls)
        checker = Checker(Result(self.file), self.document, self.sources)
        found: dict[str, set[Addition]] = {}
        refused: set[str] = set()
        for method in self.methods:
            path = method.path
            name = path.rsplit("::", 1)[-1]
            if UNSAID.match(name) or INTERNAL.search(path) or re.search(r"cfg \( (?:all \( )?test", method.item.attributes):
                continue
            given = self.given(method)
            rows = [row for of, row in self.calls if of == path or "*" in of and fnmatch.fnmatchcase(path, of)]
            said_already = known.elsewhere(path, self.file) or any("returns" in row or row.get("lazy") for row in rows)
            if given is None or said_already or self.wraps(method):
                refused.add(path)
                continue
            is_async, said = method.item.is_async, any(row.get("async") for row in rows)
            held = any(row.get("effect", "none") != "none" for row in rows)
            if is_async and (held or not awaited) or said and not is_async:
                refused.add(path)
                continue
            found.setdefault(path, set()).add(Addition(path, given, is_async, is_async and not said))
        good = []
        for path, additions in found.items():
            if path in refused or len(additions) != 1:
                # Impls of types with the same name can differ.
                continue
            addition = next(iter(additions))
            if not checker.path("call", row_of(addition), path):
                good.append(addition)
        good.sort(key=lambda a: (a.given.level, "Self" in a.given.text, a.path))
        return good


    def bases(self, additions: list[Addition]) -> dict[tuple[str, ...], list[str]]:
        """Returns the types that implement a trait with an effect, have no `[[type]]` row, and are returned by a row."""
        held = {owner_of(path) for path, row in self.calls if row.get("effect", "none") != "none" and path[0] != "<"}
        texts = " ".join([a.given.text for a in additions] + [owner_of(a.path) for a in additions if "Self" in a.given.text])
        texts += " ".join(str(row.get("returns", "")) for _, row in self.calls)
        given = set(re.findall(r"\w+(?:::\w+)+", texts)) - {path for path, _ in self.types}
        checker = Checker(Result(self.file), self.document, self.sources)
        found: dict[str, set[str]] = {}
        for key, item in self.items.items():
            path = self.names.get(key, "")
            if item.kind == "trait" or path not in given or SUBSTITUTES.search(path):
                continue
            for block in self.sources.members_of.get(key, []):
                for trait in self.sources.types_of(block.trait, block.module) if block.trait else []:
                    name = self.names.get(id(trait), "")
                    if name in held and not checker.path("type", {"path": path, "bases": [name]}, path):
                        found.setdefault(path, set()).add(name)
        same: dict[tuple[str, ...], list[str]] = {}
        for path, names in sorted(found.items()):
            same.setdefault(tuple(sorted(names)), []).append(path)
        return same


def owner_of(path: str) -> str:
    """Returns the type of a method, or the module of a function."""
    qualified = re.match(r"<(.+) as .+>::\w+$", path)
    return qualified[1].split("<")[0] if qualified else path.rpartition("::")[0]


def row_of(addition: Addition) -> Row:
    return {"path": addition.path, "returns": addition.given.text} | ({"async": True} if addition.is_async else {})


def shown(additions: list[Addition]) -> str:
    """Returns the rows: one for all functions with the same return type, with the names of a type in braces."""
    groups: dict[tuple[str, bool], dict[str, list[str]]] = {}
    for addition in additions:
        owner, _, name = addition.path.rpartition("::")
        groups.setdefault((addition.given.text, addition.awaits), {}).setdefault(owner, []).append(name)
    rows = []
    for (text, awaits), owners in groups.items():
        paths = [f"{o}::{{{','.join(sorted(n))}}}" if len(n) > 1 else f"{o}::{n[0]}" for o, n in sorted(owners.items())]
        rows.append((paths[0], f"[[call]]\npath = {quoted(paths)}\n" + "async = true\n" * awaits + f'returns = "{text}"\n'))
    return "".join(row for _, row in sorted(rows))


def shown_bases(bases: dict[tuple[str, ...], list[str]]) -> str:
    rows = [f"[[type]]\npath = {quoted(paths)}\nbases = [{', '.join(map(repr, names))}]\n" for names, paths in bases.items()]
    return "".join(rows).replace("'", '"')


def quoted(paths: list[str]) -> str:
    return f'"{paths[0]}"' if len(paths) == 1 else "[" + ", ".join(f'"{path}"' for path in paths) + "]"


def write(file: Path, rows: str) -> None:
    """Adds rows below the heading, which is the last one in the file."""
    text = file.read_text().rstrip("\n") + "\n"
    file.write_text(text + ("" if HEADING in text else f"\n{HEADING}\n") + rows)


def read(file: Path, folders: list[Path], store: Path) -> Library:
    document = tomllib.loads(file.read_text())
    libraries = as_list(document["library"])
    get = partial(rust_crates.get, folders=folders, store=store)
    also = [split_requirement(name) for name in recorded().get(model_name(file), {}).get("also", [])]
    packages = [get(libraries[0], document.get("version", ""))] + [get(name, "") for name in libraries[1:]]
    packages += [get(*of) for of in also if of[0] != libraries[0]]
    return Library(file, document, Sources(packages))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="add the rows to the files")
    parser.add_argument("--most", type=int, default=60, help="how many names a file gets at most")
    parser.add_argument("--sources", action="append", default=[], type=Path, help="a folder with crates' sources")
    parser.add_argument("--cache", type=Path, help="folder for the files of cargo")
    arguments = parser.parse_args()
    known = Known(Path(__file__).resolve().parent / "rust")
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        store = arguments.cache or Path(folder)
        for file in arguments.files:
            if as_list(tomllib.loads(file.read_text())["library"])[0] == "std":
                continue
            try:
                library = read(file, arguments.sources, store)
            except rust_crates.DownloadError as why:
                print(f"{file}: {why}")
                failed = True
                continue
            found = library.additions(known)
            rows = shown(found[: arguments.most])
            if rows:
                rows += shown_bases(library.bases(found[: arguments.most]))
            left = max(0, len(found) - arguments.most)
            print(f"{file.name}: {rows.count('[[')} rows, {len(found) - left} names, {left} left out", flush=True)
            if rows and arguments.write:
                write(file, rows)
            elif rows:
                print(rows)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
