"""Calls of the blocklint binary: the findings of a project, and the model rows of library paths."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any, Dict, Iterable, List

from blocklint import find_blocklint_bin


class Binary:
    """The blocklint binary, with a cache of model rows."""

    def __init__(self, path: str = "") -> None:
        self.path = path or os.environ.get("BLOCKLINT_BINARY") or find_blocklint_bin()
        self._known: Dict[str, Dict[str, Any]] = {}

    def findings(self, root: str) -> List[Dict[str, Any]]:
        """Returns the findings of the project at all levels, because their traces have calls that a usual run does not show."""
        arguments = ["check", "--no-baseline", "--persona", "auditor", "--output-format", "json", "--quiet", root]
        findings = json.loads(self._run(arguments, root))
        return [finding for finding in findings if finding["filename"].endswith(".py")]

    def fixes_of_usual_run(self, root: str) -> Dict[str, Any]:
        """Returns the fix, or the reason why there is none, of each finding of a usual run, by fingerprint."""
        arguments = ["check", "--no-baseline", "--output-format", "json", "--quiet", root]
        return {finding["fingerprint"]: (finding["fix"], finding["no_fix"]) for finding in json.loads(self._run(arguments, root))}

    def twin(self, path: str) -> Dict[str, Any]:
        """Returns the model rows of a path, as `blocklint models twins` prints them."""
        if path not in self._known:
            self.load_twins([path])
        return self._known[path]

    def load_twins(self, paths: Iterable[str]) -> None:
        new = sorted({path for path in paths if path and path not in self._known})
        if new:
            self._known.update(json.loads(self._run(["models", "twins", "--isolated", *new], os.getcwd())))

    def _run(self, arguments: List[str], folder: str) -> str:
        ran = subprocess.run([self.path, *arguments], cwd=folder, capture_output=True, text=True, check=False)
        if ran.returncode not in (0, 1):
            raise RuntimeError(f"blocklint {arguments[0]} failed: {ran.stderr.strip()}")
        return ran.stdout
