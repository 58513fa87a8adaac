"""Tests with real reviewdog: it reads the output with suggestions, and shows new findings of a change."""

import shutil
import subprocess
import unittest

from neighbours import REPOSITORY, Case

SLEEP = "\n\nasync def more():\n    import time; time.sleep(3)\n"


@unittest.skipUnless(shutil.which("reviewdog"), "reviewdog is not installed")
class Reviewdog(Case):
    def setUp(self):
        super().setUp()
        shutil.copytree(REPOSITORY / "examples/service", self.folder, dirs_exist_ok=True)
        self.run_in(["git", "add", "-A"])
        self.run_in(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message", "x"])

    def shown(self, form, *arguments, code=0):
        found = self.run_in(["blocklint", "check", "--no-cache", "--exit-zero", "--output-format", form])
        read = ["reviewdog", f"-f={form}", "-name=blocklint", "-reporter=local", *arguments]
        done = subprocess.run(read, cwd=self.folder, input=found, capture_output=True, encoding="utf-8", check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def test_both_formats_are_read(self):
        said = self.shown("rdjson", "-filter-mode=nofilter")
        for part in ['path:"main.py"', "start:{line:22 column:17}", "severity:ERROR", 'value:"BLT102"', "suggestions:"]:
            self.assertIn(part, said)
        self.assertIn('"ruleId":"BLT102"', self.shown("sarif", "-filter-mode=nofilter"))
        self.shown("rdjson", "-filter-mode=nofilter", "-fail-level=any", code=1)

    def test_lines_of_a_change_alone(self):
        main = self.folder / "main.py"
        main.write_text(main.read_text(encoding="utf-8") + SLEEP, encoding="utf-8")
        said = self.shown("rdjson", "-filter-mode=added", "-diff=git diff HEAD")
        self.assertEqual((said.count("BLT101"), said.count("BLT102")), (1, 0), said)
