"""Tests of the build backend: the sentence that ends a build if Rust is missing or too old."""

import os
import re
import sys

from neighbours import REPOSITORY, Case

#: A program that asks the backend for its requirements; nothing is built.
MATURIN = (
    "build_editable = build_sdist = build_wheel = prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel = None\n"
    "def get_requires_for_build_wheel(settings):\n    return ['needed']\n\n\n"
    "get_requires_for_build_editable = get_requires_for_build_sdist = get_requires_for_build_wheel\n"
)


class BuildBackend(Case):
    def ask(self, code, cargo=None):
        """Returns the output of the backend when it is asked for requirements, with this version of cargo on the path."""
        self.write({"maturin.py": MATURIN, "bin/nothing": ""})
        if cargo is not None:
            self.write({"bin/cargo": "#!/bin/sh\necho 'cargo {} (0000000 2026-01-01)'\n".format(cargo)})
            (self.folder / "bin/cargo").chmod(0o755)
        ask = "import maturin_with_cargo as backend; print(backend.get_requires_for_build_wheel())"
        path = os.pathsep.join([str(REPOSITORY / "packaging"), str(self.folder)])
        self.run_in([sys.executable, "-c", ask], code=code, PATH=self.folder / "bin", PYTHONPATH=path)
        return self.output + self.errors

    def test_without_cargo_one_sentence_says_where_to_get_it(self):
        said = self.ask(1)
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertIn("cargo is not on the PATH: install Rust 1.", said)
        self.assertIn("https://rustup.rs", said)

    def test_an_old_rust_is_named(self):
        said = self.ask(1, cargo="1.70.0")
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertIn("does not compile with Rust 1.70: install Rust 1.", said)

    def test_a_build_says_how_long_it_takes(self):
        said = self.ask(0, cargo="1.999.0")
        self.assertIn("['needed']", said)
        how_long = re.search(r"takes (about .* of processor time)", said).group(1)
        self.assertIn("-->{}<!--".format(how_long), (REPOSITORY / "docs/speed.md").read_text(encoding="utf-8"))
