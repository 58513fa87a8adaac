"""Matches stalls with findings: a stack confirms a finding if it leads through its line to the line of one of its causes.

`blocklint check --evidence` uses the same rule (`blocklint_engine/src/evidence/matching.rs`).
"""

import json
import os
import subprocess
from typing import Any, Dict, List, Optional, Tuple

from blocklint import find_blocklint_bin

from .evidence import innermost


class Findings:
    """The findings of a project, by their lines."""

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

    def confirmed_by(self, stack: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
        """Returns the findings that a stack confirms."""
        last = innermost(stack)
        if last < 0:
            return []
        ends = (self._file(stack[last]["file"]), stack[last]["line"])
        confirmed = []
        for frame in stack[: last + 1]:
            for finding in self._at.get((self._file(frame["file"]), frame["line"]), []):
                if finding not in confirmed and any(self._is_at(ends, cause, finding) for cause in finding["causes"]):
                    confirmed.append(finding)
        entered = stack[last + 1]["function"].rpartition(".")[2] if last + 1 < len(stack) else None
        named = [finding for finding in confirmed if any(cause["call"].rpartition(".")[2] == entered for cause in finding["causes"])]
        return named or confirmed

    def _is_at(self, ends: Tuple[str, int], cause: Dict[str, Any], finding: Dict[str, Any]) -> bool:
        first = last = cause["location"]["row"]
        # A cause has only the start of its call; the step of the trace with the same start has the end.
        for step in finding["trace"]:
            if (step["filename"], step["location"]) == (cause["filename"], cause["location"]):
                last = step["end_location"]["row"]
        return os.path.realpath(cause["filename"]) == ends[0] and first <= ends[1] <= last

    def _file(self, file: str) -> str:
        if file not in self._files:
            self._files[file] = os.path.realpath(source_of(file, self.root))
        return self._files[file]


def source_of(file: str, root: str) -> str:
    """Returns the source file in the project for an installed file of its package; other files unchanged."""
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
    """Returns the output of an earlier `blocklint check --output-format json`."""
    with open(path, encoding="utf-8") as file:
        return check_findings(json.load(file))


def check_findings(found: Any) -> List[Dict[str, Any]]:
    """Returns the findings of an output of `blocklint check`. Raises ValueError if it is no such output."""
    needed = ("filename", "location", "end_location", "causes", "trace", "code", "message")
    if not isinstance(found, list) or not all(isinstance(one, dict) and all(key in one for key in needed) for one in found):
        raise ValueError("this is not the output of `blocklint check --output-format json`")
    return found


def find(files: List[str], root: str) -> Tuple[List[Dict[str, Any]], Optional[str]]:
    """Returns the findings in these files at all levels, and an error message if blocklint could not run."""
    levels = ["--min-severity", "note", "--min-confidence", "low", "--include-aside", "--no-baseline"]
    try:
        command = [find_blocklint_bin(), "check", "--output-format", "json", "--exit-zero", *levels, "--", *files]
        done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if done.returncode != 0:
            messages = done.stderr.decode("utf-8", "replace").strip().splitlines()
            return [], "; ".join(messages[:3]) or "exit code {}".format(done.returncode)
        return check_findings(json.loads(done.stdout.decode("utf-8"))), None
    except (OSError, ValueError) as error:
        return [], str(error)
