"""Downloads jars without their dependencies, through Maven, and extracts their class files and those of the JDK at hand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as ET
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
#: Marks of preliminary versions, which projects do not use as the newest.
PRELIMINARY = re.compile(r"(alpha|beta|snapshot|preview|milestone|incubat|nightly|-ea\b|-b\d|\bea\d|[.\-]?rc\d*|[.\-]cr\d*|[.\-]m\d|pre\d*|[.\-]dev\d*)", re.IGNORECASE)


class DownloadError(Exception):
    """An artifact that is not available in the requested versions."""


@dataclass(frozen=True)
class Artifact:
    """A downloaded artifact; `classes` is the folder of its packages."""

    name: str
    version: str
    classes: Path


def maven(*arguments: str) -> str:
    """Runs Maven; returns an error message, or an empty text."""
    program = shutil.which("mvn")
    if program is None:
        return "Maven (`mvn`) is not installed"
    run = subprocess.run([program, "-q", "-B", *arguments], check=False, capture_output=True, text=True)
    if run.returncode == 0:
        return ""
    return next((l for l in run.stdout.splitlines() if "ERROR" in l), (run.stdout + run.stderr).strip()[-200:])


def download(name: str, versions: str, cache: Path, kind: str = "jar") -> Artifact:
    """Returns the newest jar of `group:artifact` within a range such as `>=2,<3`; for `g:a:1.2` exactly this version.

    `kind` is a Maven packaging, with a classifier if need be (`jar:sources`).
    """
    group, artifact, *exact = name.split(":")
    place = folder(name, versions, cache, kind)
    held = sorted(place.glob("*.jar")) if place.is_dir() else []
    if not held:
        failed = "it has no jar"
        # A new version may be listed before it can be downloaded.
        for version in exact or newest(group, artifact, versions, cache)[:5]:
            failed = copy(f"{group}:{artifact}:{version}:{kind}", place, cache)
            held = sorted(place.glob("*.jar")) if place.is_dir() else []
            if held:
                (place / "version").write_text(version)
                break
        else:
            raise DownloadError(f"{name}{versions}: {failed}")
    classes = place / "classes"
    if not classes.is_dir():
        extract(held[-1], classes)
    return Artifact(f"{group}:{artifact}", (place / "version").read_text(), classes)


def folder(name: str, versions: str, cache: Path, kind: str = "jar") -> Path:
    """Returns the folder for an artifact of a range."""
    return cache / re.sub(r"[^\w.]+", "-", f"{name}{versions}-{kind}")


def extract(jar: Path, target: Path) -> None:
    """Writes the class files of a jar; those of `META-INF/versions`, which repeat others, are left out."""
    unfinished = target.with_name(target.name + ".part")
    unfinished.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(jar) as opened:
        for name in opened.namelist():
            path = PurePosixPath(name)
            if path.suffix == ".class" and not {"META-INF", ".."} & {*path.parts} and not path.is_absolute():
                file = unfinished.joinpath(*path.parts)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(opened.read(name))
    unfinished.rename(target)


def jdk() -> Path:
    """Returns the newest JDK at hand: of `JAVA_HOME`, of the path, or in the folders of these."""
    homes = [Path(os.environ["JAVA_HOME"])] if "JAVA_HOME" in os.environ else []
    if program := shutil.which("javac"):
        homes.append(Path(program).resolve().parent.parent)
    homes += [beside for home in homes for beside in home.parent.iterdir()]
    homes = [home for home in homes if (home / "bin" / "jimage").exists() and (home / "release").is_file()]
    if not homes:
        raise DownloadError("no JDK at hand: set JAVA_HOME")
    return max(homes, key=lambda home: numbers(version_of_jdk(home)))


def version_of_jdk(home: Path) -> str:
    found = re.search(r'JAVA_VERSION="([^"]+)"', (home / "release").read_text())
    return found[1] if found else ""


def jdk_version() -> str:
    return version_of_jdk(jdk())


def jdk_classes(cache: Path) -> Path:
    """Returns the class files of the JDK's public packages, in a folder for each of its modules."""
    home = jdk()
    target = cache / f"jdk-{version_of_jdk(home)}"
    if not target.is_dir():
        unfinished = target.with_name(target.name + ".part")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        wanted = r"regex:/java\.[^/]*/(java/.*|javax/.*|module-info\.class)"
        command = [str(home / "bin" / "jimage"), "extract", f"--dir={unfinished}", f"--include={wanted}"]
        run = subprocess.run([*command, str(home / "lib" / "modules")], check=False, capture_output=True, text=True)
        if run.returncode != 0:
            raise DownloadError(f"{home}: {(run.stdout + run.stderr).strip()[-200:]}")
        unfinished.rename(target)
    return target


