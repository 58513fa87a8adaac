"""Resolves paths of Rust libraries, through modules and re-exports."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from rust_crates import Package
from rust_items import Impl, Item, Module, Reader, Use, tokens_of

#: Crates of the language, which are not read.
STANDARD = {"std", "core", "alloc", "proc_macro"}


@dataclass(frozen=True)
class Outside:
    """A name of another crate, whose sources are not available."""

    path: str


Entity = Item | Module | Outside


class Crate:
    """The modules, traits, impls and macros of a crate."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.name = package.crate
        self.macros: dict[str, Item] = {}
        self.impls: list[Impl] = []
        self.root = Module(self.name, self, None)
        self.read(package.root, self.root, package.root.parent)

    def read(self, file: Path, module: Module, place: Path) -> None:
        tokens = tokens_of(file.read_text(errors="replace"))
        Reader(tokens, self).items(0, len(tokens), module, place)

    def load(self, module: Module, name: str, place: Path, shown: str | None) -> None:
        """Reads the file of `mod name;` in the folder of its parent. A missing file is created by a build script."""
        names = [(place / shown, (place / shown).parent)] if shown else []
        names += [(place / f"{name}.rs", place / name), (place / name / "mod.rs", place / name)]
        for file, below in names:
            if file.is_file():
                self.read(file, module, below)
                return


