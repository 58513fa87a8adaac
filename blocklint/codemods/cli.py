"""The command line of the codemods: `blocklint codemod NAME [PATHS] …`."""

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
        # The reader closed the pipe, as `head` does. Python must not write the rest of its buffer at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def run(arguments: Optional[List[str]] = None) -> int:
    options = parser().parse_intermixed_args(arguments)
    try:
        import libcst  # noqa: F401
    except ImportError:
        print(f"error: {INSTALL}", file=sys.stderr)
        return 2
    from .project import Project
    from .refusal import Refusal

    root = project_root(options.paths)
    try:
        project = Project(root)
        chosen = choose(project.fixable_findings(), options)
    except (RuntimeError, FileNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if not chosen:
        said = f"no finding that a codemod could mend is at {', '.join(options.finding)}" if options.finding else "No finding is chosen."
        print(f"error: {said}" if options.finding else said, file=sys.stderr)
        return 2 if options.finding else 0
    refused = done = 0
    for finding in chosen:
        # Each fix is written before the next finding, whose edits are made to the files on disk.
        if options.write and done:
            project.close()
            project = Project(root)
            finding = next((one for one in project.fixable_findings() if one["fingerprint"] == finding["fingerprint"]), None)
            if finding is None:
                continue
        at = f"{os.path.relpath(finding['filename'])}:{finding['location']['row']}"
        try:
            result = project.asyncify(finding, options.allow_public) if options.name == "asyncify" else project.offload(finding)
            project.prove(finding, result)
        except Refusal as refusal:
            refused += 1
            where = f" ({os.path.relpath(refusal.path)}:{refusal.line})" if refusal.path else ""
            # Offloading is no alternative if the thread would share state.
            other = project.alternative(finding) if options.name == "asyncify" and refusal.kind != "shared-state" else ""
            print(f"refused: {at}: {finding['code']}: {refusal.reason}{where} [{refusal.kind}]{other and f'; {other}'}", file=sys.stderr)
            continue
        done += 1
        for note in result.notes:
            print(f"note: {os.path.relpath(note)}", file=sys.stderr)
        if options.write:
            write(result.texts)
            print(f"{at}: {finding['code']} mended in {len(result.texts)} file{'s' if len(result.texts) != 1 else ''}", file=sys.stderr)
        else:
            print(f"# {at}: {finding['message']}")
            for path, text in sorted(result.texts.items()):
                sys.stdout.write(diff(path, project.index.file(path).source, text))
            sys.stdout.flush()
    project.close()
    print(f"{done} {'mended' if options.write else 'can be mended'}, {refused} refused.", file=sys.stderr)
    return 1 if refused else 0


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="blocklint codemod", description="Rewrites Python across files so that a finding is gone.")
    options.add_argument("name", choices=["asyncify", "offload"], help="helpers become coroutines, or are run in a thread")
    options.add_argument("paths", nargs="*", default=["."], help="the project [default: .]")
    options.add_argument("--finding", action="append", default=[], metavar="PATH:LINE", help="only findings there; repeatable")
    options.add_argument("--rule", action="append", default=[], metavar="RULE", help="only findings of this rule, by code or name; repeatable")
    how = options.add_mutually_exclusive_group()
    how.add_argument("--diff", action="store_true", help="show what would change, and change nothing [the default]")
    how.add_argument("--write", action="store_true", help="write all files of a finding, or none")
    options.add_argument("--allow-public", action="store_true", help="also change what the project shows as public, or may inherit from outside")
    return options


def project_root(paths: List[str]) -> str:
    folder = os.path.commonpath([os.path.abspath(path) for path in paths])
    return folder if os.path.isdir(folder) else os.path.dirname(folder)


def choose(findings: List[Dict], options: argparse.Namespace) -> List[Dict]:
    rules = {rule.lower() for rule in options.rule}
    found = [one for one in findings if not rules or one["code"].lower() in rules or (one["name"] or "").lower() in rules]
    if not options.finding:
        return found
    places = set()
    for place in options.finding:
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
    """Writes all files or none: new texts go to temporary files first, and all files are restored if one cannot be replaced."""
    temporaries, old = {}, {}
    try:
        for path, text in texts.items():
            with open(path, "rb") as stream:
                old[path] = stream.read()
            handle, temporaries[path] = tempfile.mkstemp(dir=os.path.dirname(path), suffix=".tmp")
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as out:
                out.write(text)
            os.chmod(temporaries[path], os.stat(path).st_mode)
    except OSError:
        for temporary in temporaries.values():
            os.unlink(temporary)
        raise
    moved = []
    try:
        for path, temporary in temporaries.items():
            os.replace(temporary, path)
            moved.append(path)
    except OSError:
        for path in moved:
            with open(path, "wb") as out:
                out.write(old[path])
        for temporary in temporaries.values():
            if os.path.exists(temporary):
                os.unlink(temporary)
        raise