def fetch(wanted: list[tuple[str, str]], cache: Path) -> None:
    """Downloads many artifacts, each a name and a range, by two runs of Maven; what fails is left to `download`."""
    missing = [(name, versions, folder(name, versions, cache)) for name, versions in dict.fromkeys(wanted)]
    missing = [(name, versions, place) for name, versions, place in missing if not [*place.glob("*.jar")]]
    names = sorted({name for name, _, _ in missing if name.count(":") == 1 and not known_versions(name, cache)})
    if names:
        copy_all([(f"{name}:LATEST", "pom", cache / "poms") for name in names], cache)
    chosen: list[tuple[str, str, Path]] = []
    for name, versions, place in missing:
        newest_first = [""] if name.count(":") == 2 else final(known_versions(name, cache), versions)
        if newest_first:
            chosen.append((":".join(filter(None, (name, newest_first[0]))), "jar", place))
    if chosen:
        copy_all(chosen, cache)
    for coordinates, _, place in chosen:
        if [*place.glob("*.jar")]:
            (place / "version").write_text(coordinates.split(":")[2])


def copy_all(items: list[tuple[str, str, Path]], cache: Path) -> None:
    """Copies artifacts, each by coordinates, packaging and folder, with one run of Maven plus one for each that fails."""
    while items:
        with tempfile.TemporaryDirectory() as inside:
            file = Path(inside) / "pom.xml"
            project_of(items).write(file)
            failed = maven(f"-Dmaven.repo.local={cache.resolve() / 'local'}", "-f", str(file), f"{PLUGIN}:copy")
        # Maven stops at the first missing artifact, before it copies any.
        named = {":".join(parts) for parts in re.findall(r"([\w.\-]+):([\w.\-]+):(?:pom|jar):", failed)}
        rest = [item for item in items if ":".join(item[0].split(":")[:2]) not in named]
        items = rest if failed and len(rest) < len(items) else []


def project_of(items: list[tuple[str, str, Path]]) -> ET.ElementTree:
    """Returns a project whose only purpose is to have artifacts copied."""
    project = ET.Element("project")
    about = {"modelVersion": "4.0.0", "groupId": "local", "artifactId": "models", "version": "1", "packaging": "pom"}
    for key, text in about.items():
        ET.SubElement(project, key).text = text
    plugin = ET.SubElement(ET.SubElement(ET.SubElement(project, "build"), "plugins"), "plugin")
    for key, text in zip(("groupId", "artifactId", "version"), PLUGIN.split(":"), strict=True):
        ET.SubElement(plugin, key).text = text
    wanted = ET.SubElement(ET.SubElement(plugin, "configuration"), "artifactItems")
    for coordinates, kind, place in items:
        item = ET.SubElement(wanted, "artifactItem")
        for key, text in zip(("groupId", "artifactId", "version"), coordinates.split(":"), strict=True):
            ET.SubElement(item, key).text = text
        ET.SubElement(item, "type").text = kind
        ET.SubElement(item, "outputDirectory").text = str(place.resolve())
    return ET.ElementTree(project)


def copy(coordinates: str, place: Path, cache: Path) -> str:
    return maven(f"-Dmaven.repo.local={cache / 'local'}", f"{PLUGIN}:copy", f"-Dartifact={coordinates}", f"-DoutputDirectory={place}")


def newest(group: str, artifact: str, versions: str, cache: Path) -> list[str]:
    """Returns the final versions in a range, newest first; preliminary ones only if there are no others."""
    failed = "" if known_versions(f"{group}:{artifact}", cache) else copy(f"{group}:{artifact}:LATEST:pom", cache / "poms", cache)
    found = final(known_versions(f"{group}:{artifact}", cache), versions)
    if not found:
        raise DownloadError(f"{group}:{artifact}{versions}: {failed or 'no such version'}")
    return found


def known_versions(name: str, cache: Path) -> list[str]:
    """Returns all versions in the metadata that Maven downloaded."""
    group, artifact = name.split(":")[:2]
    files = (cache / "local" / group.replace(".", "/") / artifact).glob("maven-metadata*.xml")
    roots = [ET.parse(file).getroot() for file in files]
    return [entry.text or "" for root in roots for entry in root.iterfind("versioning/versions/version")]


def final(known: list[str], versions: str) -> list[str]:
    """Returns the versions in a range, newest first; preliminary ones only if there are no others."""
    found = [version for version in dict.fromkeys(known) if within(version, versions)]
    return sorted([v for v in found if not PRELIMINARY.search(v)] or found, key=order, reverse=True)


def numbers(version: str) -> list[int]:
    found = re.match(r"[\d.]*", version.strip())
    return [int(n) for n in re.findall(r"\d+", found[0] if found else "")]


def order(version: str) -> tuple[list[int], bool, str]:
    """Returns the sort key of a version. A version that begins with a year, as early projects had, is older than others."""
    have = numbers(version)
    dated = bool(have) and have[0] >= 20000000
    return ([] if dated else have, "android" not in version, version)


def within(version: str, ranges: str) -> bool:
    """True if a version is in a range such as `>=2,<3`."""

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
