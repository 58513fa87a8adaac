"""State that tasks and threads share: an edit must not make two of them change it at the same time."""

from __future__ import annotations

import ast
from typing import Iterator, List, Optional, Set, Tuple

from .edits import Edits
from .index import FUNCTIONS, File, Function, Index, dotted, own_nodes

# Methods of the language's collections that change them.
CHANGING = {"add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem", "popleft", "remove", "setdefault", "update"}

# The depth of calls to which changes are searched.
DEPTH = 4

# The function that changes shared state, the node that does it, and the name of the state.
Change = Tuple[Function, ast.AST, str]


def find_changes_below(index: Index, function: Function) -> Iterator[Change]:
    """Yields the changes of attributes of `self` and of module variables in a function and its callees in the project."""
    seen: Set[Function] = {function}
    waiting = [(function, 0)]
    while waiting:
        one, depth = waiting.pop()
        yield from ((one, node, name) for node, name in find_changes(one))
        for node in own_nodes(one.node) if depth < DEPTH else []:
            callee = called_function(index, one, node)
            if callee is not None and callee not in seen:
                seen.add(callee)
                waiting.append((callee, depth + 1))


def called_function(index: Index, function: Function, node: ast.AST) -> Optional[Function]:
    """Returns the called function of the project; None for a method of a local object, which no other task has."""
    if not isinstance(node, ast.Call):
        return None
    root = node.func
    while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
        root = root.func if isinstance(root, ast.Call) else root.value
    if isinstance(node.func, ast.Attribute) and isinstance(root, ast.Name) and root.id in own_names(function):
        return None
    found = index.names.target(function.file, node.func)
    return found if isinstance(found, Function) and not found.is_async else None


def find_changes(function: Function) -> Iterator[Tuple[ast.AST, str]]:
    """Yields the attributes of `self` and module variables that a function itself changes without holding a lock."""
    names = {name for node in own_nodes(function.node) if isinstance(node, ast.Global) for name in node.names}
    for node in own_nodes(function.node):
        name = shared_name(function, names, changed_expression(node))
        if name and not is_locked(function.file, node):
            yield node, name


def changed_expression(node: ast.AST) -> Optional[ast.AST]:
    """Returns the expression that a node assigns or changes: `x` in `x.append(1)`."""
    if isinstance(node, (ast.Attribute, ast.Name)) and isinstance(node.ctx, (ast.Store, ast.Del)):
        return node
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, (ast.Store, ast.Del)):
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
        return node.func.value
    return None


def shared_name(function: Function, names: Set[str], node: Optional[ast.AST]) -> Optional[str]:
    """Returns the attribute of `self` or the module variable to which an expression refers, as `self.cache` for `self.cache[key]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    path = dotted(node) if node is not None else None
    if path is None:
        return None
    first = next((one.arg for one in [*function.node.args.posonlyargs, *function.node.args.args]), None)
    head = path.split(".")[0]
    if "." in path:
        return path if function.owner and head == first else None
    is_module = path in names or path in made_by_module(function.file) and path not in own_names(function)
    return path if is_module else None


def own_names(function: Function) -> Set[str]:
    """Returns the names that a function binds itself."""
    nodes = list(own_nodes(function.node))
    shared = {name for node in nodes if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)} - shared


def made_by_module(file: File) -> Set[str]:
    """Returns the names that a module binds to values."""
    targets = (target for node in file.tree.body if isinstance(node, (ast.Assign, ast.AnnAssign)) for target in getattr(node, "targets", [getattr(node, "target", None)]))
    return {target.id for target in targets if isinstance(target, ast.Name)}


def is_locked(file: File, node: ast.AST) -> bool:
    """True if a node is in a `with` of an object whose name says that it is a lock."""
    for above in file.up(node):
        if isinstance(above, (ast.With, ast.AsyncWith)) and any(is_lock(item.context_expr) for item in above.items):
            return True
        if isinstance(above, FUNCTIONS):
            return False
    return False


def is_lock(node: ast.AST) -> bool:
    path = dotted(node.func if isinstance(node, ast.Call) else node) or ""
    return any(word in path.lower() for word in ("lock", "mutex", "semaphore"))


def find_early_flag(function: Function, edits: Edits) -> Optional[Tuple[ast.AST, str]]:
    """Returns a flag that a function tests, and sets before a call that becomes awaited: another task would see the flag
    and continue before the call is done, as in `if self.loaded: return; self.loaded = True; self.read()`.
    """
    file = function.file
    own = list(own_nodes(function.node))
    waits: List = sorted(file.start(node) for node in own if isinstance(node, (ast.expr, ast.With, ast.For)) and is_awaited_now(file, node, edits))
    names = {name for node in own if isinstance(node, ast.Global) for name in node.names}
    tested = [(file.start(node), one) for node in own if isinstance(node, (ast.If, ast.While)) for one in tested_names(function, names, node.test)]
    for node in own:
        name = shared_name(function, names, changed_expression(node))
        if not name or isinstance(node, ast.Attribute) and node.value is None or is_locked(file, node):
            continue
        at = file.start(node)
        value = file.parents.get(node)
        # A variable that is assigned the awaited value is not set before it.
        end = file.end(value) if isinstance(value, (ast.Assign, ast.AugAssign, ast.AnnAssign)) else file.end(node)
        looked = any(of == name and before < at for before, of in tested)
        if looked and any(wait > end for wait in waits):
            return node, name
    return None


def tested_names(function: Function, names: Set[str], test: ast.AST) -> Iterator[str]:
    for node in ast.walk(test):
        if isinstance(node, (ast.Attribute, ast.Name)) and (found := shared_name(function, names, node)):
            yield found


def is_awaited_now(file: File, node: ast.AST, edits: Edits) -> bool:
    """True if an edit makes a node awaited."""
    return (file.start(node), file.end(node)) in edits.awaited or file.start(node) in edits.async_blocks
