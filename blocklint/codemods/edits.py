"""Edits of one file by place, and the libcst transformer that makes them: what is not edited keeps its text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, List, Optional, Set, Tuple

import libcst as cst
import libcst.helpers
from libcst.codemod import CodemodContext
from libcst.codemod.visitors import AddImportsVisitor, ImportItem, RemoveImportsVisitor
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider

# What edits import of the standard library.
STANDARD = ("asyncio", "contextlib", "functools")

Span = Tuple[Tuple[int, int], Tuple[int, int]]


@dataclass
class Wrap:
    """`async with MAKES as NAME:` around the statement that holds a call."""

    makes: str
    name: str


@dataclass
class Edits:
    """Lines count from 1, columns are characters from 0, as `ast` and libcst have them."""

    # Lines of the `def`s that become coroutines.
    coroutines: Set[int] = field(default_factory=set)
    awaited: Set[Span] = field(default_factory=set)
    # Calls in a function that stays as it is: `asyncio.run(call)`.
    run: Set[Span] = field(default_factory=set)
    # Expressions and the code in their place.
    replaced: Dict[Span, str] = field(default_factory=dict)
    # The last name of an attribute.
    renamed: Dict[Span, str] = field(default_factory=dict)
    # Calls whose keyword arguments change: the new name of each, and arguments besides.
    arguments: Dict[Span, Tuple[Dict[str, str], Dict[str, str]]] = field(default_factory=dict)
    # Calls that a thread makes: the function that hands over, and whether it passes keywords on.
    threads: Dict[Span, Tuple[str, bool]] = field(default_factory=dict)
    # Starts of `with` and `for`.
    async_blocks: Set[Tuple[int, int]] = field(default_factory=set)
    # Starts of what generator expressions give that become lists.
    lists: Set[Tuple[int, int]] = field(default_factory=set)
    wraps: Dict[Span, Wrap] = field(default_factory=dict)
    imports: Set[str] = field(default_factory=set)
    left: Set[str] = field(default_factory=set)
    # Names of the module that are made once, below the imports.
    made: Dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return any(bool(value) for value in vars(self).values())


class Transformer(cst.CSTTransformer):
    METADATA_DEPENDENCIES = (PositionProvider, ParentNodeProvider)

    def __init__(self, edits: Edits) -> None:
        super().__init__()
        self.edits = edits
        self.wrapping: List[Tuple[cst.CSTNode, Wrap]] = []

    def span(self, node: cst.CSTNode) -> Span:
        at = self.get_metadata(PositionProvider, node)
        return (at.start.line, at.start.column), (at.end.line, at.end.column)

    def leave_FunctionDef(self, original: cst.FunctionDef, updated: cst.FunctionDef) -> cst.BaseStatement:
        if self.span(original.name)[0][0] in self.edits.coroutines and updated.asynchronous is None:
            return updated.with_changes(asynchronous=cst.Asynchronous())
        return updated

    def leave_With(self, original: cst.With, updated: cst.With) -> cst.BaseStatement:
        return self._block(original, updated)

    def leave_For(self, original: cst.For, updated: cst.For) -> cst.BaseStatement:
        return self._block(original, updated)

    def leave_CompFor(self, original: cst.CompFor, updated: cst.CompFor) -> cst.CompFor:
        return self._block(original, updated)

    def _block(self, original, updated):
        if self.span(original)[0] in self.edits.async_blocks and updated.asynchronous is None:
            return updated.with_changes(asynchronous=cst.Asynchronous())
        return updated

    def leave_GeneratorExp(self, original: cst.GeneratorExp, updated: cst.GeneratorExp) -> cst.BaseExpression:
        if self.span(original.elt)[0] in self.edits.lists:
            return cst.ListComp(elt=updated.elt, for_in=updated.for_in)
        return updated

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
        return self._replaced(original, updated)

    def leave_Attribute(self, original: cst.Attribute, updated: cst.Attribute) -> cst.BaseExpression:
        if (name := self.edits.renamed.get(self.span(original))) is not None:
            updated = updated.with_changes(attr=cst.Name(name))
        return self._replaced(original, updated)

    def _replaced(self, original, updated):
        code = self.edits.replaced.get(self.span(original))
        parent = self.get_metadata(ParentNodeProvider, original, None)
        if code is None or (isinstance(parent, (cst.Param, cst.Arg)) and getattr(parent, "name", None) is original):
            return updated
        return cst.parse_expression(code)

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        span, edits = self.span(original), self.edits
        result: cst.BaseExpression = updated
        if span in edits.arguments:
            names, more = edits.arguments[span]
            kept = [arg.with_changes(keyword=cst.Name(names.get(arg.keyword.value, arg.keyword.value))) if arg.keyword else arg for arg in updated.args]
            given = {arg.keyword.value for arg in kept if arg.keyword}
            added = [_keyword(name, value) for name, value in more.items() if name not in given]
            if added and kept:
                last = kept[-1]
                if not isinstance(last.comma, cst.Comma):
                    kept[-1] = last.with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")), whitespace_after_arg=cst.SimpleWhitespace(""))
            result = updated = updated.with_changes(args=[*kept, *added])
        if span in edits.threads:
            to, keywords = edits.threads[span]
            result = updated = _handed(updated, to, keywords)
        if span in edits.replaced:
            result = cst.parse_expression(edits.replaced[span])
        if span in edits.wraps:
            self.wrapping.append((original, edits.wraps[span]))
        if span in edits.awaited:
            result = _awaited(result, self.get_metadata(ParentNodeProvider, original), original)
        if span in edits.run:
            result = cst.Call(func=cst.parse_expression("asyncio.run"), args=[cst.Arg(result)])
        return result

    def leave_SimpleStatementLine(self, original, updated):
        return self._wrapped(original, updated)

    def _wrapped(self, original, updated):
        inside = [wrap for call, wrap in self.wrapping if self._holds(original, call)]
        if not inside:
            return updated
        self.wrapping = [one for one in self.wrapping if not self._holds(original, one[0])]
        wrap = inside[0]
        item = cst.WithItem(item=cst.parse_expression(wrap.makes), asname=cst.AsName(name=cst.Name(wrap.name)))
        body = cst.IndentedBlock(body=[updated.with_changes(leading_lines=[])])
        return cst.With(items=[item], body=body, asynchronous=cst.Asynchronous(), leading_lines=updated.leading_lines)

    def _holds(self, statement, call) -> bool:
        (start, end), (inner, last) = self.span(statement), self.span(call)
        return start <= inner and last <= end


def _keyword(name: str, value: str) -> cst.Arg:
    no = cst.SimpleWhitespace("")
    equal = cst.AssignEqual(whitespace_before=no, whitespace_after=no)
    return cst.Arg(keyword=cst.Name(name), value=cst.parse_expression(value), equal=equal)


def _handed(call: cst.Call, to: str, keywords: bool) -> cst.Call:
    """`to(callee, arguments…)`, with `functools.partial` where keywords would not be passed on."""
    if not keywords and any(arg.keyword or arg.star for arg in call.args):
        call = cst.Call(func=cst.parse_expression("functools.partial"), args=_before(call.func, call.args))
        return cst.Call(func=cst.parse_expression(to), args=[cst.Arg(call)])
    args = _before(call.func, call.args)
    if args[1:] and isinstance(call.whitespace_before_args, cst.ParenthesizedWhitespace):
        # Each argument on a line of its own, as it was.
        between = call.whitespace_before_args.with_changes(first_line=cst.TrailingWhitespace())
        args[0] = args[0].with_changes(comma=cst.Comma(whitespace_after=between))
    return call.with_changes(func=cst.parse_expression(to), args=args)


def _before(first: cst.BaseExpression, args) -> List[cst.Arg]:
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")) if args else cst.MaybeSentinel.DEFAULT
    return [cst.Arg(first, comma=comma), *args]


def _awaited(value: cst.BaseExpression, parent: cst.CSTNode, original: cst.CSTNode) -> cst.BaseExpression:
    if isinstance(parent, cst.Await):
        return value
    binds = isinstance(parent, (cst.Attribute, cst.Subscript, cst.Call)) and getattr(parent, "value", getattr(parent, "func", None)) is original
    power = isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, cst.Power)
    parens = {"lpar": [cst.LeftParen()], "rpar": [cst.RightParen()]} if binds or power else {}
    # Its own parentheses stay around the call.
    return cst.Await(expression=value, **parens)


def applied(source: str, edits: Edits) -> str:
    """The text with the edits made and the imports that they need."""
    wrapper = MetadataWrapper(cst.parse_module(source))
    module = wrapper.visit(Transformer(edits))
    context = CodemodContext()
    # A module that is imported as a whole already is not imported again.
    module = _with_standard(module, sorted(name for name in edits.imports if name in STANDARD))
    items = [ImportItem(name) for name in sorted(edits.imports) if name not in STANDARD]
    if items:
        module = AddImportsVisitor(context, items).transform_module(module)
    for name in sorted(edits.left):
        RemoveImportsVisitor.remove_unused_import(context, name)
    module = _with_made(module, edits.made)
    if edits.left:
        module = RemoveImportsVisitor(context).transform_module(module)
    if module.body and module.body[0].leading_lines and not source[:1].isspace():
        # The first import is gone, and the blank line behind it stays no more.
        first = module.body[0]
        lines = list(first.leading_lines)
        while lines and lines[0].comment is None:
            lines.pop(0)
        if not module.header:
            module = module.with_changes(body=[first.with_changes(leading_lines=lines), *module.body[1:]])
    return module.code


def _with_standard(module: cst.Module, names: List[str]) -> cst.Module:
    """Imports of the standard library before the first import that is not `__future__`'s, as most projects sort them."""
    body = list(module.body)
    at = 0
    there: Set[str] = set()
    first = None
    for number, statement in enumerate(body):
        if not isinstance(statement, cst.SimpleStatementLine):
            continue
        for small in statement.body:
            if isinstance(small, cst.Import):
                there.update(cst.helpers.get_full_name_for_node(alias.name) or "" for alias in small.names if alias.asname is None)
            future = isinstance(small, cst.ImportFrom) and small.module is not None and cst.helpers.get_full_name_for_node(small.module) == "__future__"
            text = isinstance(small, cst.Expr) and isinstance(small.value, (cst.SimpleString, cst.ConcatenatedString)) and number == 0
            if future or text:
                at = number + 1
            elif isinstance(small, (cst.Import, cst.ImportFrom)) and first is None:
                first = number
    at = first if first is not None else at
    new = [cst.parse_statement(f"import {name}") for name in names if name not in there]
    if new and at < len(body) and first is not None:
        # Comments and blank lines stay above.
        new[0] = new[0].with_changes(leading_lines=body[at].leading_lines)
        body[at] = body[at].with_changes(leading_lines=[])
    return module.with_changes(body=[*body[:at], *new, *body[at:]])


def parse_problem(source: str) -> Optional[str]:
    try:
        compile(source, "<new>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return str(error)
    return None


def _with_made(module: cst.Module, made: Dict[str, str]) -> cst.Module:
    """Names of the module below its imports."""
    body = list(module.body)
    imports = [number for number, one in enumerate(body) if isinstance(one, cst.SimpleStatementLine) and any(isinstance(small, (cst.Import, cst.ImportFrom)) for small in one.body)]
    at = imports[-1] + 1 if imports else 0
    for name, value in sorted(made.items()):
        if f"{name} = {value}" in module.code:
            continue
        body.insert(at, cst.parse_statement(f"{name} = {value}").with_changes(leading_lines=[cst.EmptyLine(indent=False)]))
    return module.with_changes(body=body)
