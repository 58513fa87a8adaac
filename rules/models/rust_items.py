"""Parses the items of Rust source: definitions, visibility and re-exports. Nothing is compiled."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

TOKEN = re.compile(
    r"""
      (?P<space>\s+|//[^\n]*)
    | (?P<block>/\*)
    | (?P<raw>b?c?r(?P<hashes>\#*)")
    | (?P<string>[bc]?"(?:[^"\\]|\\.)*")
    | (?P<char>b?'(?:[^'\\\n]|\\(?:x[0-9a-fA-F]{2}|u\{[^}]*\}|.))')
    | (?P<word>(?:r\#)?[A-Za-z_]\w*|\$crate\b|\$\w*)
    | (?P<lifetime>'[A-Za-z_]\w*)
    | (?P<number>\d[\w.]*)
    | (?P<mark>::|->|=>|.)
    """,
    re.VERBOSE | re.DOTALL,
)
PAIRS = {"{": "}", "(": ")", "[": "]"}
QUALIFIERS = {"const", "async", "unsafe", "extern", "default", "safe"}


@dataclass(eq=False)
class Item:
    """A definition. `members` holds a trait's methods; `signature` a function's tokens from its name to its body."""

    kind: str
    name: str
    public: bool
    module: Module | None = None
    is_async: bool = False
    signature: list[str] = field(default_factory=list)
    attributes: str = ""
    members: dict[str, list[Item]] = field(default_factory=dict)
    target: list[str] | None = None
    """The type for which a type alias stands."""
    made: bool = False
    """True if it stands in the body of a macro call, which may give it traits that are not seen."""

    @property
    def parameters(self) -> list[str] | None:
        """Returns the names of a function's parameters, `self` left out."""
        start = after_generics(self.signature, 1)
        if start >= len(self.signature) or self.signature[start] != "(":
            return None
        parts = split(self.signature, start + 1, closing(self.signature, start))
        return [p[0] if p[0] != "mut" else p[1] for p in parts if not ("self" in p[:4] and (":" not in p or p[: p.index(":")][-1] == "self"))]

    @property
    def has_receiver(self) -> bool:
        start = after_generics(self.signature, 1)
        parts = split(self.signature, start + 1, closing(self.signature, start)) if start < len(self.signature) else []
        return bool(parts) and "self" in parts[0][:5]

    @property
    def returned(self) -> list[str]:
        start = after_generics(self.signature, 1)
        end = closing(self.signature, start) if start < len(self.signature) else 0
        rest = self.signature[end + 1 :]
        if not rest or rest[0] != "->":
            return []
        return rest[1 : rest.index("where")] if "where" in rest else rest[1:]


@dataclass(eq=False)
class Use:
    """A name that a `use` imports, or a glob (`name` is `*`)."""

    name: str
    path: list[str]
    public: bool


@dataclass(eq=False)
class Impl:
    """An `impl` block, with its type and trait."""

    module: Module
    type: list[str]
    trait: list[str]
    members: dict[str, list[Item]]
    generics: set[str] = field(default_factory=set)


@dataclass(eq=False)
class Module:
    """A module with its items."""

    name: str
    crate: Any
    parent: Module | None
    public: bool = True
    items: dict[str, list[Item | Module]] = field(default_factory=dict)
    uses: list[Use] = field(default_factory=list)

    def add(self, name: str, item: Item | Module) -> None:
        self.items.setdefault(name, []).append(item)


def tokens_of(text: str) -> list[str]:
    """Returns the tokens of a file. A literal is one token; comments are dropped."""
    found, at, end = [], 0, len(text)
    while at < end:
        match = TOKEN.match(text, at)
        if match is None:
            break
        at = match.end()
        kind = match.lastgroup
        if match.group("block") is not None:
            depth = 1
            while depth and at < end:
                mark = re.compile(r"/\*|\*/").search(text, at)
                if mark is None:
                    return found
                depth += 1 if mark[0] == "/*" else -1
                at = mark.end()
        elif match.group("raw") is not None:
            close = text.find('"' + match.group("hashes"), at)
            if close < 0:
                return found
            found.append('"' + text[at:close] + '"')
            at = close + 1 + len(match.group("hashes"))
        elif kind != "space":
            found.append(match[0].removeprefix("r#") if match.group("word") else match[0])
    return found


def closing(tokens: list[str], start: int) -> int:
    """Returns the token that closes the bracket at `start`."""
    depth = 0
    for at in range(start, len(tokens)):
        if tokens[at] in PAIRS:
            depth += 1
        elif tokens[at] in ("}", ")", "]"):
            depth -= 1
            if depth == 0:
                return at
    return len(tokens) - 1


def brackets(tokens: list[str]) -> dict[int, int]:
    """Returns the index of the closing bracket for each opening one."""
    found, stack = {}, []
    for at, token in enumerate(tokens):
        if token in PAIRS:
            stack.append(at)
        elif token in ("}", ")", "]") and stack:
            found[stack.pop()] = at
    return found


def after_generics(tokens: list[str], start: int) -> int:
    """Returns the index after `<…>`, if it is at `start`."""
    if start >= len(tokens) or tokens[start] != "<":
        return start
    depth = 0
    for at in range(start, len(tokens)):
        depth += {"<": 1, ">": -1}.get(tokens[at], 0)
        if depth == 0:
            return at + 1
    return len(tokens)


def split(tokens: list[str], start: int, end: int, mark: str = ",") -> list[list[str]]:
    """Returns the parts between marks that are in no bracket."""
    parts: list[list[str]] = [[]]
    depth = 0
    at = start
    while at < end:
        token = tokens[at]
        if token == "#" and depth == 0 and not parts[-1] and at + 1 < end and tokens[at + 1] == "[":
            at = closing(tokens, at + 1) + 1
            continue
        depth += {"<": 1, "(": 1, "[": 1, "{": 1, ">": -1, ")": -1, "]": -1, "}": -1}.get(token, 0)
        if token == mark and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
        at += 1
    return [p for p in parts if p]


def plain_path(tokens: list[str]) -> list[str]:
    """Returns the path of a type without references, `dyn` and generics."""
    at = 0
    while at < len(tokens) and (tokens[at] in ("&", "mut", "dyn", "*", "const", "impl", "(", "?") or tokens[at][0] == "'"):
        at += 1
    path = []
    while at < len(tokens) and re.match(r"[A-Za-z_$]", tokens[at]):
        path.append(tokens[at])
        at += 1
        if at < len(tokens) and tokens[at] == "<":
            break
        if at + 1 < len(tokens) and tokens[at] == "::":
            at += 1
            if tokens[at] == "<":
                break
            continue
        break
    return path


class Reader:
    """Reads the items of one file into a module. `load` reads the file of a `mod name;`."""

    def __init__(self, tokens: list[str], crate: Any) -> None:
        self.tokens, self.crate = tokens, crate
        self.inside = 0
        self.closes = brackets(tokens)

    def close(self, start: int) -> int:
        return self.closes.get(start, len(self.tokens) - 1)

    def items(self, start: int, end: int, module: Module, place: Any) -> None:
        at = start
        while at < end:
            at = self.item(at, end, module, place)

    def members(self, start: int, end: int, module: Module, public: bool) -> dict[str, list[Item]]:
        """Returns the functions of an impl or trait, also those in macro calls."""
        inner = Module("", self.crate, module)
        self.items(start, end, inner, None)
        found: dict[str, list[Item]] = {}
        for name, items in inner.items.items():
            for item in items:
                if isinstance(item, Item):
                    item.public = item.public or public
                    item.module = module
                    found.setdefault(name, []).append(item)
        return found

    def item(self, at: int, end: int, module: Module, place: Any) -> int:
        tokens = self.tokens
        attributes = []
        while at + 1 < end and tokens[at] == "#":
            begin = at + 2 if tokens[at + 1] == "!" else at + 1
            if begin >= end or tokens[begin] != "[":
                return at + 1
            close = self.close(begin)
            attributes.append(" ".join(tokens[begin + 1 : close]))
            at = close + 1
        if at >= end:
            return end
        attribute = "\n".join(attributes)
        public = False
        if tokens[at] == "pub":
            public = True
            at += 1
            if at < end and tokens[at] == "(" and tokens[at + 1] in ("crate", "super", "self", "in"):
                public = False
                at = self.close(at) + 1
        elif tokens[at] in ("$vis", "$pub"):
            public = True
            at += 1
        if at >= end:
            return end
        word = tokens[at]
        following = tokens[at + 1] if at + 1 < end else ""
        if word == "mod" and at + 2 < end:
            return self.module(at, module, public, attribute, place)
        if word == "use":
            stop = self.until(at, end, ";")
            self.use(at + 1, stop, [], public, module)
            return stop + 1
        if word == "extern" and following == "crate":
            stop = self.until(at, end, ";")
            name = tokens[stop - 1]
            module.uses.append(Use(name, ["", tokens[at + 2]], public))
            return stop + 1
        if word in ("struct", "union", "enum") and re.match(r"[A-Za-z_$]", following):
            module.add(following, Item(word, following, public, module, attributes=attribute, made=self.inside > 0))
            stop = at + 2
            while stop < end and tokens[stop] not in (";", "{"):
                stop = self.close(stop) + 1 if tokens[stop] in ("(", "[") else stop + 1
            return (self.close(stop) if stop < end and tokens[stop] == "{" else stop) + 1
        if word == "type" and re.match(r"[A-Za-z_]", following):
            stop = self.until(at, end, ";")
            # A generic parameter may have a default after `=`.
            begin = after_generics(tokens, at + 2)
            target = tokens[tokens.index("=", begin, stop) + 1 : stop] if "=" in tokens[begin:stop] else []
            module.add(following, Item("type", following, public, module, attributes=attribute, target=plain_path(target)))
            return stop + 1
        if word in ("const", "static") and (following in ("mut", "_") or tokens[at + 2 : at + 3] == [":"]):
            name = tokens[at + 2] if following == "mut" else following
            module.add(name, Item("const", name, public, module, attributes=attribute))
            return self.until(at, end, ";") + 1
        if word == "macro_rules" and following == "!":
            name = tokens[at + 2]
            self.crate.macros[name] = Item("macro", name, "macro_export" in attribute, module)
            module.add(name + "!", self.crate.macros[name])
            return self.close(at + 3) + 1
        if word == "macro" and re.match(r"[A-Za-z_]", following):
            module.add(following + "!", Item("macro", following, public, module))
            return self.until(at, end, "{") + 1
        here = at
        while here < end and (tokens[here] in QUALIFIERS or tokens[here][0] == '"' or tokens[here] == "auto"):
            here += 1
        if here < end and tokens[here] == "fn" and here + 1 < end:
            return self.function(at, here, end, module, public, attribute)
        if here < end and tokens[here] == "trait" and here + 1 < end:
            name = tokens[here + 1]
            body = self.until(here, end, "{")
            if body >= end:
                # The word is among the tokens of a macro.
                return here + 1
            close = self.close(body)
            item = Item("trait", name, public, module, attributes=attribute)
            item.members = self.members(body + 1, close, module, True)
            module.add(name, item)
            return close + 1
        if here < end and tokens[here] == "impl":
            return self.impl(here, end, module, attribute)
        if here < end and tokens[here] == "{" and at != here:
            # `extern "C" { … }`: its functions are items here.
            close = self.close(here)
            self.items(here + 1, close, module, place)
            return close + 1
        return self.other(at, end, module, place)

    def other(self, at: int, end: int, module: Module, place: Any) -> int:
        """Reads a macro call or an arm of a macro, with the items in its tokens."""
        tokens = self.tokens
        if tokens[at] in PAIRS:
            close = self.close(at)
            if tokens[at] != "[":
                self.inside += 1
                self.items(at + 1, close, module, place)
                self.inside -= 1
            return close + 1
        return at + 1

    def until(self, at: int, end: int, mark: str) -> int:
        while at < end and self.tokens[at] != mark:
            at = self.close(at) + 1 if self.tokens[at] in PAIRS else at + 1
        return min(at, end)

    def module(self, at: int, module: Module, public: bool, attribute: str, place: Any) -> int:
        tokens = self.tokens
        name = tokens[at + 1]
        if tokens[at + 2] not in (";", "{"):
            return at + 1
        if re.search(r"cfg \( (?:all \( )?(?:test|loom)\b", attribute):
            return at + 3 if tokens[at + 2] == ";" else self.close(at + 2) + 1
        child = Module(name, self.crate, module, public)
        module.add(name, child)
        if tokens[at + 2] == "{":
            close = self.close(at + 2)
            self.items(at + 3, close, child, place / name if place is not None else None)
            return close + 1
        if place is not None:
            shown = re.search(r"path = (\"[^\"]*\")", attribute)
            self.crate.load(child, name, place, shown[1][1:-1] if shown else None)
        return at + 3

    def use(self, at: int, end: int, prefix: list[str], public: bool, module: Module) -> None:
        tokens = self.tokens
        path = list(prefix)
        if at < end and tokens[at] == "::":
            path.append("")
            at += 1
        while at < end:
            token = tokens[at]
            if token == "{":
                close = self.close(at)
                begin = at + 1
                depth = 0
                for here in range(at + 1, close + 1):
                    depth += {"{": 1, "}": -1}.get(tokens[here], 0) if here < close else 0
                    if here == close or tokens[here] == "," and depth == 0:
                        if here > begin:
                            self.use(begin, here, path, public, module)
                        begin = here + 1
                return
            if token == "*":
                module.uses.append(Use("*", path, public))
                return
            if token == "as":
                module.uses.append(Use(tokens[at + 1], path, public))
                return
            if token != "::":
                path.append(token)
            at += 1
        if path and path[-1] == "self":
            path.pop()
        if path:
            module.uses.append(Use(path[-1], path, public))

    def function(self, start: int, at: int, end: int, module: Module, public: bool, attribute: str) -> int:
        tokens = self.tokens
        name = tokens[at + 1]
        stop = at + 2
        while stop < end and tokens[stop] not in (";", "{"):
            stop = self.close(stop) + 1 if tokens[stop] in ("(", "[") else stop + 1
        item = Item("fn", name, public, module, "async" in tokens[start:at], tokens[at + 1 : stop], attribute)
        module.add(name, item)
        return (self.close(stop) if stop < end and tokens[stop] == "{" else stop) + 1

    def impl(self, at: int, end: int, module: Module, attribute: str) -> int:
        tokens = self.tokens
        begin = after_generics(tokens, at + 1)
        generics = {p[0] for p in split(tokens, at + 2, begin - 1)} if begin > at + 1 else set()
        body = begin
        while body < end and tokens[body] != "{":
            body = self.close(body) + 1 if tokens[body] in ("(", "[") else body + 1
        if body >= end:
            return end
        head = tokens[begin:body]
        if "where" in head:
            head = head[: head.index("where")]
        parts = top_level(head, "for")
        trait, of = (parts[0], parts[1]) if len(parts) > 1 else ([], parts[0] if parts else [])
        close = self.close(body)
        members = self.members(body + 1, close, module, bool(trait))
        path = plain_path([t for t in trait if t != "!"])
        self.crate.impls.append(Impl(module, plain_path(of), path, members, generics))
        return close + 1


def top_level(tokens: list[str], mark: str) -> list[list[str]]:
    """Returns the parts between a word outside of angle brackets (inside, `for` begins a bound)."""
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(token, 0)
        if token == mark and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return [p for p in parts if p]
