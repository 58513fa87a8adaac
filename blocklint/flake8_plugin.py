"""blocklint inside flake8: findings of the whole program, under their codes (BLT101 …).

flake8 hands over one file after the other, to several processes. blocklint needs the whole project, so that one run of the engine
serves all of them: the first process that asks runs it, the others wait and read what it found. Nothing is left behind, and where
sharing fails, each process runs the engine for itself.
"""

import atexit
import contextlib
import errno
import hashlib
import json
import multiprocessing
import os
import shutil
import subprocess
import tempfile
import tokenize
from importlib import metadata
from typing import Any, Dict, Iterator, List, Optional, Tuple

from blocklint import find_blocklint_bin

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
    import msvcrt

#: Names the folder that the processes of one flake8 run share, and the process that made it: `PID:FOLDER`.
SESSION = "_BLOCKLINT_FLAKE8_SESSION"

#: Says that blocklint could not run.
FAILED = "BLT900"

#: flake8 says itself (E902, E999) what it could not read.
UNREADABLE = "BLT902"

#: A finding as flake8 takes it: line, column from 0, text.
Row = Tuple[int, int, str]


def _version() -> str:
    try:
        return metadata.version("blocklint-async")
    except metadata.PackageNotFoundError:
        return "unknown"


class Plugin:
    """A check of one file; flake8 makes one for each."""

    name = "blocklint"
    version = _version()

    #: The values of `--blocklint-config`.
    config: List[str] = []

    def __init__(self, tree: Any, filename: str, lines: List[str]) -> None:
        # flake8 knows a plugin that runs once for each file by its parameter `tree`.
        self.filename = filename
        self.lines = lines

    @classmethod
    def add_options(cls, manager: Any) -> None:
        manager.add_option(
            "--blocklint-config",
            action="append",
            metavar="FILE or KEY=VALUE",
            default=[],
            parse_from_config=True,
            comma_separated_list=False,
            normalize_paths=False,
            help="A configuration of blocklint in place of the one it finds, or a key and its value, as `blocklint check --config` takes it",
        )

    @classmethod
    def parse_options(cls, options: Any) -> None:
        given = options.blocklint_config or []
        # In flake8's own configuration it is one text.
        cls.config = [given] if isinstance(given, str) else list(given)
        if multiprocessing.parent_process() is None:
            _begin_session()

    def run(self) -> Iterator[Tuple[int, int, str, type]]:
        if self.filename in ("-", "stdin") or not os.path.isfile(self.filename):
            return
        found = _found(os.path.abspath(self.filename), self.config)
        if found and not self._is_saved():
            # The text that an editor hands over is not what was analysed; its lines are elsewhere.
            return
        for line, column, text in found:
            yield line, column, text, type(self)

    def _is_saved(self) -> bool:
        try:
            with tokenize.open(self.filename) as file:
                saved = file.read()
        except OSError:
            return False
        except (SyntaxError, UnicodeError):
            # flake8 reads it in an encoding of its own choice, and says so.
            return True
        return _plain("".join(self.lines)) == _plain(saved)


def _plain(text: str) -> str:
    """With one kind of line end, and without the mark at the beginning."""
    return text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")


def _begin_session() -> None:
    """Makes the folder that this run of flake8 and its workers share; they find it in their environment."""
    try:
        folder = tempfile.mkdtemp(prefix="blocklint-flake8-")
    except OSError:
        os.environ.pop(SESSION, None)
        return
    owner = os.getpid()
    os.environ[SESSION] = "{}:{}".format(owner, folder)

    def clean() -> None:
        # A worker that was forked runs this as well.
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(clean)


def _session() -> Optional[str]:
    """The folder of this run of flake8; none where it could not be made, or where it is that of another run."""
    owner, _, folder = os.environ.get(SESSION, "").partition(":")
    parent = multiprocessing.parent_process()
    ours = (os.getpid(), parent.pid if parent else None)
    if not owner.isdigit() or int(owner) not in ours or not os.path.isdir(folder):
        return None
    return folder


#: Scope of a run → what was found there, by file. One for each process.
_KNOWN: Dict[Tuple[str, ...], Dict[str, List[Row]]] = {}


def _found(path: str, config: List[str]) -> List[Row]:
    here = os.getcwd()
    # The files below the current folder are one project, as for `blocklint check`; another file belongs to its own.
    inside = path.startswith(os.path.join(here, ""))
    scope = here if inside else os.path.dirname(path)
    session = _session()
    key = (session or "", scope, *config)
    if key not in _KNOWN:
        _KNOWN[key] = _by_file(_shared(session, scope, config))
    rows = _KNOWN[key].get(os.path.realpath(path), [])
    if "" in _KNOWN[key] and _is_first(session, key):
        # Said once, in whichever file comes first.
        rows = rows + _KNOWN[key][""]
    return rows


def _is_first(session: Optional[str], key: Tuple[str, ...]) -> bool:
    if session is None:
        return _KNOWN[key].pop("", None) is not None
    with contextlib.suppress(OSError):
        os.close(os.open(os.path.join(session, "failed"), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        return True
    return False


def _by_file(output: Dict[str, Any]) -> Dict[str, List[Row]]:
    files: Dict[str, List[Row]] = {}
    if output.get("error"):
        files[""] = [(1, 0, "{} blocklint could not run: {}".format(FAILED, output["error"]))]
    for finding in output.get("findings", []):
        if finding["code"] == UNREADABLE or finding["cell"] is not None:
            continue
        place = finding["location"]
        text = "{} {}".format(finding["code"], finding["message"])
        rows = files.setdefault(os.path.realpath(finding["filename"]), [])
        rows.append((place["row"], max(place["column"] - 1, 0), text))
    return files


def _shared(session: Optional[str], scope: str, config: List[str]) -> Dict[str, Any]:
    """Returns the engine's output; the first process that comes runs it."""
    if session is None:
        return _run(scope, config)
    name = hashlib.sha256("\0".join([scope, *config]).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    result = os.path.join(session, name + ".json")
    try:
        with open(os.path.join(session, name + ".lock"), "a+b") as lock:
            _wait_for(lock)
            if os.path.exists(result):
                with open(result, encoding="utf-8") as file:
                    return json.load(file)
            output = _run(scope, config)
            with open(result + ".part", "w", encoding="utf-8") as file:
                json.dump(output, file)
            os.replace(result + ".part", result)
            return output
    except (OSError, ValueError):
        return _run(scope, config)


def _wait_for(lock: Any) -> None:
    """Waits until no other process holds the file; the system frees it when its holder ends, however that happens."""
    if fcntl is not None:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return
    while True:
        try:
            msvcrt.locking(lock.fileno(), msvcrt.LK_LOCK, 1)
            return
        except OSError as error:
            # It gives up after ten seconds.
            if error.errno != getattr(errno, "EDEADLOCK", errno.EDEADLK):
                raise


def _run(scope: str, config: List[str]) -> Dict[str, Any]:
    try:
        command = [find_blocklint_bin(), "check", "--output-format", "json", "--exit-zero"]
        for value in config:
            command += ["--config", value]
        # A scope may begin with a hyphen.
        done = subprocess.run([*command, "--", scope], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    except OSError as error:
        return {"error": str(error)}
    if done.returncode != 0:
        told = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return {"error": "; ".join(told[:3]) or "exit code {}".format(done.returncode)}
    try:
        return {"findings": json.loads(done.stdout.decode("utf-8"))}
    except ValueError as error:
        return {"error": "its output cannot be read: {}".format(error)}
