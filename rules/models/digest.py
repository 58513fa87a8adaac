"""The digest of a verified model, which VERIFIED.toml records."""

from __future__ import annotations

import hashlib
from pathlib import Path

# The beginnings of lines that verification does not read, so that a model stays verified if only these change.
UNREAD = ("#", "kind =", "takes =", "severity =", "phase =")


def digest(file: Path) -> str:
    """Returns the SHA-256 of the lines of a model that verification reads."""
    lines = (line.strip() for line in file.read_text(encoding="utf-8").splitlines())
    read = "".join(f"{line}\n" for line in lines if line and not line.startswith(UNREAD))
    return hashlib.sha256(read.encode()).hexdigest()