class Sources:
    """Crates that are read together."""

    def __init__(self, packages: list[Package]) -> None:
        self.crates = {p.crate: Crate(p) for p in packages}
        self.members_of: dict[int, list[Impl]] = {}
        self.resolving: set[tuple[int, str, bool]] = set()
        self.known: dict[tuple[int, str, bool], list[Entity]] = {}
        self.globs: dict[int, list[Entity]] = {}
        self.cycles = 0
        for crate in self.crates.values():
            for impl in crate.impls:
                if not impl.type:
                    continue
                for target in self.aliased(self.types_of(impl.type, impl.module)):
                    self.members_of.setdefault(id(target), []).append(impl)

    def types_of(self, path: list[str], module: Module) -> list[Item]:
        return [e for e in self.follow(path, module) if isinstance(e, Item) and e.kind != "fn"]

    def names(self, module: Module, name: str, public: bool) -> list[Entity]:
        """Returns the items of a name in a module; with `public` only those that are visible outside of it."""
        found = self.direct(module, name, public)
        if found:
            return found
        seen, waiting = {(id(module), public)}, [(module, public)]
        while waiting:
            at, shown = waiting.pop()
            for use in at.uses:
                if use.name != "*" or shown and not use.public:
                    continue
                for target in self.globbed(use, at):
                    if isinstance(target, Outside):
                        found.append(Outside(f"{target.path}::{name}"))
                    if not isinstance(target, Module):
                        continue
                    below = shown or target.crate is not module.crate
                    if (id(target), below) in seen:
                        continue
                    seen.add((id(target), below))
                    there = self.direct(target, name, below)
                    found += there
                    if not there:
                        waiting.append((target, below))
        return unique([e for e in found if not isinstance(e, Outside)] or found)

    def globbed(self, use: Use, module: Module) -> list[Entity]:
        """Returns the modules that `use path::*` opens."""
        if id(use) not in self.globs:
            # A path through its own glob has no target.
            self.globs[id(use)] = []
            self.globs[id(use)] = self.follow(use.path, module)
        return self.globs[id(use)]

    def direct(self, module: Module, name: str, public: bool) -> list[Entity]:
        """Returns the items of a name, without those that globs import."""
        key = (id(module), name, public)
        if key in self.known:
            return self.known[key]
        if key in self.resolving:
            self.cycles += 1
            # In `mod copy; pub use copy::copy;` the second name is looked up in the module of the first.
            return [e for e in module.items.get(name, []) if e.public or not public]
        self.resolving.add(key)
        cycles = self.cycles
        try:
            found: list[Entity] = [e for e in module.items.get(name, []) if e.public or not public]
            for use in module.uses:
                if use.name == name and (use.public or not public):
                    found += self.follow(use.path, module)
            if name.endswith("!"):
                plain = [e for e in module.items.get(name[:-1], []) if isinstance(e, Item)]
                found += [e for e in plain if "proc_macro" in e.attributes]
                found += [e for u in module.uses if u.name + "!" == name for e in self.macro(u, module)]
                if module.parent is None and not found and name[:-1] in module.crate.macros:
                    found.append(module.crate.macros[name[:-1]])
            found = unique(found)
            if self.cycles == cycles or len(self.resolving) == 1:
                # Within a cycle the result is valid only for this query, so it is not stored.
                self.known[key] = found
            return found
        finally:
            self.resolving.discard(key)

    def macro(self, use: Use, module: Module) -> list[Entity]:
        return self.follow([*use.path[:-1], use.path[-1] + "!"], module)

    def follow(self, path: list[str], module: Module) -> list[Entity]:
        """Returns the items of a path inside a module."""
        path = [p for p in path if p != "$crate" or p is not path[0]] if path and path[0] != "$crate" else ["crate", *path[1:]]
        if not path:
            return []
        head, rest = path[0], path[1:]
        starts: list[Entity]
        if head == "":
            return self.outer(rest, module)
        if head == "crate":
            starts = [module.crate.root]
        elif head == "self":
            starts = [named(module)]
        elif head == "super":
            up = named(module)
            starts = [up.parent] if up.parent is not None else []
            while rest and rest[0] == "super" and starts:
                above = named(starts[0]).parent if isinstance(starts[0], Module) else None
                starts, rest = ([above] if above is not None else []), rest[1:]
            starts = [named(s) if isinstance(s, Module) else s for s in starts]
        elif head == "Self":
            return []
        else:
            scope = named(module)
            starts = self.names(scope, head, False)
            if not starts or all(isinstance(s, Outside) for s in starts):
                other = self.outer(path, module)
                if other and not all(isinstance(e, Outside) for e in other):
                    return other
                # Edition 2015: paths of `use` begin at the crate's root.
                if not starts and scope.crate.package.edition == "2015":
                    starts = self.names(scope.crate.root, head, False)
                if not starts:
                    return other
        return self.descend(starts, rest, False)

    def outer(self, path: list[str], module: Module) -> list[Entity]:
        if not path:
            return []
        name = module.crate.package.renames.get(path[0], path[0])
        crate = self.crates.get(name)
        if crate is None:
            return [Outside("::".join(path))]
        return self.descend([crate.root], path[1:], True)

    def descend(self, starts: list[Entity], path: list[str], public: bool) -> list[Entity]:
        found = starts
        for at, name in enumerate(path):
            following: list[Entity] = []
            for entity in found:
                if isinstance(entity, Outside):
                    following.append(Outside(f"{entity.path}::{name}"))
                elif isinstance(entity, Module):
                    following += self.names(entity, name, public)
                elif at == len(path) - 1:
                    following += self.member(entity, name)
            found = unique(following)
        return found

    def resolve(self, path: str) -> list[Entity]:
        """Returns the items of a public path; for `<T as Trait>::m` the method of that impl."""
        qualified = re.match(r"<(.+) as (.+)>::(\w+)$", path)
        if qualified:
            return self.implemented(qualified[1], qualified[2], qualified[3])
        parts = path.split("::")
        crate = self.crates.get(parts[0])
        if crate is None:
            return [Outside(path)]
        return self.descend([crate.root], parts[1:], True)

    def implemented(self, of: str, trait: str, name: str) -> list[Entity]:
        owners = [e for e in self.resolve(of) if isinstance(e, Item)]
        last = trait.rsplit("::", 1)[-1]
        blocks = [i for o in self.aliased(owners) for i in self.members_of.get(id(o), []) if i.trait[-1:] == [last]]
        return unique([m for block in blocks for m in block.members.get(name, [])])

    def aliased(self, items: list[Item]) -> list[Item]:
        found = []
        for item in items:
            found.append(item)
            if item.kind == "type" and item.target and item.module is not None and len(found) < 20:
                found += self.aliased([e for e in self.follow(item.target, item.module) if isinstance(e, Item) and e is not item])
        return found

    def member(self, item: Item, name: str) -> list[Entity]:
        """Returns methods and associated functions: of a trait, or of the impls of a type, those of traits last."""
        if item.kind == "trait":
            return list(item.members.get(name, []))
        owners = self.aliased([item])
        blocks = [i for o in owners for i in self.members_of.get(id(o), [])]
        own = [m for b in blocks if not b.trait for m in b.members.get(name, []) if m.public]
        through = [m for o in owners if o.kind == "trait" for m in o.members.get(name, [])]
        return unique(own or through or [m for b in blocks if b.trait for m in b.members.get(name, [])])

    def implements(self, item: Item, trait: str) -> bool:
        last = trait.split("<")[0].rsplit("::", 1)[-1]
        return any(b.trait[-1:] == [last] for o in self.aliased([item]) for b in self.members_of.get(id(o), []))


def named(module: Module) -> Module:
    """Returns the module; for the unnamed scope of an impl's functions the module around it."""
    while module.name == "" and module.parent is not None:
        module = module.parent
    return module


def unique(entities: list[Entity]) -> list[Entity]:
    found: list[Entity] = []
    for entity in entities:
        if not any(e is entity or isinstance(e, Outside) and e == entity for e in found):
            found.append(entity)
    return found
