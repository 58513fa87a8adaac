"""Runs inside an interpreter and answers questions about names of the standard library.

`verify_stdlib.py` starts it with a JSON list of questions on the standard input and reads a JSON list of answers. Its
syntax is that of Python 3.8. Nothing but the standard library is imported, and nothing of it is called.
"""

from __future__ import annotations

import contextlib
import fnmatch
import importlib
import inspect
import io
import json
import re
import sys
import types
import warnings
from typing import Any, Dict

Answer = Dict[str, Any]
# Modules that print text or open a browser when they are imported.
LOUD = {"this", "antigravity", "idlelib"}


class Missing(Exception):
    """A name that does not exist."""


class Unbuilt(Exception):
    """A module that this build of the interpreter does not have."""


def load(name: str) -> types.ModuleType | None:
    """Returns the module, or None if there is none of that name."""
    if name.split(".")[0] in LOUD:
        raise Missing(name)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            return None
        # The module exists, but not the extension that it needs.
        raise Unbuilt(f"{name} (needs {error.name})") from error
    except ImportError as error:
        raise Unbuilt(f"{name} ({error})") from error


class OnInstance:
    """A placeholder for attributes that only instances have."""


def source(cls: type) -> str:
    """Returns the source of a class; an empty text if there is none."""
    try:
        return inspect.getsource(cls)
    except (OSError, TypeError):
        return ""


def on_instances(cls: type, name: str) -> bool:
    """True if a class declares an attribute, or one of its methods assigns it."""
    assigned = re.compile(rf"\bself\.{re.escape(name)}\b[^\n=(]*=[^=]")

    def declares(base: type) -> bool:
        # On `type` itself the attribute is a descriptor.
        annotations = vars(base).get("__annotations__")
        return isinstance(annotations, dict) and name in annotations

    return any(declares(base) or assigned.search(source(base)) for base in cls.__mro__)


def member(holder: Any, name: str) -> Any:
    """Returns an attribute of a class or module without binding descriptors."""
    # A name of `typing` is replaced by its class.
    holder = getattr(holder, "__origin__", holder) if holder.__class__.__module__ == "typing" else holder
    if inspect.isclass(holder):
        try:
            found = inspect.getattr_static(holder, name)
        except AttributeError:
            if on_instances(holder, name):
                return OnInstance
            raise Missing(f"`{holder.__qualname__}` has no `{name}`") from None
        if isinstance(found, property) or inspect.isgetsetdescriptor(found) or inspect.ismemberdescriptor(found):
            return found
    try:
        return getattr(holder, name)
    except AttributeError:
        raise Missing("`{}` has no `{}`".format(getattr(holder, "__name__", holder), name)) from None


def find(path: str) -> tuple[Any, Any]:
    """Returns the object of a dotted path, and its owner."""
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        module = load(".".join(parts[:end]))
        if module is None:
            continue
        holder: Any = None
        found: Any = module
        if end > 1:
            # A member of the package has precedence over a module of the same name: `unittest.main`.
            found = getattr(load(".".join(parts[: end - 1])), parts[end - 1], module)
        for part in parts[end:]:
            holder, found = getattr(found, "__origin__", found), member(found, part)
        return found, holder
    raise Missing(f"there is no module `{parts[0]}`")


def find_any(spellings: list[str]) -> tuple[Any, Any]:
    """Returns the object of the first spelling that exists."""
    for spelling in spellings[1:]:
        try:
            return find(spellings[0])
        except Missing:
            with contextlib.suppress(Missing):
                return find(spelling)
    return find(spellings[0])


def parameters(found: Any, holder: Any, name: str) -> list[inspect.Parameter] | None:
    """Returns the parameters without the receiver; None if there is no signature."""
    try:
        listed = list(inspect.signature(found).parameters.values())
    except (ValueError, TypeError):
        return None
    if inspect.isclass(holder) and not inspect.isclass(found):
        static = inspect.getattr_static(holder, name, None)
        if not isinstance(static, (staticmethod, classmethod)) and not inspect.ismethod(found):
            is_bound = inspect.isbuiltin(found) and not inspect.ismethoddescriptor(found)
            listed = listed if is_bound else listed[1:]
    return listed


