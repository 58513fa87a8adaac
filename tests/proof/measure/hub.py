"""Measures how long a gunicorn worker with greenlets does not answer a liveness probe while it handles other requests.

    python hub.py FOLDER MODULE TARGET

Starts gunicorn with the folder's configuration, asks for TARGET from five threads at once and for `/live` all the while.
Prints the longest time that `/live` took, in milliseconds, and what TARGET answered, each answer once.
"""

import contextlib
import json
import socket
import subprocess
import sys
import threading
import time
import urllib.request

CALLERS = 5


def free_port() -> int:
    with contextlib.closing(socket.socket()) as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def ask(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.read().decode()


def wait_until_up(url: str, server: subprocess.Popen) -> None:
    ends = time.monotonic() + 30
    while time.monotonic() < ends:
        if server.poll() is not None:
            raise SystemExit("the server did not start")
        with contextlib.suppress(OSError):
            ask(url)
            return
        time.sleep(0.05)
    raise SystemExit("the server does not answer")


def measure(base: str, target: str) -> dict:
    ask(base + target)  # A first request, which opens connections.
    answers: list[str] = []
    longest, ends = 0.0, threading.Event()

    def probe() -> None:
        nonlocal longest
        while not ends.is_set():
            start = time.perf_counter()
            ask(base + "/live")
            longest = max(longest, time.perf_counter() - start)
            time.sleep(0.01)

    prober = threading.Thread(target=probe)
    prober.start()
    time.sleep(0.2)
    longest = 0.0
    callers = [threading.Thread(target=lambda: answers.append(ask(base + target))) for _ in range(CALLERS)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    ends.set()
    prober.join()
    return {"stall": longest * 1000, "answer": sorted(set(answers))}


def main(folder: str, module: str, target: str) -> None:
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", f"{module}:app"]
    server = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        base = f"http://127.0.0.1:{port}"
        wait_until_up(base + "/live", server)
        print(json.dumps(measure(base, target)))
    finally:
        server.terminate()
        server.wait(30)


if __name__ == "__main__":
    main(*sys.argv[1:])
