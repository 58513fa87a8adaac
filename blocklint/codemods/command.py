"""The base class of the commands for libcst's tool. It edits the whole project once, and then returns each file's new text."""

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

# The environment variable with the folder in which the processes of a run share the result of the first one.
SHARED = "BLOCKLINT_CODEMOD_SHARED"


class FindingsCommand(CodemodCommand):
    NAME = ""
    _texts: Dict[str, str] = {}
    _known = False

    @staticmethod
    def add_args(arg_parser: argparse.ArgumentParser) -> None:
        # libcst calls this once, before it starts its worker processes.
        folder = os.environ[SHARED] = tempfile.mkdtemp()
        owner = os.getpid()
        atexit.register(lambda: shutil.rmtree(folder, ignore_errors=True) if os.getpid() == owner else None)

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        name = self.context.filename
        text = self._all_texts().get(os.path.realpath(name)) if name else None
        return tree if text is None else cst.parse_module(text)

    @classmethod
    def _all_texts(cls) -> Dict[str, str]:
        if not cls._known:
            cls._texts, cls._known = cls._compute_once(), True
        return cls._texts

    @classmethod
    def _compute_once(cls) -> Dict[str, str]:
        """Returns the new texts, which one process computes while the others wait, so that no file is written before."""
        folder = os.environ.get(SHARED)
        if not folder:
            return cls._compute_texts(os.getcwd())
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
            texts = cls._compute_texts(os.getcwd())
        finally:
            # After a failure an empty result is written, so that the other processes do not wait for ever.
            with open(f"{path}.new", "w", encoding="utf-8") as out:
                json.dump(texts, out)
            os.replace(f"{path}.new", path)
        return texts

    @classmethod
    def _compute_texts(cls, root: str) -> Dict[str, str]:
        """Returns the new texts for all findings that can be fixed together. Findings whose edits share a file with an earlier one are left out."""
        project = Project(root)
        texts: Dict[str, str] = {}
        for finding in project.fixable_findings():
            try:
                result = project.asyncify(finding) if cls.NAME == "asyncify" else project.offload(finding)
                if texts.keys() & result.texts.keys():
                    continue
                project.prove(finding, result)
            except Refusal:
                continue
            texts.update(result.texts)
        return texts
