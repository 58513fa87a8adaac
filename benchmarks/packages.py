"""The pinned public packages that are measured and read, and their download.

Only the standard library is used. pip fetches; nothing fetched is run or committed.
"""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

# The packages by the name on PyPI; all are wheels, whose Python sources are read.
PACKAGES = {
    "gradio": "6.31.0",
    "homeassistant": "2026.2.3",
    "litellm": "1.80.0",
    "matrix-synapse": "1.163.2",
    "open-webui": "0.12.4",
    "prefect": "3.9.1",
}
# A Python version that all packages allow. pip only downloads for it; nothing is run.
PYTHON = {
    "gradio": "3.12",
    "homeassistant": "3.14",
    "litellm": "3.12",
    "matrix-synapse": "3.12",
    "open-webui": "3.12",
    "prefect": "3.12",
}
RUFF = "0.17.5"
HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent


def corpora_folder(given):
    """Returns the folder for downloads."""
    return Path(given).resolve() if given else HERE / "corpora"


def corpus(corpora, package):
    """Returns the folders of a package, which is fetched if needed: (working directory, folder to check)."""
    version = PACKAGES.get(package) or sys.exit(f"{package} is not pinned in {__file__}; there are: {', '.join(PACKAGES)}")
    folder = corpora / f"{package}-{version}"
    if not folder.is_dir():
        fetch(corpora, package, version, folder)
    code = [entry for entry in folder.iterdir() if entry.is_dir() and (entry / "__init__.py").is_file()]
    if len(code) != 1:
        sys.exit(f"{folder} does not hold one package but {len(code)}; delete it and try again")
    return folder, code[0]


def fetch(corpora, package, version, folder):
    wheels = corpora / "dl"
    wheels.mkdir(parents=True, exist_ok=True)
    print(f"fetching {package} {version}", file=sys.stderr)
    python = ["--python-version", PYTHON[package]]
    pip(["download", "--no-deps", "--only-binary", ":all:", *python, "--dest", str(wheels)], f"{package}=={version}")
    (wheel,) = wheels.glob(f"{package.replace('-', '_')}-{version}-*.whl")
    half = folder.with_suffix(".half")
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            # Web front ends in wheels are removed; only sources are measured.
            if name.endswith((".py", "METADATA")):
                archive.extract(name, half)
    # Marks the project root, so that a run does not use a repository around the folder.
    (half / "blocklint.toml").touch()
    half.rename(folder)


def pip(arguments, what):
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments, what]
    if subprocess.run(command, stdout=sys.stderr).returncode != 0:
        sys.exit(f"pip could not fetch {what}")


def ruff(corpora, given):
    """Returns the path of a ruff: the given one, else the pinned one in an environment of its own."""
    if given:
        return given
    environment = corpora / f"ruff-{RUFF}"
    scripts = environment / ("Scripts" if os.name == "nt" else "bin")
    binary = scripts / ("ruff.exe" if os.name == "nt" else "ruff")
    if not binary.is_file():
        venv.create(environment, with_pip=True)
        command = [str(scripts / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        subprocess.run([*command, f"ruff=={RUFF}"], check=True, stdout=sys.stderr)
    return str(binary)


def blocklint(given, profile="release"):
    """Returns the path of the given blocklint, else of this checkout's build with a profile: `dist`, as wheels are built, for times."""
    if given:
        return given
    target = Path(os.environ.get("CARGO_TARGET_DIR") or REPOSITORY / "target")
    binary = target / profile / ("blocklint.exe" if os.name == "nt" else "blocklint")
    if not binary.is_file():
        sys.exit(f"{binary} is not there: build it with `cargo build --profile {profile}`, or name one with --blocklint")
    return str(binary)
