"""The codemod `asyncify` as a command of libcst's tool: `python -m libcst.tool codemod -x blocklint.codemods.asyncify.AsyncifyCommand --no-format PATHS`.

Helpers along the trace become coroutines, and their callers await them.
"""

from __future__ import annotations

from .command import FindingsCommand


class AsyncifyCommand(FindingsCommand):
    DESCRIPTION = "Helpers along the trace become coroutines, and their callers await them."
    NAME = "asyncify"


__all__ = ["AsyncifyCommand"]
