"""`blocklint codemod NAME [PATHS] …`."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
import tempfile
from typing import Dict, List, Optional

from . import INSTALL


def main(arguments: Optional[List[str]] = None) -> int:
    try:
        return run(arguments)
    except BrokenPipeError:
        # The reader has seen enough. The rest of the buffer is not written at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def run(arguments: Optional[List[str]] = None) -> int:
    asked = parser().parse_intermixed_args(arguments)
    try:
        import libcst  # noqa: F401
    except ImportError:
        print(f"error: {INSTALL}", file=sys.stderr)
        return 2
    from .project import Project
    from .refusal import Refusal

    root = project_root(asked.paths)
    try:
        project = Project(root)
        chosen = choose(project.mendable(), asked)
    except (RuntimeError, FileNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if not chosen:
        said = f"no finding that a codemod could mend is at {', '.join(asked.finding)}" if asked.finding else "No finding is chosen."
        print(f"error: {said}" if asked.finding else said, file=sys.stderr)
        return 2 if asked.finding else 0
    refused = done = 0
    for finding in chosen:
        # Each is written before the next is looked at, which reads what is there then.
        if asked.write and done:
            project.close()
            project = Project(root)
            finding = next((one for one in project.mendable() if one["fingerprint"] == finding["fingerprint"]), None)
            if finding is None:
                continue
        at = f"{os.path.relpath(finding['filename'])}:{finding['location']['row']}"
        try:
            mended = project.asyncify(finding, asked.allow_public) if asked.name == "asyncify" else project.offload(finding)
            project.prove(finding, mended)
        except Refusal as refusal:
            refused += 1
            where = f" ({os.path.relpath(refusal.path)}:{refusal.line})" if refusal.path else ""
            # A thread that would share state is no advice.
            other = project.otherwise(finding) if asked.name == "asyncify" and refusal.kind != "shared-state" else ""
            print(f"refused: {at}: {finding['code']}: {refusal.reason}{where} [{refusal.kind}]{other and f'; {other}'}", file=sys.stderr)
            continue
        done += 1
        for note in mended.notes:
            print(f"note: {os.path.relpath(note)}", file=sys.stderr)
        if asked.write:
            write(mended.texts)
            print(f"{at}: {finding['code']} mended in {len(mended.texts)} file{'s' if len(mended.texts) != 1 else ''}", file=sys.stderr)
        else:
            print(f"# {at}: {finding['message']}")
            for path, text in sorted(mended.texts.items()):
                sys.stdout.write(diff(path, project.index.file(path).source, text))
            sys.stdout.flush()
    project.close()
    print(f"{done} {'mended' if asked.write else 'can be mended'}, {refused} refused.", file=sys.stderr)
    return 1 if refused else 0


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="blocklint codemod", description="Rewrites Python across files so that a finding is gone.")
    made.add_argument("name", choices=["asyncify", "offload"], help="helpers become coroutines, or are run in a thread")
    made.add_argument("paths", nargs="*", default=["."], help="the project [default: .]")
    made.add_argument("--finding", action="append", default=[], metavar="PATH:LINE", help="only findings there; repeatable")
    made.add_argument("--rule", action="append", default=[], metavar="RULE", help="only findings of this rule, by code or name; repeatable")
    how = made.add_mutually_exclusive_group()
    how.add_argument("--diff", action="store_true", help="show what would change, and change nothing [the default]")
    how.add_argument("--write", action="store_true", help="write all files of a finding, or none")
    made.add_argument("--allow-public", action="store_true", help="also change what the project shows as public, or may inherit from outside")
    return made


def project_root(paths: List[str]) -> str:
    folder = os.path.commonpath([os.path.abspath(path) for path in paths])
    return folder if os.path.isdir(folder) else os.path.dirname(folder)


def choose(findings: List[Dict], asked: argparse.Namespace) -> List[Dict]:
    rules = {rule.lower() for rule in asked.rule}
    found = [one for one in findings if not rules or one["code"].lower() in rules or (one["name"] or "").lower() in rules]
    if not asked.finding:
        return found
    places = set()
    for place in asked.finding:
        path, _, line = place.rpartition(":")
        if not path or not line.isdigit():
            raise RuntimeError(f"--finding {place}: a place is PATH:LINE")
        places.add((os.path.realpath(path), int(line)))
    return [one for one in found if (one["filename"], one["location"]["row"]) in places]


def diff(path: str, before: str, after: str) -> str:
    name = os.path.relpath(path).replace(os.sep, "/")
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


def write(texts: Dict[str, str]) -> None:
    """All files or none: each is written beside its place first, and all are put back if one cannot be moved."""
    made, old = {}, {}
    try:
        for path, text in texts.items():
            with open(path, "rb") as stream:
                old[path] = stream.read()
            handle, made[path] = tempfile.mkstemp(dir=os.path.dirname(path), suffix=".tmp")
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as out:
                out.write(text)
            os.chmod(made[path], os.stat(path).st_mode)
    except OSError:
        for temporary in made.values():
            os.unlink(temporary)
        raise
    moved = []
    try:
        for path, temporary in made.items():
            os.replace(temporary, path)
            moved.append(path)
    except OSError:
        for path in moved:
            with open(path, "wb") as out:
                out.write(old[path])
        for temporary in made.values():
            if os.path.exists(temporary):
                os.unlink(temporary)
        raise
