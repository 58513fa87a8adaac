"""A flake8 plugin that reports blocklint's findings of the whole project under their codes (BLT101 …).

flake8 checks one file at a time, in several processes. blocklint needs the whole project, so one run of the engine serves all
processes: the first one runs it, and the others wait for its result. The shared folder is removed at the end. If sharing fails,
each process runs the engine itself.
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

#: The environment variable with the folder that the processes of one flake8 run share, and the process that created it: `PID:FOLDER`.
SESSION = "_BLOCKLINT_FLAKE8_SESSION"

#: The code of the error that blocklint could not run.
FAILED = "BLT900"

#: The code of unreadable files, which is not reported because flake8 reports them itself (E902, E999).
UNREADABLE = "BLT902"

#: A finding in flake8's form: line, column from 0, text.
Row = Tuple[int, int, str]


def _version() -> str:
    try:
        return metadata.version("blocklint-async")
    except metadata.PackageNotFoundError:
        return "unknown"


class Plugin:
    """The check of one file."""

    name = "blocklint"
    version = _version()

    #: The values of `--blocklint-config`.
    config: List[str] = []

    def __init__(self, tree: Any, filename: str, lines: List[str]) -> None:
        # The parameter `tree` makes flake8 run this plugin once for each file.
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
        # In flake8's configuration file the value is a single string.
        cls.config = [given] if isinstance(given, str) else list(given)
        if multiprocessing.parent_process() is None:
            _begin_session()

    def run(self) -> Iterator[Tuple[int, int, str, type]]:
        if self.filename in ("-", "stdin") or not os.path.isfile(self.filename):
            return
        found = _findings_of_file(os.path.abspath(self.filename), self.config)
        if found and not self._is_saved():
            # The text of an editor differs from the analysed file, so lines of findings may be wrong.
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
            # flake8 falls back to another encoding, and reports that itself.
            return True
        return _normalise("".join(self.lines)) == _normalise(saved)


def _normalise(text: str) -> str:
    """Returns the text with `\\n` as line ends and without a byte order mark."""
    return text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\ufeff")


def _begin_session() -> None:
    """Creates the folder that this run of flake8 shares with its workers, and puts it into the environment."""
    try:
        folder = tempfile.mkdtemp(prefix="blocklint-flake8-")
    except OSError:
        os.environ.pop(SESSION, None)
        return
    owner = os.getpid()
    os.environ[SESSION] = "{}:{}".format(owner, folder)

    def clean() -> None:
        # Forked workers run this handler too.
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(clean)


def _session_folder() -> Optional[str]:
    """Returns the shared folder of this run of flake8; None if it could not be created, or belongs to another run."""
    owner, _, folder = os.environ.get(SESSION, "").partition(":")
    parent = multiprocessing.parent_process()
    ours = (os.getpid(), parent.pid if parent else None)
    if not owner.isdigit() or int(owner) not in ours or not os.path.isdir(folder):
        return None
    return folder


#: The findings of each run in this process: (session folder, scope, config) → file → rows.
_RESULTS: Dict[Tuple[str, ...], Dict[str, List[Row]]] = {}


def _findings_of_file(path: str, config: List[str]) -> List[Row]:
    here = os.getcwd()
    # The files below the current folder are one project, as for `blocklint check`; another file belongs to its own.
    inside = path.startswith(os.path.join(here, ""))
    scope = here if inside else os.path.dirname(path)
    session = _session_folder()
    key = (session or "", scope, *config)
    if key not in _RESULTS:
        _RESULTS[key] = _group_by_file(_run_shared(session, scope, config))
    rows = _RESULTS[key].get(os.path.realpath(path), [])
    if "" in _RESULTS[key] and _reports_error_first(session, key):
        # The error is reported once, in the first file.
        rows = rows + _RESULTS[key][""]
    return rows


def _reports_error_first(session: Optional[str], key: Tuple[str, ...]) -> bool:
    if session is None:
        return _RESULTS[key].pop("", None) is not None
    with contextlib.suppress(OSError):
        os.close(os.open(os.path.join(session, "failed"), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        return True
    return False


def _group_by_file(output: Dict[str, Any]) -> Dict[str, List[Row]]:
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


def _run_shared(session: Optional[str], scope: str, config: List[str]) -> Dict[str, Any]:
    """Returns the output of the engine, which the first process runs and others read."""
    if session is None:
        return _run(scope, config)
    name = hashlib.sha256("\0".join([scope, *config]).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    result = os.path.join(session, name + ".json")
    try:
        with open(os.path.join(session, name + ".lock"), "a+b") as lock:
            _lock(lock)
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


def _lock(lock: Any) -> None:
    """Locks the file, and waits for other processes. The system releases the lock when its process ends, also after a crash."""
    if fcntl is not None:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return
    while True:
        try:
            msvcrt.locking(lock.fileno(), msvcrt.LK_LOCK, 1)
            return
        except OSError as error:
            # `LK_LOCK` gives up after ten seconds.
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
        messages = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return {"error": "; ".join(messages[:3]) or "exit code {}".format(done.returncode)}
    try:
        return {"findings": json.loads(done.stdout.decode("utf-8"))}
    except ValueError as error:
        return {"error": "its output cannot be read: {}".format(error)}
