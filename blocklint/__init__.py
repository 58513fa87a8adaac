"""blocklint for Python: the package finds the binary that was installed with it."""

import os
import sys
import sysconfig

__all__ = ["find_blocklint_bin"]


def find_blocklint_bin() -> str:
    """Returns the path of the `blocklint` binary that was installed with this package.

    Raises FileNotFoundError, with the folders that were searched, if there is none.
    """
    name = "blocklint" + (sysconfig.get_config_var("EXE") or "")
    folders = _script_folders()
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    searched = "\n".join("  " + folder for folder in folders)
    raise FileNotFoundError("the blocklint binary is in none of these folders:\n" + searched)


def _script_folders() -> "list[str]":
    """Returns the folders in which an installer may have put the binary, the likeliest first."""
    package = os.path.dirname(os.path.abspath(__file__))
    scripts = "Scripts" if sys.platform == "win32" else "bin"
    folders = [
        sysconfig.get_path("scripts"),
        # A virtual environment with access to the packages of its base interpreter.
        sysconfig.get_path("scripts", vars={"base": sys.base_prefix}),
        # pip install --target FOLDER
        os.path.join(os.path.dirname(package), "bin"),
        # pip install --prefix FOLDER: below it lib/pythonX.Y/site-packages/blocklint, or Lib\site-packages\blocklint
        os.path.join(_parent(package, 3 if sys.platform == "win32" else 4), scripts),
        # pip install --user
        sysconfig.get_path("scripts", scheme=_user_scheme()),
    ]
    # Removes duplicates and keeps the order.
    return list(dict.fromkeys(folder for folder in folders if folder))


def _parent(path: str, levels: int) -> str:
    for _ in range(levels):
        path = os.path.dirname(path)
    return path


def _user_scheme() -> str:
    if sys.version_info >= (3, 10):
        return sysconfig.get_preferred_scheme("user")
    if os.name == "nt":
        return "nt_user"
    if sys.platform == "darwin" and getattr(sys, "_framework", None):
        return "osx_framework_user"
    return "posix_user"
