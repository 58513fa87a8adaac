"""The codemod `offload` as a command of libcst's tool: `python -m libcst.tool codemod -x blocklint.codemods.offload.OffloadCommand --no-format PATHS`.

Helpers are run in a thread where coroutines call them.
"""

from __future__ import annotations

from .command import FindingsCommand


class OffloadCommand(FindingsCommand):
    DESCRIPTION = "Helpers are run in a thread where coroutines call them."
    NAME = "offload"


__all__ = ["OffloadCommand"]
