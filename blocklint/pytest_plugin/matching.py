"""Which finding a stall shows: its stack leads through the line of the finding to the line of one of its causes.

`blocklint check --evidence` decides the same (`blocklint_engine/src/evidence/matching.rs`).
"""

import json
import os
import subprocess
from typing import Any, Dict, List, Optional, Tuple

from blocklint import find_blocklint_bin

from .evidence import innermost


class Findings:
    """Findings by their places."""

    def __init__(self, findings: List[Dict[str, Any]], root: str) -> None:
        self.root = root
        self._at: Dict[Tuple[str, int], List[Dict[str, Any]]] = {}
        self._files: Dict[str, str] = {}
        for finding in findings:
            if finding.get("cell") is not None:
                continue
            last = finding["end_location"]["row"]
            for row in range(finding["location"]["row"], min(last, finding["location"]["row"] + 100) + 1):
                self._at.setdefault((os.path.realpath(finding["filename"]), row), []).append(finding)

    def shown_by(self, stack: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
        """The findings that this stack is on the way of."""
        at = innermost(stack)
        if at < 0:
            return []
        ends = (self._file(stack[at]["file"]), stack[at]["line"])
        shown = []
        for frame in stack[: at + 1]:
            for finding in self._at.get((self._file(frame["file"]), frame["line"]), []):
                if finding not in shown and any(self._is_at(ends, cause, finding) for cause in finding["causes"]):
                    shown.append(finding)
        entered = stack[at + 1]["function"].rpartition(".")[2] if at + 1 < len(stack) else None
        named = [of for of in shown if any(cause["call"].rpartition(".")[2] == entered for cause in of["causes"])]
        return named or shown

    def _is_at(self, ends: Tuple[str, int], cause: Dict[str, Any], finding: Dict[str, Any]) -> bool:
        first = last = cause["location"]["row"]
        # Of a cause only the beginning is told; the steps of the way say where the same call ends.
        for step in finding["trace"]:
            if (step["filename"], step["location"]) == (cause["filename"], cause["location"]):
                last = step["end_location"]["row"]
        return os.path.realpath(cause["filename"]) == ends[0] and first <= ends[1] <= last

    def _file(self, file: str) -> str:
        if file not in self._files:
            self._files[file] = os.path.realpath(source_of(file, self.root))
        return self._files[file]


def source_of(file: str, root: str) -> str:
    """The project's own file of one that was installed."""
    parts = file.replace("\\", "/").split("/")
    for folder in ("site-packages", "dist-packages"):
        if folder in parts:
            inside = parts[len(parts) - parts[::-1].index(folder) :]
            for below in ((), ("src",), ("lib",)):
                candidate = os.path.join(root, *below, *inside)
                if os.path.isfile(candidate):
                    return candidate
    return file


def read(path: str) -> List[Dict[str, Any]]:
    """The output of an earlier `blocklint check --output-format json`."""
    with open(path, encoding="utf-8") as file:
        return checked(json.load(file))


def checked(found: Any) -> List[Dict[str, Any]]:
    """The findings of an output; ValueError where it is none."""
    needed = ("filename", "location", "end_location", "causes", "trace", "code", "message")
    if not isinstance(found, list) or not all(isinstance(one, dict) and all(key in one for key in needed) for one in found):
        raise ValueError("this is not the output of `blocklint check --output-format json`")
    return found


def find(files: List[str], root: str) -> Tuple[List[Dict[str, Any]], Optional[str]]:
    """Returns what blocklint finds in these files, at every level, and why it found nothing where it could not run."""
    levels = ["--min-severity", "note", "--min-confidence", "low", "--include-aside", "--no-baseline"]
    try:
        command = [find_blocklint_bin(), "check", "--output-format", "json", "--exit-zero", *levels, "--", *files]
        done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            told = done.stderr.decode("utf-8", "replace").strip().splitlines()
            return [], "; ".join(told[:3]) or "exit code {}".format(done.returncode)
        return checked(json.loads(done.stdout.decode("utf-8"))), None
    except (OSError, ValueError) as error:
        return [], str(error)
