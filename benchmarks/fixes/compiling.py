"""Checks that projects still compile after all fixes were applied: with their own compilers, before and after.

- Rust: `cargo check --all-targets` of each workspace; a new error is a failure.
- Java: `mvn -q -o compile`, or without `-o` where nothing was downloaded yet.
- Python: each changed file is compiled by the oldest interpreter that the project says it runs on, as far as one is installed
  (`python3.8` and so on, or below `~/.pyenv/versions`).

A checkout's build files are run: use `--compile` only for projects whose build you would run yourself.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

COMPILES = "import sys; compile(open(sys.argv[1], 'rb').read(), sys.argv[1], 'exec')"


def check(original, copy, fix):
    """Returns the new compile errors of `copy`, a fresh copy of `original`, after `fix(folder)`; the changed files; and the
    errors before."""
    before = errors(copy)
    fix(copy)
    changed = [path for path in sources(copy) if path.read_bytes() != (original / path.relative_to(copy)).read_bytes()]
    problems = sorted(errors(copy) - before)
    for path in changed:
        if path.suffix == ".py" and not compiles(path, python_for(path, copy)):
            if compiles(original / path.relative_to(copy), python_for(path, copy)):
                problems.append(f"{path.relative_to(copy)}: does not compile")
    return problems, changed, before


def sources(folder):
    """Yields the source files of a project, without what builds leave behind."""
    for path in sorted(folder.rglob("*")):
        inside = [folder / parent for parent in path.relative_to(folder).parents]
        if path.suffix in (".py", ".rs", ".java") and path.is_file() and not any(map(is_made, inside)):
            yield path


def is_made(folder):
    """True if a build created a folder. The name `target` alone is not enough, because a package can have it."""
    return folder.name == "target" and any((folder.parent / name).exists() for name in ("Cargo.toml", "pom.xml"))


def errors(folder):
    found = set()
    if (folder / "Cargo.toml").exists():
        command = ["cargo", "check", "--workspace", "--all-targets", "--message-format", "json", "--quiet"]
        out = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        for line in out.stdout.splitlines():
            message = json.loads(line).get("message") or {}
            if message.get("level") == "error":
                places = [f"{span['file_name']}" for span in message["spans"] if span["is_primary"]]
                found.add(f"{', '.join(places)}: {message['message']}")
        if out.returncode and not found:
            found.add(out.stderr[-500:])
    if (folder / "pom.xml").exists():
        command = ["mvn", "-q", "-B", "-DskipTests", "compile"]
        out = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        found.update(re.sub(r":\[\d+,\d+\]", "", line) for line in out.stdout.splitlines() if "[ERROR]" in line and ".java" in line)
        if out.returncode and not found:
            found.add(out.stdout[-500:])
    return found


def python_for(path, root):
    """Returns the oldest installed interpreter that the nearest manifest allows; else the one that runs this."""
    for folder in path.parents:
        for name in ("pyproject.toml", "setup.cfg", "setup.py"):
            manifest = folder / name
            text = manifest.read_text(errors="replace") if manifest.exists() else ""
            said = re.search(r"(?:requires-python|python_requires)\s*=\s*[\"']?[>~=^\s]*(\d)\.(\d+)", text)
            if said:
                return interpreter(*said.groups())
        if folder == root:
            break
    return "python3"


def interpreter(major, minor):
    found = shutil.which(f"python{major}.{minor}")
    # pyenv has a shim for every version, which runs only activated ones.
    if found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:
        return found
    versions = Path(os.path.expanduser("~/.pyenv/versions"))
    own = sorted(versions.glob(f"{major}.{minor}.*/bin/python"))
    return str(own[-1]) if own else "python3"


def compiles(path, python):
    return subprocess.run([python, "-c", COMPILES, str(path)], capture_output=True, check=False).returncode == 0
