#!/usr/bin/env python3
"""Measures the claims of two keys, `thread` and `native`, in the rows of the standard library.

    measure_stdlib.py                    does a long call keep the interpreter's lock?     (`thread`)
    measure_stdlib.py --gevent           does it hold the hub of a patched program?        (`native`)

During each call a thread or a greenlet counts, and how often it gets to run shows if the call holds the lock or the hub. The exit code is 1 if a row says otherwise. Needs Python 3.11 or newer, Linux, and gevent for the second.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tomllib

from verify_stdlib import HERE, paths_of

Case = Callable[[], object]
# The duration of the calls under gevent, in seconds.
LENGTH = 0.4


def rows(folder: Path) -> dict[str, dict[str, Any]]:
    """Returns the first row with an effect that holds a thread, by path."""
    found: dict[str, dict[str, Any]] = {}
    for file in sorted(folder.glob("*.toml")):
        for row in tomllib.loads(file.read_text(encoding="utf-8")).get("call", []):
            if row.get("effect", "none") != "none":
                for path in paths_of(row):
                    found.setdefault(path, row)
    return found


def computations() -> dict[str, Case]:
    """Returns calls that compute for some tenths of a second."""
    import base64
    import bz2
    import gzip
    import hashlib
    import json
    import lzma
    import marshal
    import os
    import pickle
    import re
    import timeit
    import zlib
    from xml.etree import ElementTree

    noise = os.urandom(6_000_000)
    items = [{"a": number, "b": [1, 2, 3]} for number in range(400_000)]
    text, pickled, marshalled = json.dumps(items), pickle.dumps(items), marshal.dumps(items)
    document = "<a>" + "<b>1</b>" * 1_500_000 + "</a>"
    cases: dict[str, Case] = {
        "zlib.compress": lambda: zlib.compress(noise, 9),
        "gzip.compress": lambda: gzip.compress(noise, 9),
        "bz2.compress": lambda: bz2.compress(noise),
        "lzma.compress": lambda: lzma.compress(noise[:2_000_000]),
        "hashlib.sha256": lambda: hashlib.sha256(noise * 40),
        "hashlib.blake2b": lambda: hashlib.blake2b(noise * 40),
        "hashlib.sha3_256": lambda: hashlib.sha3_256(noise * 20),
        "hashlib.scrypt": lambda: hashlib.scrypt(b"a", salt=b"b", n=2**14, r=8, p=8),
        "hashlib.pbkdf2_hmac": lambda: hashlib.pbkdf2_hmac("sha256", b"a", b"b", 600_000),
        "pickle.dumps": lambda: pickle.dumps(items),
        "pickle.loads": lambda: pickle.loads(pickled),
        "marshal.loads": lambda: marshal.loads(marshalled),
        "json.dumps": lambda: json.dumps(items),
        "json.loads": lambda: json.loads(text),
        "base64.b64encode": lambda: base64.b64encode(noise * 20),
        "base64.b85encode": lambda: base64.b85encode(noise[:2_000_000]),
        "re.search": lambda: re.search("(a+)+b", "a" * 24),
        "xml.etree.ElementTree.fromstring": lambda: ElementTree.fromstring(document),
        "timeit.timeit": lambda: timeit.timeit("x = 1", number=20_000_000),
    }
    if sys.version_info < (3, 13):
        import crypt

        cases["crypt.crypt"] = lambda: crypt.crypt("a", "$6$rounds=900000$abc$")
    return cases


def waits() -> dict[str, Case]:
    """Returns calls that wait, created after gevent has patched the standard library."""
    import concurrent.futures
    import ctypes
    import fcntl
    import multiprocessing
    import os
    import queue
    import select
    import selectors
    import signal
    import socket
    import sqlite3
    import subprocess
    import tempfile

    command = ["sleep", str(LENGTH)]
    libc = ctypes.CDLL(None)
    fork = multiprocessing.get_context("fork")

    def pause() -> None:
        libc.usleep(int(LENGTH * 1e6))

    def child(work: Case = lambda: None) -> int:
        pid = os.fork()
        if pid == 0:
            pause()
            work()
            os._exit(0)
        return pid

    def waitpid() -> None:
        process = subprocess.Popen(command)
        os.waitpid(process.pid, 0)

    def flock() -> None:
        with tempfile.NamedTemporaryFile() as file:
            subprocess.Popen(["flock", file.name, "sleep", str(LENGTH + 0.1)])
            time.sleep(0.1)
            fcntl.flock(file, fcntl.LOCK_EX)

    def read() -> None:
        reader, writer = os.pipe()
        child(lambda: os.write(writer, b"a"))
        os.read(reader, 1)

    def received() -> None:
        queued: multiprocessing.queues.SimpleQueue[int] = multiprocessing.SimpleQueue()
        child(lambda: queued.put(1))
        queued.get()

    def acquire() -> None:
        lock = multiprocessing.Lock()
        lock.acquire()
        lock.acquire(timeout=LENGTH)

    def join() -> None:
        process = fork.Process(target=pause)
        process.start()
        process.join()

    def locked() -> None:
        with tempfile.TemporaryDirectory() as folder:
            holder = sqlite3.connect(folder + "/a", isolation_level=None)
            holder.execute("create table a (b)")
            holder.execute("begin exclusive")
            sqlite3.connect(folder + "/a", timeout=LENGTH).execute("insert into a values (1)")

    def accept() -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(LENGTH)
            server.accept()

    return {
        "time.sleep": lambda: time.sleep(LENGTH),
        "os.system": lambda: os.system(" ".join(command)),
        "subprocess.run": lambda: subprocess.run(command, check=True),
        "subprocess.Popen.wait": lambda: subprocess.Popen(command).wait(),
        "os.waitpid": waitpid,
        "os.wait": lambda: (child(), os.wait()),
        "os.wait4": lambda: os.wait4(child(), 0),
        "os.waitid": lambda: os.waitid(os.P_PID, child(), os.WEXITED),
        "os.read": read,
        "fcntl.flock": flock,
        "signal.sigtimedwait": lambda: signal.sigtimedwait([signal.SIGUSR1], LENGTH),
        "threading.Event.wait": lambda: threading.Event().wait(LENGTH),
        "queue.Queue.get": lambda: queue.Queue().get(timeout=LENGTH),
        "queue.SimpleQueue.get": lambda: queue.SimpleQueue().get(timeout=LENGTH),
        "select.select": lambda: select.select([], [], [], LENGTH),
        "selectors.BaseSelector.select": lambda: selectors.DefaultSelector().select(LENGTH),
        "concurrent.futures.Future.result": lambda: (
            concurrent.futures.ThreadPoolExecutor().submit(time.sleep, LENGTH).result()
        ),
        "socket.socket.accept": accept,
        "multiprocessing.queues.SimpleQueue.get": received,
        "multiprocessing.synchronize.Event.wait": lambda: multiprocessing.Event().wait(LENGTH),
        "multiprocessing.synchronize.Lock.acquire": acquire,
        "multiprocessing.process.BaseProcess.join": join,
        "sqlite3.Connection.execute": locked,
    }


def call(case: Case) -> float:
    """Returns the seconds that a call takes, also if it fails."""
    start = time.perf_counter()
    try:
        case()
    except (OSError, ValueError, RuntimeError) as error:
        print(f"    {error!r}")
    except Exception as error:  # Timeouts such as `queue.Empty` and `sqlite3.OperationalError` are expected.
        if type(error).__name__ not in {"Empty", "OperationalError"}:
            raise
    return time.perf_counter() - start


def beside_thread(case: Case) -> tuple[float, float]:
    """Returns the seconds of a call, and the longest time for which another thread did not run."""
    longest, running = 0.0, True

    def count() -> None:
        nonlocal longest
        last = time.perf_counter()
        while running:
            time.sleep(0.001)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now

    beside = threading.Thread(target=count)
    beside.start()
    time.sleep(0.02)
    longest = 0.0
    length = call(case)
    running = False
    beside.join()
    return length, longest


def beside_greenlet(case: Case) -> tuple[float, float]:
    """Returns the seconds of a call, and the longest time for which another greenlet did not run."""
    import gevent

    longest, last = 0.0, time.perf_counter()

    def count() -> None:
        nonlocal longest, last
        while True:
            gevent.sleep(0.01)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now

    beside = gevent.spawn(count)
    gevent.sleep(0.03)
    longest = 0.0
    length = call(case)
    longest = max(longest, time.perf_counter() - last)
    beside.kill()
    return length, longest


def main() -> int:
    """Measures all calls and compares the results with the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, default=HERE / "python/stdlib", help="the folder with the models")
    parser.add_argument("--gevent", action="store_true", help="measure under gevent")
    options = parser.parse_args()
    said = rows(options.models)
    wrong = 0
    cases = waits() if options.gevent else computations()
    for path, case in cases.items():
        length, still = (beside_greenlet if options.gevent else beside_thread)(case)
        holds = still > length / 2
        row = said[path]
        claimed = row.get("native", False) if options.gevent else row["thread"] == "holds-gil"
        wrong += holds != claimed
        verdict = "" if holds == claimed else ", and the row says otherwise"
        print(f"{path}: {length:.2f} s, of which {still:.2f} s in one piece: {'holds' if holds else 'frees'}{verdict}")
    print(f"{len(cases)} calls, {wrong} rows wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    if "--gevent" in sys.argv:
        from gevent import monkey

        monkey.patch_all()
    sys.exit(main())
