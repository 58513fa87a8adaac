"""Where an import goes that edits need: among those of its kind, as projects sort them."""

from __future__ import annotations

import sys
from typing import Dict, List, Optional, Set, Tuple

import libcst as cst
from libcst.helpers import get_full_name_for_node

STANDARD_LIBRARY = getattr(sys, "stdlib_module_names", frozenset({"asyncio", "collections", "contextlib", "functools", "json", "logging", "os", "re", "sys", "time", "typing", "pathlib"}))
FUTURE, STANDARD, OTHERS, OURS = range(4)

Imported = Tuple[int, int, str, bool]


def kind_of(module: str, ours: Set[str]) -> int:
    head = module.split(".")[0]
    if head == "__future__":
        return FUTURE
    if not head or head in ours:
        return OURS
    return STANDARD if head in STANDARD_LIBRARY else OTHERS


def top_imports(module: cst.Module, ours: Set[str]) -> List[Imported]:
    """The imports before the first definition: place, kind, module, and whether it is `import …`."""
    found: List[Imported] = []
    for number, statement in enumerate(module.body):
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            break
        for small in statement.body if isinstance(statement, cst.SimpleStatementLine) else []:
            if isinstance(small, cst.Import):
                found += [(number, kind_of(get_full_name_for_node(alias.name) or "", ours), get_full_name_for_node(alias.name) or "", alias.asname is None) for alias in small.names]
            elif isinstance(small, cst.ImportFrom):
                name = "" if small.relative or small.module is None else get_full_name_for_node(small.module) or ""
                found.append((number, kind_of(name, ours), name, False))
    return found


def with_import(module: cst.Module, name: str, ours: Set[str]) -> cst.Module:
    """`import NAME`, unless it is there."""
    imports = top_imports(module, ours)
    if any(of == name and plain for _, _, of, plain in imports):
        return module
    kind = kind_of(name, ours)
    # Behind the last that comes before it: of its own kind by name, `import` before `from`, else whatever stands before its kind.
    same = [one for one in imports if one[1] == kind]
    plain = [one for one in same if one[3]]
    before = [one for one in plain if one[2] < name] if plain else []
    body = list(module.body)
    new = cst.parse_statement(f"import {name}")
    if before:
        return _placed(module, body, before[-1][0] + 1, new)
    if same:
        return _in_front(module, body, (plain or same)[0][0], new)
    earlier = [one for one in imports if one[1] < kind]
    later = [one for one in imports if one[1] > kind]
    if earlier:
        return _placed(module, body, max(one[0] for one in earlier) + 1, new.with_changes(leading_lines=[cst.EmptyLine(indent=False)]))
    if later:
        at = later[0][0]
        lines = list(body[at].leading_lines)
        blank = [] if lines and lines[0].comment is None else [cst.EmptyLine(indent=False)]
        taken = [] if any(line.comment for line in lines) else lines
        body[at] = body[at].with_changes(leading_lines=[cst.EmptyLine(indent=False)] if taken or not lines else [*blank, *lines])
        return _placed(module, body, at, new.with_changes(leading_lines=taken))
    return _placed(module, body, _behind_docstring(module), new)


def with_name(module: cst.Module, source: str, name: str, ours: Set[str]) -> cst.Module:
    """`from SOURCE import NAME`: with the names that are imported from there already."""
    body = list(module.body)
    for number, _, of, _ in top_imports(module, ours):
        statement = body[number]
        small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1 else None
        if of != source or not isinstance(small, cst.ImportFrom) or isinstance(small.names, cst.ImportStar):
            continue
        if any(alias.name.value == name for alias in small.names):
            return module
        names = list(small.names)
        at = next((at for at, alias in enumerate(names) if alias.name.value > name), len(names))
        comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        if at == len(names) and not isinstance(names[-1].comma, cst.Comma):
            names[-1] = names[-1].with_changes(comma=comma)
            new = cst.ImportAlias(cst.Name(name))
        else:
            like = names[at if at < len(names) else -1].comma
            new = cst.ImportAlias(cst.Name(name), comma=like if isinstance(like, cst.Comma) else comma)
        names.insert(at, new)
        body[number] = statement.with_changes(body=[small.with_changes(names=names)])
        return module.with_changes(body=body)
    # As `import` first: that finds the place.
    module = with_import(module, source, ours)
    text = f"import {source}"
    body = [
        one.with_changes(body=cst.ensure_type(cst.parse_statement(f"from {source} import {name}"), cst.SimpleStatementLine).body)
        if isinstance(one, cst.SimpleStatementLine) and module.code_for_node(one).strip() == text
        else one
        for one in module.body
    ]
    return module.with_changes(body=body)


def _in_front(module: cst.Module, body: List, at: int, new: cst.BaseStatement) -> cst.Module:
    """The lines above the statement stay above."""
    new = new.with_changes(leading_lines=body[at].leading_lines)
    body[at] = body[at].with_changes(leading_lines=[])
    return _placed(module, body, at, new)


def _placed(module: cst.Module, body: List, at: int, new: cst.BaseStatement) -> cst.Module:
    return module.with_changes(body=[*body[:at], new, *body[at:]])


def _behind_docstring(module: cst.Module) -> int:
    first: Optional[cst.BaseStatement] = next(iter(module.body), None)
    small = first.body[0] if isinstance(first, cst.SimpleStatementLine) else None
    is_text = isinstance(small, cst.Expr) and isinstance(small.value, (cst.SimpleString, cst.ConcatenatedString))
    return 1 if is_text else 0


def with_made(module: cst.Module, made: Dict[str, str]) -> cst.Module:
    """Names of the module below its imports."""
    body = list(module.body)
    imports = top_imports(module, set())
    at = imports[-1][0] + 1 if imports else _behind_docstring(module)
    for name, value in sorted(made.items()):
        if f"{name} = {value}" not in module.code:
            body.insert(at, cst.parse_statement(f"{name} = {value}").with_changes(leading_lines=[cst.EmptyLine(indent=False)]))
    return module.with_changes(body=body)
