"""Downloads Python packages without their dependencies and extracts their sources."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

#: The files of an archive that are extracted; compiled modules as empty files.
SOURCES = (".py", ".pyi", ".pyx", ".pxi")
COMPILED = (".so", ".pyd")

#: The platforms whose wheels are requested, in order: that of this interpreter, then others, whose sources are the same.
WHEELS = (
    ("--only-binary=:all:",),
    ("--only-binary=:all:", "--platform=win_amd64", "--python-version=3.12"),
    ("--only-binary=:all:", "--platform=win_amd64", "--python-version=3.10"),
)


class DownloadError(Exception):
    """A package that is not available in the requested versions."""


@dataclass(frozen=True)
class Package:
    """An extracted package; `folders` are its entries of the module path."""

    name: str
    version: str
    folders: tuple[Path, ...]


def download(name: str, versions: str, cache: Path) -> Package:
    """Returns the newest wheel, else sdist, of a package within a version range such as `>=2,<3`."""
    place = cache / re.sub(r"[^\w.]+", "-", f"{name}{versions}")
    archives = sorted(place.glob("*.*")) if place.is_dir() else []
    if not archives:
        place.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        errors = []
        for kind in (*WHEELS, (f"--no-binary={name}",)):
            command = [*pip, *kind, "-d", str(place), f"{name}{versions}"]
            run = subprocess.run(command, check=False, capture_output=True, text=True)
            archives = sorted(place.glob("*.*"))
            if run.returncode == 0 and archives:
                break
            errors.append(next((l for l in run.stderr.splitlines() if "ERROR" in l), run.stderr.strip()[-200:]))
        else:
            raise DownloadError(f"{name}{versions}: {'; '.join(errors)}")
    archive = archives[-1]
    target = place / "extracted"
    if not target.is_dir():
        extract(archive, target)
    return Package(name, version_of(archive), module_folders(target, archive.suffix == ".whl"))


def version_of(archive: Path) -> str:
    if archive.suffix == ".whl":
        return archive.name.split("-")[1]
    stem = re.sub(r"(\.tar\.\w+|\.tgz|\.zip)$", "", archive.name)
    return stem.rsplit("-", 1)[-1]


def extract(archive: Path, target: Path) -> None:
    """Writes the sources of an archive below `target`; an entry that would leave it is left out."""
    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as opened:
            for name in opened.namelist():
                if name.endswith(SOURCES):
                    write(target, name, opened.read(name))
                elif name.endswith(COMPILED):
                    write(target, name, b"")
        return
    with tarfile.open(archive) as opened:
        for entry in opened:
            if entry.isfile() and entry.name.endswith(SOURCES):
                data = opened.extractfile(entry)
                if data is not None:
                    write(target, entry.name, data.read())


def write(target: Path, name: str, data: bytes) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        return
    file = target.joinpath(*path.parts)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def module_folders(target: Path, wheel: bool) -> tuple[Path, ...]:
    if wheel:
        data = [p for d in target.glob("*.data") for p in (d / "purelib", d / "platlib") if p.is_dir()]
        return (target, *data)
    inside = [p for p in target.iterdir() if p.is_dir()] if target.is_dir() else []
    return tuple(
        p for top in inside for p in (top / "src", top / "lib", top / "Lib", top / "python", top) if p.is_dir()
    )
