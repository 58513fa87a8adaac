"""The build backend: maturin, with one sentence if Rust is missing or too old, and the expected time of a build.

Without this, maturin would download a Rust of its own into a cache, or end with a traceback.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import maturin
from maturin import build_editable, build_sdist, build_wheel, prepare_metadata_for_build_editable, prepare_metadata_for_build_wheel

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

#: The same figure is in README.md; docs/speed.md has the measurement.
HOW_LONG = "blocklint is compiled now, which takes about seven minutes of processor time"


def get_requires_for_build_wheel(config_settings=None):
    require_rust()
    # Shown by `pip install --verbose`.
    print(HOW_LONG, file=sys.stderr, flush=True)
    return maturin.get_requires_for_build_wheel(config_settings)


def get_requires_for_build_editable(config_settings=None):
    require_rust()
    return maturin.get_requires_for_build_editable(config_settings)


def get_requires_for_build_sdist(config_settings=None):
    require_rust()
    return maturin.get_requires_for_build_sdist(config_settings)


def require_rust():
    """Ends the build, with one sentence, unless there is a Rust that is new enough."""
    least = least_rust()
    get_it = "install Rust {} or newer from https://rustup.rs, or install a wheel of blocklint-async, which needs none".format(least)
    if shutil.which("cargo") is None:
        sys.exit("blocklint is written in Rust and cargo is not on the PATH: {}.".format(get_it))
    found = rust_version()
    if found is not None and numbers(found) < numbers(least):
        sys.exit("blocklint does not compile with Rust {}: {}.".format(found, get_it))


def least_rust():
    """Returns the oldest version of Rust that Cargo.toml allows."""
    text = (Path(__file__).resolve().parent.parent / "Cargo.toml").read_text(encoding="utf-8")
    found = re.search(r'^rust-version = "([0-9.]+)"', text, re.MULTILINE)
    return found.group(1) if found else "1.95"


def rust_version():
    """Returns the version of the Rust on the PATH, or None if there is none."""
    try:
        # In the folder of the sources rustup chooses the same toolchain as for the build.
        said = subprocess.check_output(["cargo", "--version"], stderr=subprocess.DEVNULL, universal_newlines=True)
    except (OSError, subprocess.SubprocessError):
        return None
    found = re.match(r"cargo ([0-9]+\.[0-9]+)", said)
    return found.group(1) if found else None


def numbers(version):
    return [int(number) for number in version.split(".")]
