"""Tests of the files for CI services besides the GitHub Action: the component for GitLab is run as its server would, and the Dockerfile is linted."""

import json
import os
import re
import shutil
import stat
import tomllib
import unittest

import yaml
from neighbours import REPOSITORY, SCRIPTS, Case

VERSION = tomllib.loads((REPOSITORY / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]


class Component(Case):
    def job(self, **inputs):
        """Returns the job with its inputs in their places, as GitLab puts them there."""
        text = (REPOSITORY / "templates/blocklint.yml").read_text(encoding="utf-8")
        header, body = text.split("\n---\n")
        known = yaml.safe_load(header)["spec"]["inputs"]
        self.assertLessEqual(set(inputs), set(known))
        values = {name: inputs.get(name, of["default"]) for name, of in known.items()}
        body = re.sub(r"\$\[\[ inputs\.([a-z-]+) \]\]", lambda found: values[found[1]], body)
        self.assertNotIn("$[[", body)
        (name, job), = yaml.safe_load(body).items()
        self.assertEqual(name, values["job-name"])
        return job

    def run_job(self, code, **inputs):
        shutil.copytree(REPOSITORY / "examples/service", self.folder, dirs_exist_ok=True)
        # The step that installs from the index is left out; the installed binary is run.
        pip = self.folder / "bin/pip"
        pip.parent.mkdir(exist_ok=True)
        pip.write_text('#!/bin/sh\necho "$@" > pip-was-asked\n')
        pip.chmod(pip.stat().st_mode | stat.S_IXUSR)
        job = self.job(**inputs)
        script = "set -e\n" + "\n".join(job["script"])
        self.run_in(["sh", "-c", script], code=code, PATH=f"{pip.parent}:{SCRIPTS}:{os.environ['PATH']}")
        asked = (self.folder / "pip-was-asked").read_text()
        self.assertIn(f"blocklint-async=={inputs.get('version', VERSION)}", asked)
        return json.loads((self.folder / job["artifacts"]["reports"]["codequality"]).read_text(encoding="utf-8"))

    def test_the_job_reports_and_fails(self):
        report = self.run_job(1)
        self.assertEqual([issue["check_name"] for issue in report], ["BLT102"])

    def test_inputs_are_heard(self):
        self.assertEqual(self.run_job(0, args="--ignore BLT102", version="0.0.9"), [])
        self.assertEqual(self.run_job(0, paths="rates.py pricing.py"), [])
        self.assertEqual(self.job(stage="lint", image="x")["stage"], "lint")


class Image(Case):
    def test_the_recipe_is_sound(self):
        self.run_in(["hadolint", REPOSITORY / "Dockerfile"])

    def test_it_has_this_version(self):
        recipe = (REPOSITORY / "Dockerfile").read_text(encoding="utf-8")
        self.assertIn(f"ARG VERSION={VERSION}\n", recipe)


if __name__ == "__main__":
    unittest.main()
