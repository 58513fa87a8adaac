"""The script of the GitHub Action, as a runner calls it, out of a folder of wheels; and that workflows are sound."""

import json
import os
import shutil
import unittest
from pathlib import Path

from neighbours import REPOSITORY, Case


@unittest.skipUnless(os.environ.get("WHEELS"), "WHEELS names no folder with a wheel")
class Action(Case):
    def act(self, code=0, **inputs):
        shutil.copytree(REPOSITORY / "examples/service", self.folder / "service", dirs_exist_ok=True)
        outputs = self.folder / "outputs"
        outputs.write_text("")
        temporary = self.folder / "temporary"
        temporary.mkdir(exist_ok=True)
        given = {"INPUT_" + name.upper(): value for name, value in inputs.items()}
        given.setdefault("INPUT_WORKING_DIRECTORY", self.folder / "service")
        environment = {
            "RUNNER_TEMP": temporary,
            "GITHUB_OUTPUT": outputs,
            # Only the wheel may be installed.
            "PIP_FIND_LINKS": os.environ["WHEELS"],
            "PIP_NO_INDEX": "1",
            **given,
        }
        self.run_in(["bash", REPOSITORY / "ci/action"], code=code, **environment)
        return dict(line.split("=", 1) for line in outputs.read_text().splitlines())

    def test_a_log_for_code_scanning(self):
        said = self.act()
        self.assertEqual(said["found"], "true")
        log = json.loads(Path(said["sarif-file"]).read_text(encoding="utf-8"))
        self.assertEqual([result["ruleId"] for result in log["runs"][0]["results"]], ["BLT102"])

    def test_annotations(self):
        said = self.act(upload_sarif="false")
        self.assertEqual(said, {"found": "true", "sarif-file": ""})
        self.assertIn("::error title=blocklint (BLT102),file=", self.output)

    def test_inputs_are_lists_by_line(self):
        said = self.act(upload_sarif="false", paths="main.py\nrates.py\n", config="ignore=['BLT102']\n")
        self.assertEqual(said["found"], "false")
        self.assertEqual(self.act(upload_sarif="false", paths="rates.py")["found"], "false")
        self.assertEqual(self.act(upload_sarif="false", paths="rates.py", args="--trace-in-paths")["found"], "true")
        self.assertEqual(self.act(upload_sarif="false", min_severity="note", min_confidence="low")["found"], "true")

    def test_what_fails_fails(self):
        self.act(code=2, config="slect=[]")
        self.act(code=2, version="1; echo bad")
        self.act(code=1, version="99.0.0")


class Workflows(Case):
    def test_they_are_sound(self):
        paths = [REPOSITORY / ".github/workflows", REPOSITORY / "action.yml"]
        self.run_in(["zizmor", "--offline", "--persona", "pedantic", "--no-progress", *paths])

    def test_a_release_has_a_wheel_for_each_system(self):
        text = (REPOSITORY / ".github/workflows/release.yml").read_text(encoding="utf-8")
        for name in ["linux", "musllinux", "macos", "windows"]:
            for machine in ["x86_64", "aarch64"]:
                self.assertIn("name: {}-{},".format(name, machine), text)


if __name__ == "__main__":
    unittest.main()
