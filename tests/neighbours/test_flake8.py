"""The plugin in real flake8: what `blocklint check` finds, with one run of the engine, and flake8's own ways to choose."""

import glob
import os
import re
import stat
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from neighbours import SCRIPTS, Case

#: A package with dozens of findings.
PACKAGE = "appdaemon==4.5.13"

SERVICE = {
    "app/__init__.py": "",
    "app/store.py": "import time\n\n\ndef load():\n    time.sleep(1)\n",
    "app/main.py": (
        "import requests\n\nfrom app.store import load\n\n\n"
        "async def handler():\n    load()\n    requests.get('x', timeout=5)\n"
        "    load()  # noqa\n    load()  # noqa: BLT101\n    load()  # noqa: E501\n"
    ),
    "pyproject.toml": "[tool.blocklint]\n",
}


def places(text):
    """Returns `FILE:ROW:COLUMN: CODE` of each line of output that has it."""
    found = re.findall(r"^(?:\./)?(\S+:\d+:\d+: BLT\d+)", text, re.MULTILINE)
    return sorted(found)


class Flake8(Case):
    def flake8(self, *arguments, code=1, **environment):
        return self.run_in(["flake8", *arguments], code=code, **environment)

    def counting(self):
        """Replaces the binary by a script that counts its runs; returns the file with the counts."""
        real = SCRIPTS / "blocklint"
        counts = self.folder / "counts"
        folder = Path(tempfile.mkdtemp(prefix="neighbours-"))
        self.addCleanup(os.rmdir, folder)
        moved = folder / "blocklint"
        os.rename(real, moved)
        real.write_text('#!/bin/sh\necho run >> "{}"\nexec "{}" "$@"\n'.format(counts, moved))
        real.chmod(real.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)

        def back():
            os.replace(moved, real)

        self.addCleanup(back)
        return counts

    def test_a_real_package(self):
        given = os.environ.get("PACKAGE")
        if given:
            subprocess.run(["cp", "-r", given, str(self.folder / "package")], check=True)
        else:
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
            # The package is only unpacked; nothing of it is run.
            self.run_in([*pip, "download", "--no-deps", "--dest", "wheel", PACKAGE])
            self.run_in([sys.executable, "-m", "zipfile", "-e", *glob.glob(str(self.folder / "wheel/*.whl")), "package"])
        self.run_in(["blocklint", "check", "--output-format", "concise", "package"], code=1)
        expected = places(self.output)
        self.assertGreater(len(expected), 20)
        self.assertEqual(places(self.flake8("--jobs", "2", "--select", "BLT", "package")), expected)

    def test_one_run_of_the_engine_however_many_processes(self):
        self.write(SERVICE)
        self.write({"app/more{}.py".format(number): "import os\n" for number in range(40)})
        counts = self.counting()
        for jobs in ["1", "2", "4"]:
            counts.write_text("")
            found = places(self.flake8("--jobs", jobs, "--select", "BLT", "app"))
            self.assertEqual(len(found), 3, found)
            self.assertEqual(counts.read_text().split(), ["run"], "--jobs {}".format(jobs))

    def test_nothing_is_left_behind(self):
        self.write(SERVICE)
        self.write({"temporary/x": ""})
        self.flake8("--jobs", "2", "--select", "BLT", "app", TMPDIR=self.folder / "temporary")
        left = [path.name for path in (self.folder / "temporary").iterdir()]
        self.assertEqual([name for name in left if "blocklint" in name], [])

    def test_without_a_place_to_share_each_process_runs_for_itself(self):
        self.write(SERVICE)
        nowhere = "import tempfile; tempfile.mkdtemp = lambda *a, **k: (_ for _ in ()).throw(OSError())"
        self.write({"patch/sitecustomize.py": nowhere})
        found = places(self.flake8("--jobs", "1", "--select", "BLT", "app", PYTHONPATH=self.folder / "patch"))
        self.assertEqual(len(found), 3, found)

    def test_flake8_s_own_ways_to_choose(self):
        self.write(SERVICE)
        sleep, network, noqa_of_another = "app/main.py:7:5: BLT101", "app/main.py:8:5: BLT102", "app/main.py:11:5: BLT101"
        every = [noqa_of_another, sleep, network]
        self.assertEqual(places(self.flake8("app")), sorted(every), "a plugin that is installed is on")
        self.assertEqual(places(self.flake8("--select", "BLT102", "app")), [network])
        self.assertEqual(places(self.flake8("--select", "BLT1", "app")), sorted(every))
        self.assertEqual(places(self.flake8("--extend-ignore", "BLT101", "app")), [network])
        self.assertEqual(places(self.flake8("--extend-ignore", "BLT", "app", code=0)), [])
        self.assertEqual(places(self.flake8("--select", "E,F", "--extend-select", "BLT102", "app")), [network])
        self.assertEqual(places(self.flake8("--per-file-ignores", "app/main.py:BLT", "app", code=0)), [])
        self.assertEqual(places(self.flake8("--per-file-ignores", "app/*:BLT101", "app")), [network])
        self.write({".flake8": "[flake8]\nselect = BLT\nblocklint-config = select=['BLT102']\n"})
        self.assertEqual(places(self.flake8("app")), [network])

    def test_the_configuration_of_blocklint_holds(self):
        self.write(SERVICE)
        self.write({"pyproject.toml": "[tool.blocklint]\nignore = ['BLT101']\n"})
        self.assertEqual(places(self.flake8("app")), ["app/main.py:8:5: BLT102"])
        self.assertEqual(len(places(self.flake8("--blocklint-config", "select=['ALL']", "app"))), 3)

    def test_what_cannot_run_says_so_once(self):
        self.write(SERVICE)
        self.write({"pyproject.toml": "[tool.blocklint]\nslect = []\n"})
        for jobs in ["1", "2"]:
            said = self.flake8("--jobs", jobs, "--select", "BLT", "app")
            self.assertEqual(said.count("BLT900"), 1, said)
            self.assertIn("unknown key `slect`; did you mean `select`?", said)

    def test_a_text_that_is_not_saved_has_no_findings(self):
        self.write(SERVICE)
        command = [SCRIPTS / "flake8", "--select", "BLT", "--stdin-display-name", "app/main.py", "-"]
        for text, code in [(SERVICE["app/main.py"], 1), ("\n" + SERVICE["app/main.py"], 0)]:
            done = subprocess.run(command, cwd=self.folder, input=text.encode(), stdout=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, code, done.stdout)


if __name__ == "__main__":
    unittest.main()
