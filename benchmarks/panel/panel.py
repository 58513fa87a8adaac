"""The pinned projects of the panel, the folders of their checkouts, and runs of blocklint over them.

Only the standard library is used; nothing that is fetched is run or committed.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from packages import corpora_folder, corpus  # noqa: E402

PROJECTS = HERE / "projects.tsv"
LISTS = ("learn", "fresh", "reserve")
LANGUAGES = {"python": ".py", "rust": ".rs", "java": ".java"}
# The prefix of repositories that are packages of packages.py, whose commit is a version.
PACKAGE = "pypi:"
DEFAULT = ()
LOWEST = ("--min-severity", "note", "--min-confidence", "low")
VERDICTS = ("RIGHT", "MINOR", "WRONG")
VERDICT_COLUMNS = ("project", "draw", "file", "line", "code", "severity", "confidence", "verdict", "reason")


def table(path):
    """Returns the rows of a tab-separated file with a header, as dictionaries."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def write_table(path, columns, rows):
    text = "".join("\t".join(str(cell) for cell in line) + "\n" for line in [columns, *([row[name] for name in columns] for row in rows)])
    Path(path).write_text(text, encoding="utf-8")


def projects(lists=(), names=(), language=None):
    """Returns the projects of these lists or of these names, in the order of the table."""
    rows = table(PROJECTS)
    unknown = set(names) - {row["project"] for row in rows}
    if unknown:
        sys.exit(f"not in {PROJECTS.name}: {', '.join(sorted(unknown))}")
    return [
        row
        for row in rows
        if (row["project"] in names if names else not lists or row["list"] in lists)
        and (not language or row["language"] == language)
    ]


def add_choice(parser):
    """Adds the arguments that choose projects."""
    parser.add_argument("names", nargs="*", metavar="NAME", help="projects of projects.tsv")
    parser.add_argument("--list", action="append", choices=LISTS, default=[], help="all of this list")
    parser.add_argument("--all", action="store_true", help="all of all lists")
    parser.add_argument("--language", choices=LANGUAGES, help="only those")


def chosen(options):
    if not (options.names or options.list or options.all):
        sys.exit("which projects? Name some, or --list learn, or --all")
    return projects(options.list, options.names, options.language)


def folder(row, corpora):
    """Returns the folder of a project and the checked part: (working directory, path to check)."""
    if row["repository"].startswith(PACKAGE):
        stand, code = corpus(corpora, row["repository"][len(PACKAGE) :])
        return stand, code.name
    place = corpora / row["project"]
    if not place.is_dir():
        sys.exit(f"{row['project']} is not there: benchmarks/panel/get {row['project']}")
    return place, "."


class Run:
    """A run of blocklint: its findings, with paths relative to the project, and its cost."""

    def __init__(self, binary, row, corpora, levels=DEFAULT, output="json"):
        stand, code = folder(row, corpora)
        stand = stand.resolve()
        command = [str(Path(binary).resolve()), "check", "--no-cache", "--isolated", "--output-format", output, *levels, code]
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            begun = time.monotonic()
            child = subprocess.Popen(command, cwd=stand, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
            _, status, used = os.wait4(child.pid, 0)
            self.wall = time.monotonic() - begun
            # Prevents that Popen waits again. A negative code is the signal that ended the process.
            child.returncode = self.exit = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
            out.seek(0)
            err.seek(0)
            self.stderr = err.read().decode(errors="replace")
            text = out.read()
        self.cpu = used.ru_utime + used.ru_stime
        self.project = row["project"]
        self.folder = stand
        self.command = f"cd {stand} && {' '.join(command)}"
        self.text = text.decode(errors="replace") if output != "json" else ""
        self.findings = []
        if output != "json":
            return
        try:
            self.findings = [relative(finding, stand) for finding in json.loads(text)]
        except ValueError:
            self.stderr += f"\nno JSON on stdout, {len(text)} bytes"

    @property
    def went_wrong(self):
        return self.exit not in (0, 1) or "panicked" in self.stderr


def place(finding):
    return finding["filename"], finding["location"]["row"], finding["location"]["column"], finding["code"]


def language_of(path):
    """Returns the language of a file, because projects have files of several languages."""
    return next((name for name, suffix in LANGUAGES.items() if str(path).endswith(suffix)), "python")


def relative(value, stand):
    """Returns the value with each `filename` relative to the folder."""
    if isinstance(value, list):
        return [relative(entry, stand) for entry in value]
    if isinstance(value, dict):
        return {
            key: os.path.relpath(entry, stand) if key == "filename" and entry and os.path.isabs(entry) else relative(entry, stand)
            for key, entry in value.items()
        }
    return value


def lines_of(row, corpora):
    """Returns the number of non-blank lines of the project's language, tests included."""
    stand, code = folder(row, corpora)
    number = 0
    for place, folders, files in os.walk(stand / code):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = Path(place) / name
            if name.endswith(LANGUAGES[row["language"]]) and path.is_file():
                with open(path, "rb") as file:
                    number += sum(1 for line in file if line.strip())
    return number
