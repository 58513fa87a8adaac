"""Library functions in stalls that no finding explains, and the model rows that would explain them."""

from typing import Any, Dict, List, Optional

from .frames import Places, builtin_calls, public_path
from .watchdog import Frame

#: The effects by the module of the standard library in which a stack ends.
EFFECTS = {
    "network": ("socket", "ssl", "http", "urllib", "ftplib", "smtplib", "imaplib", "poplib", "xmlrpc", "_socket", "_ssl", "select", "selectors"),
    "subprocess": ("subprocess", "_posixsubprocess", "pty"),
    "database": ("sqlite3", "_sqlite3", "dbm", "shelve"),
    "wait": ("threading", "queue", "concurrent", "multiprocessing", "_thread", "_queue"),
    "sleep": ("time",),
    "file": ("io", "_io", "os", "posix", "nt", "pathlib", "shutil", "tempfile", "zipfile", "tarfile", "glob"),
}


def called_function(stack: "tuple[Frame, ...]", places: Places, cpu_share: float, kept_lock: bool) -> Optional[Dict[str, Any]]:
    """Returns the call in the project's innermost frame: `path`, `library`, `effect`; None if the project's own code holds the thread.

    `kept_lock` is true if one call kept the interpreter's lock all the time.
    """
    own = [innermost for innermost, (code, _, _) in enumerate(stack) if not places.is_library(code.co_filename)]
    innermost = own[-1] if own else -1
    below = stack[innermost + 1 :]
    inner = _builtin(stack[-1])
    if below and below[0][2]:
        code, _, module = below[0]
        path = public_path(code, module)
    elif inner is not None and not below and (kept_lock or cpu_share < 0.2):
        # If Python code ran between the calls, that code computes, whatever it calls.
        path = inner
    else:
        return None
    return {"path": path, "library": _library(path), "effect": "cpu" if kept_lock or cpu_share > 0.5 else _effect(below, inner)}


def _builtin(frame: Frame) -> Optional[str]:
    code, line, module = frame
    calls = builtin_calls(code.co_filename, line, module)
    # If the line has several such calls, it is unknown which one ran.
    return calls[0] if len(set(calls)) == 1 else None


def _effect(below: "tuple[Frame, ...]", inner: Optional[str]) -> str:
    names: List[str] = [inner] if inner else []
    names += [module for _, _, module in reversed(below)]
    for name in names:
        for effect, modules in EFFECTS.items():
            if name.partition(".")[0] in modules:
                return effect
    return "wait"


def _library(path: str) -> str:
    import sys
    from importlib import metadata

    package = path.partition(".")[0]
    if package in getattr(sys, "stdlib_module_names", ()) or package in sys.builtin_module_names:
        return "python"
    if hasattr(metadata, "packages_distributions"):
        return metadata.packages_distributions().get(package, [package])[0]
    return package


def model_row(call: Dict[str, Any]) -> List[str]:
    """Returns the lines of a model file that would explain the call."""
    path, library, effect = call["path"], call["library"], call["effect"]
    root = path.partition(".")[0]
    lines = ["schema = 1", 'language = "python"', 'library = "{}"'.format(library)]
    if library != "python" and root != library.replace("-", "_"):
        lines.append('roots = ["{}"]'.format(root))
    lines += ["", "[[call]]", 'path = "{}"'.format(path), 'effect = "{}"'.format(effect)]
    if effect == "cpu":
        lines.append('thread = "holds-gil"')
    return lines
