"""The rows of real fixes, and the halves of their repositories.

Only the standard library is used; nothing that is fetched is run or committed.
"""

import csv
import hashlib
import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from packages import blocklint, corpora_folder  # noqa: E402, F401

LANGUAGES = ("python", "rust", "java")
COLUMNS = ("repository", "parent", "path", "line", "call", "depth", "kind", "fix", "note", "half")
KINDS = ("sleep", "network", "database", "file", "subprocess", "wait", "lock", "cpu", "input", "loop", "amount", "other")
HALVES = ("learn", "kept")
# The table of the panel. The repositories of its list `learn` have been read, so they cannot be in the half `kept`.
PANEL = HERE.parent / "panel" / "projects.tsv"


def table(path):
    """Returns the rows of a tab-separated file with a header, as dictionaries."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def rows(languages=LANGUAGES):
    """Returns all rows, each with its `language`."""
    return [{**row, "language": language} for language in languages for row in table(HERE / f"{language}.tsv")]


def write(language, of_it):
    with open(HERE / f"{language}.tsv", "w", encoding="utf-8", newline="") as file:
        file.write("\t".join(COLUMNS) + "\n")
        for row in of_it:
            file.write("\t".join(row[column] for column in COLUMNS) + "\n")


def opened():
    """Returns the repositories of the panel's list `learn`, in lower case."""
    if not PANEL.is_file():
        return set()
    return {row["repository"].lower() for row in table(PANEL) if row["list"] == "learn"}


def assign(of_it):
    """Assigns a half to each repository without one, by a rule that leaves no choice. `of_it` are the rows of one language.

    Repositories that the panel has opened are *learn*. The others come in the order of the SHA-256 of their names, each to the half that
    has less so far, where a repository weighs its rows and as much again as repositories have rows on average; else to *learn*. A half that is set stays as it is.
    """
    known = opened()
    half = {row["repository"]: row["half"] for row in of_it if row["half"]}
    for row in of_it:
        if row["repository"].lower() in known:
            half.setdefault(row["repository"], "learn")
    size = {name: sum(row["repository"] == name for row in of_it) for name in {row["repository"] for row in of_it}}

    mean = len(of_it) / len(size)

    def weight(which):
        inside = [name for name, its in half.items() if its == which]
        return sum(size[name] + mean for name in inside)

    for name in sorted(size.keys() - half.keys(), key=lambda name: hashlib.sha256(name.lower().encode()).hexdigest()):
        half[name] = min(HALVES, key=weight)
    for row in of_it:
        row["half"] = half[row["repository"]]


def git_folder(mirror, repository):
    """Returns the git directory of a repository in a folder of mirrors, None if it is not there."""
    bare = Path(mirror) / repository.replace("/", "+") / "repo"
    for folder in (bare / ".git", bare):
        if (folder / "HEAD").is_file():
            return folder
    return None


def last_segment(call):
    """Returns the last name of a path: `open` of `pathlib.Path.open`, `read` of `std::fs::read`."""
    return re.split(r"\.|::|#", call.rstrip("!()"))[-1]


def github(repository):
    return f"https://github.com/{repository}.git"


def environment():
    """Returns the environment of git, in which it never prompts and fetches no missing objects."""
    return {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_LFS_SKIP_SMUDGE": "1"}
