"""Tests of the parts of verify_python.py that do not run blocklint: `python -m unittest` in this folder. Its questions to libraries are
tested with the crate `blocklint_verify`."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import python_packages
import rotate
import verify_python


class Texts(unittest.TestCase):
    def test_braces(self) -> None:
        self.assertEqual(verify_python.expand("a.{b,c.{d,e}}.f"), ["a.b.f", "a.c.d.f", "a.c.e.f"])

    def test_requirements(self) -> None:
        self.assertEqual(verify_python.split_requirement("acme-stubs>=2,<3"), ("acme-stubs", ">=2,<3"))

    def test_versions(self) -> None:
        self.assertEqual(python_packages.version_of(Path("acme-1.2.3-py3-none-any.whl")), "1.2.3")
        self.assertEqual(python_packages.version_of(Path("acme-1.2.tar.gz")), "1.2")


class Archives(unittest.TestCase):
    def test_nothing_is_written_outside(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder) / "target"
            python_packages.write(target, "../outside.py", b"")
            python_packages.write(target, "/outside.py", b"")
            python_packages.write(target, "acme/inside.py", b"x = 1\n")
            self.assertEqual([p.name for p in Path(folder).rglob("*.py")], ["inside.py"])


class Rotation(unittest.TestCase):
    def test_every_model_comes_round(self) -> None:
        names = [f"m{n}" for n in range(23)]
        days = [rotate.chosen(names, 10, day) for day in range(100, 103)]
        self.assertEqual(sorted({name for day in days for name in day}), sorted(names))
        self.assertTrue(all(len(day) == 10 for day in days))

    def test_few_models_come_every_day(self) -> None:
        self.assertEqual(rotate.chosen(["a", "b"], 10, 7), ["a", "b"])


if __name__ == "__main__":
    unittest.main()