def argument_problem(argument: str, listed: list[inspect.Parameter]) -> str | None:
    """Returns the fault of an argument in a row, or None. The message about a missing one begins with `no `."""
    takes_any = any(one.kind is one.VAR_POSITIONAL for one in listed)
    takes_named = any(one.kind is one.VAR_KEYWORD for one in listed)
    by_place = [one for one in listed if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    shown = ", ".join(str(one) for one in listed)
    if re.fullmatch(r"-?\d+", argument):
        place = int(argument)
        if place < 0:
            return None
        if place >= len(by_place):
            return None if takes_any else f"no argument {place} in ({shown})"
        one = by_place[place]
        # A parameter whose name begins with an underscore or is no identifier counts as positional-only.
        if one.kind is one.POSITIONAL_OR_KEYWORD and not one.name.startswith("_"):
            return f"argument {place} may be given by name: `{one.name}@{place}`"
        return None
    name, _, place_text = argument.partition("@")
    named = [one for one in listed if one.name == name and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    if not named:
        if takes_named and (not place_text or takes_any or int(place_text) >= len(by_place)):
            return None
        return f"no parameter `{name}` in ({shown})"
    if place_text:
        place = int(place_text)
        if place < len(by_place) and by_place[place].name == name:
            return None
        if named[0].kind is named[0].KEYWORD_ONLY and place >= len(by_place):
            return None
        return f"`{name}` is not argument {place} in ({shown})"
    if named[0].kind is named[0].POSITIONAL_OR_KEYWORD:
        return f"`{name}` may be given by place: `{name}@{by_place.index(named[0])}`"
    return None


def is_coroutine(found: Any) -> bool:
    """True if a call certainly returns an awaitable."""
    return inspect.iscoroutinefunction(found) or inspect.isasyncgenfunction(found)


def look_up(question: Answer) -> Answer:
    """Answers the question for a path of a row."""
    path = question["path"]
    problems: list[str] = []
    if "*" in path:
        head, _, pattern = path.rpartition(".")
        holder, _ = find(head.replace(".**", ""))
        names = [name for name in dir(holder) if fnmatch.fnmatchcase(name, pattern) and not name.startswith("_")]
        return {"problems": [] if names else [f"`{path}` matches nothing"], "signature": None}
    found, holder = find_any([path] + question.get("spellings", []))
    # A name of `typing` is replaced by its class.
    found = getattr(found, "__origin__", found) if question.get("class") else found
    name = path.rsplit(".", 1)[-1]
    if question.get("class") and not inspect.isclass(found):
        problems.append("it is not a class")
    if question.get("property") and not (
        isinstance(found, property) or inspect.isdatadescriptor(found) or not callable(found) or found is OnInstance
    ):
        problems.append("it is not a property")
    if question.get("call") and not question.get("property") and not callable(found):
        problems.append("it cannot be called")
    if question.get("holds") and is_coroutine(found):
        problems.append("it is a coroutine function and holds no thread")
    for base in question.get("bases", []):
        try:
            wanted = find(base)[0]
            wanted = getattr(wanted, "__origin__", wanted)
        except Missing as error:
            problems.append(f"base: {error}")
            continue
        if inspect.isclass(found) and inspect.isclass(wanted) and not issubclass(found, wanted):
            problems.append(f"it does not derive from `{base}`")
    for spellings in question.get("names", []):
        try:
            find_any(spellings)
        except Missing as error:
            problems.append(f"`{spellings[0]}`: {error}")
    for twin in question.get("twins", []):
        try:
            gives = find(twin)[0]
        except Missing as error:
            problems.append(f"twin `{twin}`: {error}")
            continue
        if not is_coroutine(gives) and twin not in question["async"]:
            problems.append(f"twin `{twin}` is no coroutine function, and no row says that it is awaited")
    for attribute in question.get("fields", []):
        # A class in C does not show the attributes of its instances.
        if source(found) and not hasattr(found, attribute) and not on_instances(found, attribute):
            problems.append(f"it has no field `{attribute}`")
    signature = None
    absent: list[str] = []
    if question.get("arguments") and found is not OnInstance:
        listed = parameters(found, holder, name)
        signature = listed is not None
        if listed is not None and name.startswith("__") and not inspect.isclass(found):
            # The language passes arguments by position, so names of parameters do not matter.
            listed = [one.replace(kind=one.POSITIONAL_ONLY) for one in listed]
        for argument in question["arguments"] if listed is not None else []:
            wrong = argument_problem(argument, listed or [])
            if wrong is not None:
                (absent if wrong.startswith("no ") else problems).append(wrong)
    return {"problems": problems, "signature": signature, "absent": absent}


def same(question: Answer) -> Answer:
    """Answers the question for an alias: both names are the same object, or one class derives from the other."""
    left, right = find(question["path"])[0], find(question["target"])[0]
    left, right = (getattr(one, "__origin__", getattr(one, "__func__", one)) for one in (left, right))
    classes = inspect.isclass(left) and inspect.isclass(right)
    if left is right or left == right or inspect.ismodule(left) and inspect.ismodule(right):
        return {"problems": [], "signature": None}
    if classes and (issubclass(left, right) or issubclass(right, left)):
        return {"problems": [], "signature": None}
    return {"problems": ["it is not `{}`".format(question["target"])], "signature": None}


def answer(question: Answer) -> Answer:
    """Returns the answer to one question."""
    try:
        return same(question) if "target" in question else look_up(question)
    except Missing as error:
        return {"missing": str(error)}
    except Unbuilt as error:
        return {"unbuilt": str(error)}


def main() -> None:
    """Answers all questions."""
    warnings.simplefilter("ignore")
    questions = json.load(sys.stdin)
    json.dump([answer(question) for question in questions], sys.stdout)


if __name__ == "__main__":
    main()
