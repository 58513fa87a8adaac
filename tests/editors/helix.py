#!/usr/bin/env python3
"""Tries the Helix configuration of docs/editors.md in a real Helix, in a pseudo-terminal; takes some seconds.

Usage: helix.py BINARY [HELIX…]     HELIX is the command that starts it, `hx` where none is given. Needs pyte.

Helix shows a problem beside its line, and applies the preferred edit with the menu of code actions.
"""

import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

import pyte

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
ROWS, COLUMNS = 40, 160
SECONDS = 20


def configuration():
    """Returns the configuration from the documentation."""
    text = (REPOSITORY / "docs/editors.md").read_text()
    section = text.split("\n## Helix\n", 1)[1].split("\n## ", 1)[0]
    return section.split("```toml\n", 1)[1].split("```", 1)[0]


class Terminal:
    def __init__(self, command, folder, environment):
        self.screen = pyte.Screen(COLUMNS, ROWS)
        self.stream = pyte.ByteStream(self.screen)
        self.process, self.file = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

    def read(self, seconds):
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if select.select([self.file], [], [], left)[0]:
                try:
                    self.stream.feed(os.read(self.file, 65536))
                except OSError:
                    return

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def wait_for(self, what, holds):
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            self.read(0.2)
            if holds(self.text()):
                return
        self.end()
        sys.exit(f"not seen: {what}\n{self.text()}")

    def type(self, keys):
        os.write(self.file, keys.encode())

    def end(self):
        try:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    binary, helix = Path(sys.argv[1]).resolve(), sys.argv[2:] or ["hx"]
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        shop = work / "shop"
        shutil.copytree(REPOSITORY / "vscode-extension/tests/editor/workspace", shop)
        subprocess.run(["git", "init", "-q", shop], check=True)
        (work / "config/helix").mkdir(parents=True)
        (work / "config/helix/languages.toml").write_text(configuration())
        # Shows problems at the end of their lines.
        (work / "config/helix/config.toml").write_text('[editor]\nend-of-line-diagnostics = "hint"\n')
        (work / "bin").mkdir()
        (work / "bin/blocklint").symlink_to(binary)
        environment = {
            **os.environ,
            "HOME": str(work),
            "XDG_CONFIG_HOME": str(work / "config"),
            "XDG_CACHE_HOME": str(work / "cache"),
            "PATH": f"{work / 'bin'}:{os.environ['PATH']}",
            "TERM": "xterm-256color",
        }
        before = (shop / "app.py").read_text()
        terminal = Terminal([*helix, "app.py"], shop, environment)
        terminal.wait_for("a problem", lambda text: "BLT101" in text or "can hold the event loop" in text)
        print(terminal.text())
        # Jumps to the next problem, opens the menu of actions, chooses the first one (the preferred edit), and saves.
        terminal.type("]d")
        terminal.read(0.5)
        terminal.type(" a")
        terminal.wait_for("an action", lambda text: "asyncio.sleep" in text or "to_thread" in text)
        print(terminal.text())
        terminal.type("\r")
        terminal.read(1.0)
        terminal.type(":w\r")
        terminal.read(1.5)
        print(terminal.text())
        after = (shop / "app.py").read_text()
        terminal.type(":q!\r")
        terminal.read(0.5)
        terminal.end()
        if before == after:
            sys.exit("the edit was not applied")
    print("seen: a problem, its edit, and the problem gone")


if __name__ == "__main__":
    main()
