"""Downloads jars without their dependencies, through Maven."""

from __future__ import annotations

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
#: A version with one of these is not what a project would take as the newest.
PRELIMINARY = re.compile(r"(alpha|beta|snapshot|preview|milestone|incubat|nightly|-ea\b|-b\d|\bea\d|[.\-]?rc\d*|[.\-]cr\d*|[.\-]m\d|pre\d*)", re.IGNORECASE)


class DownloadError(Exception):
    """An artifact that cannot be had in the versions asked for."""


@dataclass(frozen=True)
class Artifact:
    """A downloaded jar."""

    name: str
    version: str
    jar: Path


def maven(*arguments: str) -> str:
    """Runs Maven; gives what went wrong, or nothing."""
    program = shutil.which("mvn")
    if program is None:
        return "Maven (`mvn`) is not installed"
    run = subprocess.run([program, "-q", "-B", *arguments], check=False, capture_output=True, text=True)
    if run.returncode == 0:
        return ""
    return next((l for l in run.stdout.splitlines() if "ERROR" in l), (run.stdout + run.stderr).strip()[-200:])


def download(name: str, versions: str, cache: Path, kind: str = "jar") -> Artifact:
    """The newest jar of `group:artifact` within a range such as `>=2,<3`; one with a version of its own (`g:a:1.2`) exactly.

    `kind` is a Maven packaging, with a classifier if need be (`jar:sources`).
    """
    group, artifact, *exact = name.split(":")
    place = cache / re.sub(r"[^\w.]+", "-", f"{name}{versions}-{kind}")
    held = sorted(place.glob("*.jar")) if place.is_dir() else []
    if not held:
        failed = "it has no jar"
        # A version that was just published may be listed before it can be had.
        for version in exact or newest(group, artifact, versions, cache)[:5]:
            failed = copy(f"{group}:{artifact}:{version}:{kind}", place, cache)
            held = sorted(place.glob("*.jar")) if place.is_dir() else []
            if held:
                (place / "version").write_text(version)
                break
        else:
            raise DownloadError(f"{name}{versions}: {failed}")
    return Artifact(f"{group}:{artifact}", (place / "version").read_text(), held[-1])


def copy(coordinates: str, place: Path, cache: Path) -> str:
    return maven(f"-Dmaven.repo.local={cache / 'local'}", f"{PLUGIN}:copy", f"-Dartifact={coordinates}", f"-DoutputDirectory={place}")


def newest(group: str, artifact: str, versions: str, cache: Path) -> list[str]:
    """The final versions in a range, newest first; preliminary ones only where there are no others."""
    failed = copy(f"{group}:{artifact}:LATEST:pom", cache / "poms", cache)
    folder = cache / "local" / group.replace(".", "/") / artifact
    known = [
        entry.text or ""
        for file in folder.glob("maven-metadata*.xml")
        for entry in ET.parse(file).getroot().iterfind("versioning/versions/version")
    ]
    known = [version for version in dict.fromkeys(known) if within(version, versions)]
    final = [version for version in known if not PRELIMINARY.search(version)] or known
    if not final:
        raise DownloadError(f"{group}:{artifact}{versions}: {failed or 'no such version'}")
    return sorted(final, key=order, reverse=True)


def numbers(version: str) -> list[int]:
    found = re.match(r"[\d.]*", version.strip())
    return [int(n) for n in re.findall(r"\d+", found[0] if found else "")]


def order(version: str) -> tuple[list[int], bool, str]:
    """Sorts versions. A year as first number, as early projects had it, is older than what counts from one."""
    have = numbers(version)
    dated = bool(have) and have[0] >= 20000000
    return ([] if dated else have, "android" not in version, version)


def within(version: str, ranges: str) -> bool:
    """Whether a version lies in a range such as `>=2,<3`."""

    def trimmed(text: str) -> list[int]:
        found = numbers(text)
        while found and found[-1] == 0:
            found.pop()
        return found

    for part in ranges.split(","):
        found = re.match(r"\s*(<=|>=|==|!=|<|>)\s*([\d.]+)", part)
        if not found:
            continue
        have, want = trimmed(version), trimmed(found[2])
        holds = {"<": have < want, "<=": have <= want, ">": have > want, ">=": have >= want}
        holds |= {"==": have == want, "!=": have != want}
        if not holds[found[1]]:
            return False
    return True
