"""Why a codemod does not write, and where a reader sees it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Refusal(Exception):
    """No edit: `kind` is a word to count by, `reason` a clause, the place where it shows."""

    kind: str
    reason: str
    path: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.reason}" if self.path else self.reason
