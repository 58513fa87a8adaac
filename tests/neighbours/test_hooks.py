"""Both hooks, through pre-commit and prek, out of a wheel: nothing is compiled. `WHEELS` is the folder with the wheel."""

import os
import shutil
import unittest
from pathlib import Path

from neighbours import REPOSITORY, Case

#: A package that installs the built wheel, in place of a release.
READY = {
    "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "ready"\nbackend-path = ["."]\n',
    "ready.py": (
        "import glob, os, shutil\n\n\n"
        "def build_wheel(folder, *_):\n    return os.path.basename(shutil.copy(glob.glob('*.whl')[0], folder))\n"
    ),
}


@unittest.skipUnless(os.environ.get("WHEELS"), "WHEELS names no folder with a wheel")
class Hooks(Case):
    def setUp(self):
        super().setUp()
        self.hooks = self.folder / "hooks"
        self.hooks.mkdir()
        for wheel in Path(os.environ["WHEELS"]).glob("*.whl"):
            shutil.copy(wheel, self.hooks)
        shutil.copy(REPOSITORY / ".pre-commit-hooks.yaml", self.hooks)
        self.write({"hooks/" + name: text for name, text in READY.items()})
        self.commit(self.hooks)
        self.service = self.folder / "service"
        shutil.copytree(REPOSITORY / "examples/service", self.service)
        self.commit(self.service)

    def commit(self, folder):
        for command in [
            ["git", "init", "--quiet"],
            ["git", "add", "--force", "."],
            ["git", "-c", "user.name=ci", "-c", "user.email=ci@localhost", "commit", "--quiet", "--message", "All"],
        ]:
            self.run_in(command, folder=folder)

    def try_hook(self, tool, hook, *files, code=1):
        homes = {"PRE_COMMIT_HOME": self.folder / "pre-commit", "PREK_HOME": self.folder / "prek"}
        # Cargo is not on the path, so a hook that compiles would fail.
        folders = os.environ["PATH"].split(os.pathsep)
        without = os.pathsep.join(folder for folder in folders if not (Path(folder) / "cargo").exists())
        command = [tool, "try-repo", self.hooks, hook, "--ref", "HEAD", *files]
        self.run_in(command, code=code, folder=self.service, PATH=without, **homes)
        return self.output + self.errors

    def test_both_hooks_in_both_tools(self):
        for tool in ["pre-commit", "prek"]:
            with self.subTest(tool=tool):
                # The hook gets the file with the cause; the finding is in another one.
                self.assertIn("--> main.py:22:17", self.try_hook(tool, "blocklint", "--files", "rates.py"))
                self.assertIn("--> main.py:22:17", self.try_hook(tool, "blocklint-project", "--all-files"))
                # The hook gets a file that is not on the path of the finding.
                shutil.copy(self.service / "main.py", self.folder / "main.py")
                self.try_hook(tool, "blocklint", "--files", "currencies.py", code=0)


if __name__ == "__main__":
    unittest.main()
