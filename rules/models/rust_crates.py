"""Gets the sources of crates, through cargo or from folders."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path


class DownloadError(Exception):
    """A crate that is not available in the requested versions."""


@dataclass(frozen=True, eq=False)
class Package:
    """The sources of a crate. `renames` are the names that it gives to its dependencies."""

    name: str
    version: str
    crate: str
    root: Path
    edition: str
    renames: dict[str, str]


def read_manifest(manifest: Path) -> Package | None:
    """Returns the library of a manifest, or nothing if it has none."""
    document = tomllib.loads(manifest.read_text())
    about = document.get("package")
    if not about:
        return None
    around = workspace(manifest)

    def inherited(key: str, default: str) -> str:
        value = about.get(key, default)
        return str(around.get("package", {}).get(key, default)) if isinstance(value, dict) else str(value)

    library = document.get("lib", {})
    root = manifest.parent / library.get("path", "src/lib.rs")
    if not root.is_file():
        return None
    name = about["name"]
    tables = [document.get("dependencies", {})]
    tables += [t.get("dependencies", {}) for t in document.get("target", {}).values()]
    renames = {}
    for table in tables:
        for key, value in table.items():
            if isinstance(value, dict) and value.get("workspace"):
                value = around.get("dependencies", {}).get(key, {})
            if isinstance(value, dict) and "package" in value:
                renames[key.replace("-", "_")] = value["package"].replace("-", "_")
    crate = library.get("name", name).replace("-", "_")
    return Package(name, inherited("version", "0.0.0"), crate, root, inherited("edition", "2015"), renames)


@cache
def workspace(manifest: Path) -> dict:
    for folder in manifest.parents:
        file = folder / "Cargo.toml"
        if file.is_file() and "workspace" in (document := tomllib.loads(file.read_text())):
            return document["workspace"]
    return {}


@cache
def lying(folder: Path) -> dict[str, list[Path]]:
    """Returns the manifests below a folder, by the package's name."""
    found: dict[str, list[Path]] = {}
    for manifest in sorted(folder.rglob("Cargo.toml")):
        shown = re.search(r'^name\s*=\s*"([^"]+)"', manifest.read_text(errors="replace"), re.MULTILINE)
        if shown:
            found.setdefault(shown[1], []).append(manifest)
    return found


def get(name: str, versions: str, folders: list[Path], store: Path) -> Package:
    """Returns the newest crate within a range, from the folders if there are any, else through cargo."""
    if not folders:
        return download(name, versions, store)
    package = find(name, versions, folders)
    if package is None:
        raise DownloadError(f"{name}{versions}: its sources are not at hand")
    return package


def within(version: str, versions: str) -> bool:
    """True if a version is in a range such as `>=2,<3`."""
    have = numbers(version)[0]
    for part in filter(None, (part.strip() for part in versions.split(","))):
        mark = re.match(r"[<>=!]+", part)
        want = numbers(part[mark.end() :] if mark else part)[0]
        width = max(len(have), len(want))
        one, other = (n + (0,) * (width - len(n)) for n in (have, want))
        tests = {"<": one < other, "<=": one <= other, ">": one > other, ">=": one >= other, "!=": one != other}
        if not tests.get(mark[0] if mark else "==", one == other):
            return False
    return True


def find(name: str, versions: str, folders: list[Path]) -> Package | None:
    """Returns a crate of that name in the folders, the newest release of those within the range, as cargo chooses."""
    packages = []
    for folder in folders:
        for manifest in lying(folder).get(name, []):
            try:
                package = read_manifest(manifest)
            except (tomllib.TOMLDecodeError, OSError):
                continue
            if package is not None and package.name == name and within(package.version, versions):
                packages.append(package)
    return max(packages, key=lambda p: (numbers(p.version)[1], numbers(p.version)), default=None)


def download(name: str, versions: str, store: Path) -> Package:
    """Returns the newest crate within a version range such as `>=2,<3`, fetched by cargo for a package that depends on it."""
    place = store / re.sub(r"[^\w.]+", "-", f"{name}{versions}")
    (place / "src").mkdir(parents=True, exist_ok=True)
    (place / "src" / "lib.rs").touch()
    wanted = json.dumps({"version": versions or "*"})[1:-1].replace('"version":', "version =")
    (place / "Cargo.toml").write_text(
        '[package]\nname = "reads-sources"\nversion = "0.0.0"\nedition = "2021"\n\n[workspace]\n\n'
        f'[dependencies."{name}"]\n{wanted}\ndefault-features = false\n'
    )
    command = ["cargo", "metadata", "--format-version", "1", "--quiet"]
    run = subprocess.run(command, cwd=place, check=False, capture_output=True, text=True)
    if run.returncode != 0:
        lines = [line.strip() for line in run.stderr.splitlines() if line.strip()]
        raise DownloadError(f"{name}{versions}: {lines[0] if lines else 'cargo failed'}")
    manifests = [p["manifest_path"] for p in json.loads(run.stdout)["packages"] if p["name"] == name]
    package = read_manifest(Path(manifests[0])) if manifests else None
    if package is None:
        raise DownloadError(f"{name}{versions}: it has no library")
    return package


def numbers(version: str) -> tuple[tuple[int, ...], bool]:
    """Returns the sort key of a version; a release is later than its pre-releases."""
    plain = version.split("+")[0]
    return tuple(int(n) for n in re.findall(r"\d+", plain.split("-")[0])), "-" not in plain
