"""Which libraries a part of the project needs, by the files that name them.

A folder with such a file of its own is a part that is installed by itself: what another part needs may be missing there.
"""

from __future__ import annotations

import os
import re
from typing import Any, Dict, Iterator, List

try:
    import tomllib
except ImportError:  # Python before 3.11
    tomllib = None  # type: ignore[assignment]

# Names of files and groups whose libraries only developers of the project have.
FOR_DEVELOPERS = re.compile(r"(?<![a-z])(dev|test|doc|lint|typ|ci|check|bench|example|format|style)", re.IGNORECASE)


class Needs:
    def __init__(self, root: str, skipped: set) -> None:
        self.root = root
        # The texts of each folder that names what it needs.
        self.parts: Dict[str, List[str]] = {}
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if name not in skipped and not name.startswith(".")]
            for name in sorted(names):
                text = needed(folder, name)
                if text is not None:
                    part = os.path.dirname(folder) if os.path.basename(folder) == "requirements" else folder
                    self.parts.setdefault(part, []).append(text)

    def part(self, path: str) -> str:
        """Returns the innermost folder around a file that names what it needs; else the project."""
        folder = os.path.dirname(path)
        while folder not in self.parts and folder.startswith(self.root) and folder != self.root:
            folder = os.path.dirname(folder)
        return folder if folder in self.parts else self.root

    def texts(self, path: str) -> List[str]:
        """Returns the texts on needs for the part in which a file stands."""
        return self.parts.get(self.part(path), [])


def needed(folder: str, name: str) -> Any:
    """Returns what a file says that the program needs, as text; None if it does not speak of that."""
    listed = name.startswith("requirements") or os.path.basename(folder) == "requirements"
    if listed and name.endswith((".txt", ".in")):
        return "" if FOR_DEVELOPERS.search(name) else read(folder, name)
    if name in ("pyproject.toml", "Pipfile"):
        text = read(folder, name)
        if tomllib is None:
            return text if "dependencies" in text or name == "Pipfile" else None
        try:
            return of_tables(tomllib.loads(text))
        except tomllib.TOMLDecodeError:
            return None
    if name in ("setup.cfg", "setup.py"):
        text = read(folder, name)
        return text if "install_requires" in text else None
    return None


def read(folder: str, name: str) -> str:
    with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as stream:
        return stream.read()


def of_tables(told: Dict[str, Any]) -> Any:
    """Returns the lists of `[project]`, of Poetry and of Pipenv, without what is for developers."""
    project, poetry = table(told, "project"), table(told, "tool", "poetry")
    if "dependencies" not in project and "dependencies" not in poetry and "packages" not in told:
        # Those that `setup.py` lists stand there.
        return None
    lines = [str(one) for one in project.get("dependencies") or []]
    for name, more in table(project, "optional-dependencies").items():
        lines += [] if FOR_DEVELOPERS.search(name) else [str(one) for one in more]
    tables = [table(poetry, "dependencies"), table(told, "packages")]
    tables += [table(group, "dependencies") for name, group in table(poetry, "group").items() if isinstance(group, dict) and not FOR_DEVELOPERS.search(name)]
    lines += [line for one in tables for line in versions(one)]
    return "\n".join(lines)


def table(told: Dict[str, Any], *names: str) -> Dict[str, Any]:
    for name in names:
        told = told.get(name, {})
        if not isinstance(told, dict):
            return {}
    return told


def versions(named: Dict[str, Any]) -> Iterator[str]:
    for name, version in named.items():
        version = version.get("version", "*") if isinstance(version, dict) else version
        yield f'{name} = "{version}"'
