"""The requirements of a project, from pyproject.toml, requirements files and the like.

A folder with such a file is a part that is installed separately, so requirements of other parts may be missing there.
"""

from __future__ import annotations

import os
import re
from typing import Any, Dict, Iterator, List

try:
    import tomllib
except ImportError:  # Python before 3.11
    tomllib = None  # type: ignore[assignment]

# Names of files and groups with requirements that only developers of the project install.
FOR_DEVELOPERS = re.compile(r"(?<![a-z])(dev|test|doc|lint|typ|ci|check|bench|example|format|style)", re.IGNORECASE)


class Needs:
    def __init__(self, root: str, skipped: set) -> None:
        self.root = root
        # The texts with requirements, by folder.
        self.parts: Dict[str, List[str]] = {}
        for folder, folders, names in os.walk(root):
            folders[:] = [name for name in folders if name not in skipped and not name.startswith(".")]
            for name in sorted(names):
                text = requirements_in(folder, name)
                if text is not None:
                    part = os.path.dirname(folder) if os.path.basename(folder) == "requirements" else folder
                    self.parts.setdefault(part, []).append(text)

    def part(self, path: str) -> str:
        """Returns the innermost folder with requirements around a file; else the root of the project."""
        folder = os.path.dirname(path)
        while folder not in self.parts and folder.startswith(self.root) and folder != self.root:
            folder = os.path.dirname(folder)
        return folder if folder in self.parts else self.root

    def texts(self, path: str) -> List[str]:
        """Returns the texts with requirements for the part that contains a file."""
        return self.parts.get(self.part(path), [])


def requirements_in(folder: str, name: str) -> Any:
    """Returns the requirements in a file as text; None if the file has no list of requirements."""
    listed = name.startswith("requirements") or os.path.basename(folder) == "requirements"
    if listed and name.endswith((".txt", ".in")):
        return "" if FOR_DEVELOPERS.search(name) else read(folder, name)
    if name in ("pyproject.toml", "Pipfile"):
        text = read(folder, name)
        if tomllib is None:
            return text if "dependencies" in text or name == "Pipfile" else None
        try:
            return requirements_in_tables(tomllib.loads(text))
        except tomllib.TOMLDecodeError:
            return None
    if name in ("setup.cfg", "setup.py"):
        text = read(folder, name)
        return text if "install_requires" in text else None
    return None


def read(folder: str, name: str) -> str:
    with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as stream:
        return stream.read()


def requirements_in_tables(document: Dict[str, Any]) -> Any:
    """Returns the requirements of `[project]`, Poetry and Pipenv, without those for developers."""
    project, poetry = nested_table(document, "project"), nested_table(document, "tool", "poetry")
    if "dependencies" not in project and "dependencies" not in poetry and "packages" not in document:
        # `setup.py` or `setup.cfg` has the list.
        return None
    lines = [str(one) for one in project.get("dependencies") or []]
    for name, more in nested_table(project, "optional-dependencies").items():
        lines += [] if FOR_DEVELOPERS.search(name) else [str(one) for one in more]
    tables = [nested_table(poetry, "dependencies"), nested_table(document, "packages")]
    tables += [nested_table(group, "dependencies") for name, group in nested_table(poetry, "group").items() if isinstance(group, dict) and not FOR_DEVELOPERS.search(name)]
    lines += [line for one in tables for line in requirement_lines(one)]
    return "\n".join(lines)


def nested_table(document: Dict[str, Any], *names: str) -> Dict[str, Any]:
    for name in names:
        document = document.get(name, {})
        if not isinstance(document, dict):
            return {}
    return document


def requirement_lines(named: Dict[str, Any]) -> Iterator[str]:
    for name, version in named.items():
        version = version.get("version", "*") if isinstance(version, dict) else version
        yield f'{name} = "{version}"'
