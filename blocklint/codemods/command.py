"""What both commands for libcst's own tool share: the whole project is looked at once, each file is then given its text."""

from __future__ import annotations

import os
from typing import Dict

import libcst as cst
from libcst.codemod import CodemodCommand

from .project import Project
from .refusal import Refusal


class FindingsCommand(CodemodCommand):
    NAME = ""
    _texts: Dict[str, Dict[str, str]] = {}

    def transform_module(self, tree: cst.Module) -> cst.Module:
        name = self.context.filename
        root = os.getcwd()
        text = self._of(root).get(os.path.realpath(name)) if name else None
        return tree if text is None else cst.parse_module(text)

    @classmethod
    def _of(cls, root: str) -> Dict[str, str]:
        """The texts of all findings that can be mended together: each rests on the files as they are, so that two do not meet."""
        key = f"{cls.NAME} {root}"
        if key not in cls._texts:
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
            cls._texts[key] = texts
        return cls._texts[key]
