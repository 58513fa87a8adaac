"""The base class of the tests of this folder."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SCRIPTS = Path(sys.executable).parent


class Case(unittest.TestCase):
    """A test in a temporary folder that is a git repository."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="neighbours-")).resolve()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.run_in(["git", "init", "--quiet"])

    def write(self, files):
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def run_in(self, command, code=0, folder=None, **environment):
        """Runs a command in the test's folder and returns its output. `code=None` allows any exit code."""
        tool = SCRIPTS / command[0]
        if tool.exists():
            command = [str(tool), *command[1:]]
        done = subprocess.run(
            [str(part) for part in command],
            cwd=folder or self.folder,
            env={**os.environ, **{name: str(value) for name, value in environment.items()}},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            check=False,
        )
        self.output = done.stdout
        self.errors = done.stderr
        if code is not None:
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout
