"""Tests with real ruff: its checks of comments keep those of blocklint, and programs that read its JSON read blocklint's."""

import json
import re
import unittest

from neighbours import REPOSITORY, Case

TEXT = """import time


async def handler():
    time.sleep(1)  # noqa: BLT101
    time.sleep(1)  # noqa: ASYNC251, BLT101
    time.sleep(1)  # blocklint: ignore[BLT101] why
"""


class Ruff(Case):
    def ruff(self, settings, *arguments, code=None):
        self.write({"ruff.toml": settings, "main.py": TEXT})
        return self.run_in(["ruff", "check", "--no-cache", "--output-format", "concise", *arguments, "main.py"], code=code)

    def fixed(self):
        return (self.folder / "main.py").read_text()

    def test_without_the_setting_ruff_takes_codes_away(self):
        """If this fails, the page docs/ruff.md can be shorter."""
        out = self.ruff('lint.select = ["RUF100", "RUF102"]\n')
        self.assertIn("RUF102", out)
        self.ruff('lint.select = ["RUF100", "RUF102"]\n', "--fix")
        self.assertNotIn("noqa: BLT101", self.fixed())
        self.assertIn("# blocklint: ignore[BLT101] why", self.fixed(), "blocklint's own form is left alone")

    def test_with_the_setting_it_leaves_them(self):
        settings = 'lint.external = ["BLT"]\nlint.select = ["RUF100", "RUF102", "ASYNC2"]\nlint.ignore = ["ASYNC251"]\n'
        self.assertNotIn("RUF102", self.ruff(settings))
        self.ruff(settings, "--fix")
        # Ruff removes its own unused code, and keeps that of blocklint.
        self.assertEqual(self.fixed().count("# noqa: BLT101"), 2, self.fixed())
        self.assertIn("# blocklint: ignore[BLT101] why", self.fixed())

    def test_one_of_the_two_speaks(self):
        text = "import time\n\n\nasync def handler():\n    time.sleep(1)\n"
        self.write({"a.py": text, "ruff.toml": 'lint.select = ["ASYNC"]\n'})
        self.assertIn("ASYNC251", self.run_in(["ruff", "check", "--no-cache", "a.py"], code=1))
        self.write({"ruff.toml": 'lint.select = ["ASYNC"]\nlint.ignore = ["ASYNC2"]\nlint.external = ["BLT"]\n'})
        self.run_in(["ruff", "check", "--no-cache", "a.py"], code=0)
        self.assertIn("BLT101", self.run_in(["blocklint", "check", "a.py"], code=1))

    def test_what_ruff_keeps_is_kept(self):
        """No comment hides a finding here that the same comment leaves in ruff; blocklint's own codes apart."""
        document = (REPOSITORY / "tests/fixtures/python/noqa.md").read_text(encoding="utf-8")
        blocks = re.findall(r"^```py\n(.*?)^```", document, re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 5)
        for block in blocks:
            self.write({"a.py": block, "ruff.toml": 'lint.select = ["ASYNC251"]\n'})
            theirs = self.run_in(["ruff", "check", "--no-cache", "--output-format", "concise", "--exit-zero", "a.py"])
            ours = self.run_in(["blocklint", "check", "--select", "BLT101", "--output-format", "concise", "--exit-zero", "a.py"])
            kept, found = (set(re.findall(r"^a\.py:(\d+):\d+: (?:ASYNC251|BLT101)", out, re.MULTILINE)) for out in [theirs, ours])
            lines = block.splitlines()
            own = {row for row in kept if "BLT" in "".join(lines[int(row) - 1 : int(row) + 1])}
            self.assertEqual(kept - found - own, set(), block)

    def test_the_table_names_the_codes_that_ruff_has(self):
        rules = json.loads(self.run_in(["ruff", "rule", "--all", "--output-format", "json"]))
        real = {rule["code"]: rule["name"] for rule in rules if (rule["code"] or "").startswith("ASYNC")}
        written = {}
        for line in (REPOSITORY / "docs/ruff.md").read_text(encoding="utf-8").splitlines():
            cells = [cell.strip() for cell in line.split("|")]
            if len(cells) > 3 and cells[1].startswith("ASYNC") and cells[2] != "–":
                written[cells[1]] = cells[2].strip("`")
        self.assertEqual(written, real)

    def test_what_reads_its_json_reads_ours(self):
        self.write({"a.py": "import time\n\n\nasync def handler():\n    time.sleep(1)\n", "ruff.toml": 'lint.select = ["ASYNC251"]\n'})
        [theirs] = json.loads(self.run_in(["ruff", "check", "--no-cache", "--output-format", "json", "a.py"], code=1))
        [ours] = json.loads(self.run_in(["blocklint", "check", "--output-format", "json", "a.py"], code=1))
        self.assertEqual(set(theirs) - set(ours), set(), "a key of ruff's that is missing here")
        for key in ["filename", "noqa_row", "cell"]:
            self.assertEqual(theirs[key], ours[key], key)
        self.assertEqual(theirs["location"]["row"], ours["location"]["row"])
        self.assertEqual(set(theirs["location"]), set(ours["location"]))
        fix = {"applicability", "edits", "message"}
        self.assertEqual(set(ours["fix"]), fix)
        self.assertEqual(set(ours["fix"]["edits"][0]), {"content", "end_location", "filename", "location"})


if __name__ == "__main__":
    unittest.main()
