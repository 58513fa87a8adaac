"""Questions to blocklint's binary: the findings of a project, and what models say of library paths."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any, Dict, Iterable, List

from blocklint import find_blocklint_bin


class Binary:
    def __init__(self, path: str = "") -> None:
        self.path = path or os.environ.get("BLOCKLINT_BINARY") or find_blocklint_bin()
        self._known: Dict[str, Dict[str, Any]] = {}

    def findings(self, root: str) -> List[Dict[str, Any]]:
        """Returns all findings of the project, also those that only `auditor` would be shown: their traces say what calls what."""
        asked = ["check", "--no-baseline", "--persona", "auditor", "--output-format", "json", "--quiet", root]
        found = json.loads(self._run(asked, root))
        return [finding for finding in found if finding["filename"].endswith(".py")]

    def shown(self, root: str) -> Dict[str, Any]:
        """Returns the fix, and why there is none, of those that a usual run shows, by their fingerprints."""
        asked = ["check", "--no-baseline", "--output-format", "json", "--quiet", root]
        return {finding["fingerprint"]: (finding["fix"], finding["no_fix"]) for finding in json.loads(self._run(asked, root))}

    def twin(self, path: str) -> Dict[str, Any]:
        """Returns what models say of a path."""
        if path not in self._known:
            self.learn([path])
        return self._known[path]

    def learn(self, paths: Iterable[str]) -> None:
        new = sorted({path for path in paths if path and path not in self._known})
        if new:
            self._known.update(json.loads(self._run(["models", "twins", "--isolated", *new], os.getcwd())))

    def _run(self, arguments: List[str], folder: str) -> str:
        ran = subprocess.run([self.path, *arguments], cwd=folder, capture_output=True, text=True, check=False)
        if ran.returncode not in (0, 1):
            raise RuntimeError(f"blocklint {arguments[0]} failed: {ran.stderr.strip()}")
        return ran.stdout
