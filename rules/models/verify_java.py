#!/usr/bin/env python3
"""Checks the rows of Java model files against the class files of the libraries.

    verify_java.py rules/models/java/okhttp.toml …            print what does not hold
    verify_java.py --write FILE …                             and record what does in VERIFIED.toml
    verify_java.py --also org.springframework:spring-tx FILE  read further jars: bases in other artifacts
    verify_java.py --older '<5' FILE                          and an older version, for names that are gone since

For each file the newest versions of its artifacts within `version` are downloaded through Maven without their
dependencies, and `blocklint models verify` reads their class files; nothing is run. Of every row the class and the method
must exist, with the parameters that the row names; what it returns must fit; a call with an effect must not give a future
or publisher unless it says `async`, and one with `async` must. Exempt are paths with a synthetic `<…>` segment and rows
with `unchecked`. The further jars and older versions are recorded with the result and read again the next time. The platform's classes are
those of the newest JDK at hand.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import java_packages
from verify_python import Result, as_list, blocklint, model_name, record, recorded

PLATFORM = "jdk"


def check(file: Path, also: list[str], older: list[str], cache: Path, program: list[str], standard: Path) -> Result:
    document = tomllib.loads(file.read_text())
    result = Result(file, also=also, older=older)
    libraries = as_list(document["library"])
    result.library = libraries[0]
    versions = document.get("version", "")
    others: list[java_packages.Artifact] = []
    try:
        further = [java_packages.download(*split_requirement(name), cache) for name in also]
        if libraries == [PLATFORM]:
            main = [java_packages.Artifact(PLATFORM, java_packages.jdk_version(), standard)]
        else:
            main = download(libraries, versions, cache)
        result.version = main[0].version
        gone = [download(libraries, ",".join(filter(None, (versions, range_))), cache) for range_ in older]
        report = verify(program, file, main, others, gone, further, standard)
        for needed in report["needs"] if libraries != [PLATFORM] else []:
            others += download(libraries, ",".join(filter(None, (versions, needed))), cache)
        if others:
            report = verify(program, file, main, others, gone, further, standard)
    except (java_packages.DownloadError, RuntimeError) as why:
        result.problem(1, result.library, str(why))
        return result
    result.rows, result.checked = report["rows"], report["checked"]
    result.exempt, result.unchecked = report["exempt"], report["unchecked"]
    result.expansions = dict(report["expansions"])
    for problem in report["problems"]:
        result.problem(problem["line"], problem["path"], problem["message"].replace("--with", "--also"))
    for needed in report["needs"]:
        result.problem(1, result.library, f"no version {needed} is at hand, of which rows speak")
    return result


def wanted(file: Path, also: list[str], older: list[str]) -> list[tuple[str, str]]:
    """Returns the artifacts that the check of a file needs, except those of single rows."""
    document = tomllib.loads(file.read_text())
    libraries = [name for name in as_list(document["library"]) if name != PLATFORM]
    versions = document.get("version", "")
    ranges = [versions, *(",".join(filter(None, (versions, range_))) for range_ in older)]
    return [(name, range_) for range_ in ranges for name in libraries] + [split_requirement(name) for name in also]


def download(libraries: list[str], versions: str, cache: Path) -> list[java_packages.Artifact]:
    """Downloads the artifacts of one version; the version of the first library is recorded."""
    found = [java_packages.download(libraries[0], versions, cache)]
    for name in libraries[1:]:
        try:
            found.append(java_packages.download(name, versions, cache))
        except java_packages.DownloadError:
            # Artifacts of a library can have different version numbers.
            found.append(java_packages.download(name, "", cache))
    return found


def verify(
    program: list[str],
    file: Path,
    main: list[java_packages.Artifact],
    others: list[java_packages.Artifact],
    gone: list[list[java_packages.Artifact]],
    further: list[java_packages.Artifact],
    standard: Path,
) -> dict[str, list]:
    arguments = ["models", "verify", *(str(of.classes) for of in main), "--model", str(file)]
    arguments += ["--library-version", main[0].version]
    for other in others:
        arguments += ["--other", f"{others[0].version}={other.classes}"]
    for version in gone:
        for artifact in version:
            arguments += ["--older", f"{version[0].version}={artifact.classes}"]
    for artifact in further:
        arguments += ["--with", str(artifact.classes)]
    if main[0].classes != standard:
        arguments += ["--standard-library", str(standard)]
    run = subprocess.run([*program, *arguments, "--output-format", "json"], check=False, capture_output=True, text=True)
    if run.returncode not in (0, 1):
        raise RuntimeError(run.stderr.strip())
    return json.loads(run.stdout)[0]


def split_requirement(text: str) -> tuple[str, str]:
    found = re.match(r"([\w.:\-]+)(.*)", text)
    return (found[1], found[2].strip()) if found else (text, "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--also", action="append", default=[], help="a further artifact to read, with a version if need be")
    parser.add_argument("--older", action="append", default=[], help="a range that contains an older version")
    parser.add_argument("--write", action="store_true", help="record files without problems in VERIFIED.toml")
    parser.add_argument("--blocklint", type=Path, help="the program to ask; default: the one built from these sources")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "blocklint-models-java")
    arguments = parser.parse_args()
    known = recorded()
    program = blocklint(arguments.blocklint).command
    try:
        standard = java_packages.jdk_classes(arguments.cache)
    except java_packages.DownloadError as why:
        print(why, file=sys.stderr)
        return 1
    tasks: list[tuple[Path, list[str], list[str]]] = []
    for file in arguments.files:
        earlier = known.get(model_name(file), {})
        also = sorted({*earlier.get("also", []), *arguments.also})
        older = sorted({*earlier.get("older", []), *arguments.older})
        tasks.append((file, also, older))
    java_packages.fetch([artifact for task in tasks for artifact in wanted(*task)], arguments.cache)
    good: list[Result] = []
    failed = False
    for file, also, older in tasks:
        result = check(file, also, older, arguments.cache, program, standard)
        for problem in result.problems:
            print(problem)
        print(
            f"{result.library} {result.version or '(not read)'}: {result.rows} rows, {result.checked} names checked, "
            f"{result.exempt} exempt ({result.unchecked} unchecked), {len(result.problems)} problems",
            flush=True,
        )
        failed = failed or bool(result.problems)
        if not result.problems:
            good.append(result)
    if arguments.write and good:
        record(good)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
