"""The edits of a file by position, and the libcst transformer that applies them and keeps all other text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, List, Optional, Set, Tuple

import libcst as cst
from libcst.codemod import CodemodContext
from libcst.codemod.visitors import RemoveImportsVisitor
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider

from .names import Names


Span = Tuple[Tuple[int, int], Tuple[int, int]]


@dataclass
class Wrap:
    """`async with EXPRESSION as NAME:` around the statement of a call."""

    expression: str
    name: str


@dataclass
class Edits:
    """The edits of a file. Lines count from 1 and columns from 0, in characters, as in libcst."""

    # Lines of the `def`s that become `async def`.
    coroutines: Set[int] = field(default_factory=set)
    awaited: Set[Span] = field(default_factory=set)
    # Calls in a function that stays synchronous, and the function that runs them: `asyncio.run(call)`.
    run: Dict[Span, str] = field(default_factory=dict)
    # Expressions and the code in their place.
    replaced: Dict[Span, str] = field(default_factory=dict)
    # The last name of an attribute.
    renamed: Dict[Span, str] = field(default_factory=dict)
    # Calls whose keyword arguments change: the new name of each, and additional arguments.
    arguments: Dict[Span, Tuple[Dict[str, str], Dict[str, str]]] = field(default_factory=dict)
    # Calls that move to a thread: the function that runs them, and `functools.partial` if it passes on no keywords.
    threads: Dict[Span, Tuple[str, str]] = field(default_factory=dict)
    # Calls that ran a function in a thread, and now make the call themselves.
    direct: Set[Span] = field(default_factory=set)
    # Starts of `with` and `for` that become async; of a comprehension the start of its iterable.
    async_blocks: Set[Tuple[int, int]] = field(default_factory=set)
    # Generator expressions that become lists, by the start of their element.
    lists: Set[Tuple[int, int]] = field(default_factory=set)
    # Arguments that become a list comprehension with `async for`.
    gathered: Set[Span] = field(default_factory=set)
    # Calls such as `json.load(f)`: the function for text (`json.loads`), the file, and `read` or `write`.
    whole: Dict[Span, Tuple[str, str, str]] = field(default_factory=dict)
    # Replacements of a function in tests, which become the `side_effect` of an AsyncMock; with the name of AsyncMock.
    mocked: Dict[Span, str] = field(default_factory=dict)
    wraps: Dict[Span, Wrap] = field(default_factory=dict)
    # `import MODULE`, or `from MODULE import NAME`.
    imports: Set[Tuple[str, str]] = field(default_factory=set)
    # Imports that may be unused now: a module, and the name that is imported from it.
    left: Set[Tuple[str, str]] = field(default_factory=set)
    # Module variables that are created once, below the imports, with their values.
    made: Dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return any(map(bool, vars(self).values()))


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
        if self.span(original.iter)[0] in self.edits.async_blocks and updated.asynchronous is None:
            return updated.with_changes(asynchronous=cst.Asynchronous())
        return updated

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
        if self.span(original) in self.edits.mocked:
            return self._mocked(original, updated)
        parent = self.get_metadata(ParentNodeProvider, original, None)
        if code is None or (isinstance(parent, (cst.Param, cst.Arg)) and getattr(parent, "name", None) is original):
            return updated
        return cst.parse_expression(code)

    def leave_Lambda(self, original: cst.Lambda, updated: cst.Lambda) -> cst.BaseExpression:
        return self._mocked(original, updated)

    def _mocked(self, original, updated):
        name = self.edits.mocked.get(self.span(original))
        return updated if name is None else cst.Call(func=cst.parse_expression(name), args=[_keyword_of("side_effect", updated)])

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
        if span in edits.whole:
            result = updated = _convert_whole_file_call(updated, *edits.whole[span])
            if edits.whole[span][2] == "write":
                return _parenthesised(_await_write(updated, edits.whole[span][1]), self.get_metadata(ParentNodeProvider, original), original)
        gathered = [number for number, arg in enumerate(original.args) if self.span(arg.value) in edits.gathered]
        for number in gathered:
            all_of = _async_list(updated.args[number].value)
            is_list = isinstance(original.func, cst.Name) and original.func.value == "list" and len(original.args) == 1
            args = [arg.with_changes(value=all_of) if at == number else arg for at, arg in enumerate(updated.args)]
            result = updated = all_of if is_list else updated.with_changes(args=args)
        if span in edits.direct:
            result = updated = updated.with_changes(func=updated.args[0].value, args=updated.args[1:])
        if span in edits.threads:
            result = updated = _call_in_thread(updated, *edits.threads[span])
        if span in edits.replaced:
            result = _parenthesised(cst.parse_expression(edits.replaced[span]), self.get_metadata(ParentNodeProvider, original), original)
        if span in edits.wraps:
            self.wrapping.append((original, edits.wraps[span]))
        if span in edits.awaited:
            result = _await(result, self.get_metadata(ParentNodeProvider, original), original)
        if span in edits.run:
            result = cst.Call(func=cst.parse_expression(edits.run[span]), args=[cst.Arg(result)])
        return result

    def leave_SimpleStatementLine(self, original, updated):
        return self._wrap_in_client(original, updated)

    def _wrap_in_client(self, original, updated):
        inside = [wrap for call, wrap in self.wrapping if self._holds(original, call)]
        if not inside:
            return updated
        self.wrapping = [one for one in self.wrapping if not self._holds(original, one[0])]
        wrap = inside[0]
        item = cst.WithItem(item=cst.parse_expression(wrap.expression), asname=cst.AsName(name=cst.Name(wrap.name)))
        body = cst.IndentedBlock(body=[updated.with_changes(leading_lines=[])])
        return cst.With(items=[item], body=body, asynchronous=cst.Asynchronous(), leading_lines=updated.leading_lines)

    def _holds(self, statement, call) -> bool:
        (start, end), (inner, last) = self.span(statement), self.span(call)
        return start <= inner and last <= end


def _keyword(name: str, value: str) -> cst.Arg:
    return _keyword_of(name, cst.parse_expression(value))


def _keyword_of(name: str, value: cst.BaseExpression) -> cst.Arg:
    no = cst.SimpleWhitespace("")
    equal = cst.AssignEqual(whitespace_before=no, whitespace_after=no)
    return cst.Arg(keyword=cst.Name(name), value=value, equal=equal)


def _call_in_thread(call: cst.Call, to: str, partial: str) -> cst.Call:
    """Returns `to(callee, arguments…)`, with `functools.partial` if `to` passes on no keyword arguments."""
    if partial and any(arg.keyword or arg.star for arg in call.args):
        call = cst.Call(func=cst.parse_expression(partial), args=_with_first_argument(call.func, call.args))
        return cst.Call(func=cst.parse_expression(to), args=[cst.Arg(call)])
    args = _with_first_argument(call.func, call.args)
    if args[1:] and isinstance(call.whitespace_before_args, cst.ParenthesizedWhitespace):
        # Arguments on lines of their own stay so.
        between = call.whitespace_before_args.with_changes(first_line=cst.TrailingWhitespace())
        args[0] = args[0].with_changes(comma=cst.Comma(whitespace_after=between))
    return call.with_changes(func=cst.parse_expression(to), args=args)


def _with_first_argument(first: cst.BaseExpression, args) -> List[cst.Arg]:
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")) if args else cst.MaybeSentinel.DEFAULT
    return [cst.Arg(first, comma=comma), *args]


def _await(value: cst.BaseExpression, parent: cst.CSTNode, original: cst.CSTNode) -> cst.BaseExpression:
    return value if isinstance(parent, cst.Await) else _parenthesised(cst.Await(value), parent, original)


def _parenthesised(value: cst.BaseExpression, parent: cst.CSTNode, original: cst.CSTNode) -> cst.BaseExpression:
    """Returns an `await` in parentheses if its parent binds more tightly: `(await f()).x`."""
    if not isinstance(value, cst.Await):
        return value
    binds = isinstance(parent, (cst.Attribute, cst.Subscript, cst.Call)) and getattr(parent, "value", getattr(parent, "func", None)) is original
    power = isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, cst.Power)
    parens = {"lpar": [cst.LeftParen()], "rpar": [cst.RightParen()]} if binds or power else {}
    # Parentheses of the call stay around the call.
    return value.with_changes(**parens)


def _convert_whole_file_call(call: cst.Call, name: str, stream: str, method: str) -> cst.Call:
    """Returns `json.loads(await f.read(), …)` for `json.load(f, …)`, and `json.dumps(value, …)` for `json.dump(value, f, …)`."""
    is_it = lambda arg: isinstance(arg.value, cst.Name) and arg.value.value == stream and arg.keyword is None  # noqa: E731
    if method == "read":
        args = [arg.with_changes(value=cst.parse_expression(f"await {stream}.read()")) if is_it(arg) else arg for arg in call.args]
    else:
        args = [arg for arg in call.args if not is_it(arg)]
        if args and call.args and is_it(call.args[-1]):
            args[-1] = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return call.with_changes(func=cst.parse_expression(name), args=args)


def _await_write(text: cst.Call, stream: str) -> cst.Await:
    return cst.Await(cst.Call(func=cst.parse_expression(f"{stream}.write"), args=[cst.Arg(text)]))


def _async_list(value: cst.BaseExpression) -> cst.ListComp:
    if isinstance(value, (cst.GeneratorExp, cst.ListComp)):
        return cst.ListComp(elt=value.elt, for_in=value.for_in)
    return cst.ListComp(
        elt=cst.Name("one"),
        for_in=cst.CompFor(target=cst.Name("one"), iter=value, asynchronous=cst.Asynchronous()),
    )


def apply_edits(source: str, edits: Edits, names: Names) -> str:
    """Returns the text with all edits and the imports that they need."""
    module = MetadataWrapper(cst.parse_module(source)).visit(Transformer(edits))
    module = cst.parse_module(names.with_imports(module.code, sorted(edits.imports)))
    context = CodemodContext()
    for name, of in sorted(edits.left):
        RemoveImportsVisitor.remove_unused_import(context, name, of or None)
    module = _add_module_variables(module, edits.made)
    if edits.left:
        module = RemoveImportsVisitor(context).transform_module(module)
    if module.body and module.body[0].leading_lines and not source[:1].isspace():
        # If the first import was removed, the blank line after it is removed too.
        first = module.body[0]
        lines = list(first.leading_lines)
        while lines and lines[0].comment is None:
            lines.pop(0)
        if not module.header:
            module = module.with_changes(body=[first.with_changes(leading_lines=lines), *module.body[1:]])
    return module.code


def _add_module_variables(module: cst.Module, made: Dict[str, str]) -> cst.Module:
    """Adds module variables below the imports, unless the module has them already."""
    body = list(module.body)
    is_import = lambda line: isinstance(line, cst.SimpleStatementLine) and isinstance(line.body[0], (cst.Import, cst.ImportFrom))  # noqa: E731
    at = max((number for number, line in enumerate(body) if is_import(line)), default=-1) + 1
    for name, value in sorted(made.items()):
        if f"{name} = {value}" not in module.code:
            body.insert(at, cst.parse_statement(f"{name} = {value}").with_changes(leading_lines=[cst.EmptyLine(indent=False)]))
    return module.with_changes(body=body)


def parse_problem(source: str) -> Optional[str]:
    try:
        compile(source, "<new>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return str(error)
    return None
