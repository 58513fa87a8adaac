"""The owner of a stack frame (project, tests or library), and the public names of functions."""

import ast
import os
import sys
import sysconfig
from types import CodeType, ModuleType
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

INSTALLED = ("site-packages", "dist-packages")


class Places:
    """The classification of files: library, test, or project."""

    def __init__(self, root: str, test_files: Set[str]) -> None:
        self.root = root
        self.test_files = test_files
        self._library: Dict[str, bool] = {}
        paths = sysconfig.get_paths()
        self._standard = [os.path.join(os.path.realpath(paths[key]), "") for key in ("stdlib", "platstdlib") if key in paths]

    def is_library(self, file: str) -> bool:
        if file not in self._library:
            self._library[file] = self._is_in_library_folder(file)
        return self._library[file]

    def _is_in_library_folder(self, file: str) -> bool:
        if not os.path.isabs(file):  # <frozen importlib._bootstrap>, <string>
            return True
        parts = file.replace("\\", "/").split("/")
        installed = [index for index, part in enumerate(parts) if part in INSTALLED]
        if installed:
            # An installed copy of the project, as tox makes it, is no library.
            inside = parts[installed[-1] + 1 :]
            return len(inside) < 2 or not any(
                os.path.isfile(os.path.join(self.root, *below, *inside)) for below in ((), ("src",), ("lib",))
            )
        real = os.path.realpath(file)
        return any(real.startswith(folder) for folder in self._standard)

    def is_test(self, file: str) -> bool:
        """True for test modules, `conftest.py`, and files in a folder `test` or `tests`."""
        if file in self.test_files:
            return True
        folder, name = os.path.split(file)
        if name == "conftest.py":
            return True
        inside = os.path.relpath(folder, self.root).replace("\\", "/").split("/") if folder.startswith(self.root) else []
        return any(part in ("test", "tests") for part in inside)


def qualified_name(code: CodeType, module: str) -> str:
    """Returns the qualified name of a function, as `Session.get`. Before Python 3.11 code objects do not have it, and the module is searched."""
    known = getattr(code, "co_qualname", None)
    if known is not None:
        return str(known)
    for name, _ in _functions_of(sys.modules.get(module), code):
        return name
    return code.co_name


def _functions_of(module: Optional[ModuleType], code: CodeType) -> Iterator[Tuple[str, Any]]:
    for name, value in list(vars(module).items()) if module is not None else []:
        if getattr(_unwrap(value), "__code__", None) is code:
            yield name, value
        elif isinstance(value, type) and value.__module__ == module.__name__:  # type: ignore[union-attr]
            for member, inner in list(vars(value).items()):
                if getattr(_unwrap(inner), "__code__", None) is code:
                    yield "{}.{}".format(name, member), inner


def _unwrap(value: Any) -> Any:
    """Returns the function inside of a static method, a property or a wrapper."""
    for name in ("__func__", "fget", "__wrapped__"):
        inner = vars(type(value)).get(name) if not isinstance(value, type) else None
        if inner is not None or (name == "__wrapped__" and hasattr(value, "__dict__") and name in vars(value)):
            value = getattr(value, name, value)
    return value


def public_path(code: CodeType, module: str) -> str:
    """Returns the shortest path under which the library offers a function: `requests.get` of `requests.api.get`."""
    name = qualified_name(code, module)
    if "<locals>" in name:
        name = name.split(".<locals>")[0]
    first, _, rest = name.partition(".")
    if rest == "__init__":
        # Rows name a constructor by its class.
        rest = ""
    owner = getattr(sys.modules.get(module), first, None)
    packages = module.split(".")
    for length in range(1, len(packages)):
        package = ".".join(packages[:length])
        if owner is not None and getattr(sys.modules.get(package), first, None) is owner:
            module = package
            break
    return ".".join(part for part in (module, first, rest) if part)


def builtin_calls(file: str, line: int, module: str) -> List[str]:
    """Returns the paths of functions without Python code that are called in a line; `?.name` if the receiver is not known."""
    found: List[str] = []
    for call in _calls(file, line):
        names = _dotted(call.func)
        if not names:
            continue
        value: Any = sys.modules.get(module)
        for name in names:
            value = getattr(value, name, None) if value is not None else None
        if value is None:
            value = getattr(sys.modules["builtins"], names[0], None) if len(names) == 1 else None
        if value is None:
            found.append("?." + names[-1])
        elif not hasattr(_unwrap(value), "__code__") and not isinstance(value, type):
            owner = getattr(value, "__module__", None) or "builtins"
            found.append("{}.{}".format(owner, getattr(value, "__qualname__", names[-1])))
    return found


_TREES: Dict[str, Optional[ast.AST]] = {}


def _calls(file: str, line: int) -> List[ast.Call]:
    if file not in _TREES:
        try:
            with open(file, "rb") as source:
                _TREES[file] = ast.parse(source.read())
        except (OSError, SyntaxError, ValueError, RecursionError):
            _TREES[file] = None
    tree = _TREES[file]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)] if tree is not None else []
    return [call for call in calls if call.lineno <= line <= (call.end_lineno or call.lineno)]


def _dotted(node: ast.AST) -> List[str]:
    names: List[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        names.append(node.id)
    elif names:
        names = [names[0], "?"]
    return names[::-1]
