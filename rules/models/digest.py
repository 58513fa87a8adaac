"""The digest by which a record knows the model that was verified."""

from __future__ import annotations

import hashlib
from pathlib import Path

# Lines of which verification reads nothing: a model stays verified when only these change.
UNREAD = ("#", "kind =", "takes =", "severity =", "phase =")


def digest(file: Path) -> str:
    """Returns the SHA-256 of the lines of a model that verification reads."""
    lines = (line.strip() for line in file.read_text(encoding="utf-8").splitlines())
    read = "".join(f"{line}\n" for line in lines if line and not line.startswith(UNREAD))
    return hashlib.sha256(read.encode()).hexdigest()
