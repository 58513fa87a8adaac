"""The exception with which a codemod refuses to edit: a reason and a place."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Refusal(Exception):
    """A refusal. `kind` is a word for statistics, `reason` a clause, `path` and `line` the place that shows it."""

    kind: str
    reason: str
    path: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reason}" if self.path else self.reason
