"""The base of both commands for libcst's own tool: the whole project is looked at once, each file is then given its text."""

from __future__ import annotations

import argparse
import atexit
import json
import os
import shutil
import tempfile
import time
from typing import Dict

import libcst as cst
from libcst.codemod import CodemodCommand

from .project import Project
from .refusal import Refusal

# The folder in which the processes of one run share what the first of them found.
SHARED = "BLOCKLINT_CODEMOD_SHARED"


class FindingsCommand(CodemodCommand):
    NAME = ""
    _texts: Dict[str, str] = {}
    _known = False

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        # libcst asks this once, before it starts its processes.
        folder = os.environ[SHARED] = tempfile.mkdtemp()
        owner = os.getpid()
        atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == owner else None)

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        name = self.context.filename
        text = self._of_all().get(os.path.realpath(name)) if name else None
        return tree if text is None else cst.parse_module(text)

    @classmethod
    def _of_all(cls) -> Dict[str, str]:
        if not cls._known:
            cls._texts, cls._known = cls._shared(), True
        return cls._texts

    @classmethod
    def _shared(cls) -> Dict[str, str]:
        """One process looks at the project while the others wait: no file is written before all is known."""
        folder = os.environ.get(SHARED)
        if not folder:
            return cls._found(os.getcwd())
        path = os.path.join(folder, "texts.json")
        try:
            os.mkdir(os.path.join(folder, "begun"))
        except FileExistsError:
            while not os.path.exists(path):
                time.sleep(0.05)
            with open(path, encoding="utf-8") as stream:
                return json.load(stream)
        texts: Dict[str, str] = {}
        try:
            texts = cls._found(os.getcwd())
        finally:
            # Also where it failed: those that wait must not wait for ever.
            with open(f"{path}.new", "w", encoding="utf-8") as out:
                json.dump(texts, out)
            os.replace(f"{path}.new", path)
        return texts

    @classmethod
    def _found(cls, root: str) -> Dict[str, str]:
        """Returns the texts of all findings that can be mended together: each rests on the files as they are, so that two do not meet."""
        project = Project(root)
        texts: Dict[str, str] = {}
        for finding in project.mendable():
            try:
                mended = project.asyncify(finding) if cls.NAME == "asyncify" else project.offload(finding)
                if texts.keys() & mended.texts.keys():
                    continue
                project.prove(finding, mended)
            except Refusal:
                continue
            texts.update(mended.texts)
        return texts
