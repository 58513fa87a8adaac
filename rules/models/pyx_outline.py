"""Turns a Cython source into the outline that Python would see: classes, functions, parameters, attributes."""

from __future__ import annotations

import re
from pathlib import Path

CLASS = re.compile(r"^(\s*)(?:cdef\s+|cpdef\s+|public\s+)*class\s+(\w+)\s*(?:\(([^)]*)\))?")
FUNCTION = re.compile(r"^(\s*)(async\s+)?(?:def\s|cpdef\s+(?:inline\s+)?(?:[\w.*\[\]]+\s+)*?)\s*(\w+)\s*\(")
PROPERTY = re.compile(r"^(\s+)property\s+(\w+)\s*:")
INCLUDE = re.compile(r"""^include\s+["']([^"']+)["']""")
DECORATOR = re.compile(r"^(\s*)@\s*([\w.]+)")
PLAIN = re.compile(r"^(?:from\s+[\w.]+\s+import\s|import\s|\w+\s*=\s*[\w.]+\s*$)")
ATTRIBUTE = re.compile(r"^(\s+)cdef\s+(?:public|readonly)\s+.*?(\w+)\s*$")


def outline(text: str, folder: Path, depth: int = 0) -> str:
    """Python source with the same public names and empty bodies; what is not understood is left out."""
    lines = text.replace("\t", "    ").splitlines()
    result: list[str] = []
    decorators: list[str] = []
    classes = [-4]
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if found := DECORATOR.match(line):
            decorators.append(f"{found[1]}@{found[2]}")
            continue
        indent = len(line) - len(line.lstrip())
        if line.strip():
            classes = [c for c in classes if c < indent]
        member = bool(classes) and indent == classes[-1] + 4
        if (found := CLASS.match(line)) and member:
            classes.append(indent)
            bases = ", ".join(b.strip() for b in (found[3] or "").split(",") if re.fullmatch(r"[\w.]+", b.strip()))
            result += [*decorators, f"{found[1]}class {found[2]}({bases}):", f"{found[1]}    pass"]
        elif (found := FUNCTION.match(line)) and member:
            signature = line[found.end() :]
            while signature.count("(") + 1 > signature.count(")") and at < len(lines):
                signature += " " + lines[at].split("#")[0].strip()
                at += 1
            head = f"{found[1]}{found[2] or ''}def {found[3]}({parameters(signature)}):"
            result += [*decorators, head, f"{found[1]}    pass"]
        elif (found := INCLUDE.match(line)) and depth < 4:
            file = folder / found[1]
            if file.is_file():
                result.append(outline(file.read_text("utf-8", "replace"), folder, depth + 1))
        elif (found := PROPERTY.match(line)) and member:
            result += [f"{found[1]}@property", f"{found[1]}def {found[2]}(self):", f"{found[1]}    pass"]
        elif (found := ATTRIBUTE.match(line)) and member:
            result.append(f"{found[1]}{found[2]} = None")
        elif PLAIN.match(line) and "(" not in line and "\\" not in line:
            result.append(line)
        if line.strip():
            decorators = []
    return "\n".join(result) + "\n"


def parameters(signature: str) -> str:
    """The names between the parentheses, without types and with `None` for each default."""
    depth, part, parts = 0, "", []
    for char in signature:
        depth += char in "([{"
        depth -= char in ")]}"
        if depth < 0:
            break
        if char == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += char
    parts.append(part)
    names = []
    for entry in (p.strip() for p in parts):
        if entry in ("", "*", "/") or entry.startswith("*"):
            names.append(entry)
            continue
        left, _, default = entry.partition("=")
        found = re.search(r"(\w+)\s*(?::.*|\bnot None\s*|\bor None\s*)?$", left.strip())
        if found:
            names.append(found[1] + ("=None" if default else ""))
    return ", ".join(n for n in names if n)
