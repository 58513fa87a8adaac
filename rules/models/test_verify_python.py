"""Tests of verify_python.py on small packages that are written for them: `python -m unittest` in this folder."""

from __future__ import annotations

import tempfile
import tomllib
import unittest
from pathlib import Path

import pyx_outline
import verify_python
from python_sources import Sources

FILES = {
    "acme/__init__.py": """
from .core import *
from .core import Client as Old
from . import lazy
def helper(path, mode="r", *, timeout=None): ...
""",
    "acme/core.py": """
import abc
from contextlib import contextmanager
from other import Unknown
class Base(abc.ABC):
    def close(self, wait=True): ...
class Client(Base):
    limit: int = 3
    def __init__(self, url, key=None):
        self.session = Session()
    def get(self, path, timeout=None): ...
    @property
    def text(self): ...
    def pages(self):
        yield 1
    @contextmanager
    def open(self):
        yield
class AsyncClient(Base):
    async def get(self, path): ...
    def post(self, path):
        return self.get(path)
class Session: ...
class Child(Unknown): ...
""",
    "acme/lazy.pyi": "class Stub:\n    def run(self, job: str) -> None: ...\n",
    "acme/fast.pyx": "cdef class Table:\n    cdef public int rows\n    def read(self, object source,\n             int limit=3):\n        pass\n",
}


class Rows(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        root = Path(self.folder.name)
        for name, text in FILES.items():
            file = root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.sources = Sources([root])

    def tearDown(self) -> None:
        self.folder.cleanup()

    def problems(self, rows: str) -> list[str]:
        document = tomllib.loads(rows)
        result = verify_python.Result(Path("acme.toml"))
        checker = verify_python.Checker(result, document, self.sources)
        for table in verify_python.TABLES:
            for row in document.get(table, []):
                checker.row(table, row, 1)
        return [problem.split(": ", 1)[1] for problem in result.problems]

    def test_what_holds_is_silent(self) -> None:
        rows = """
            [[call]]
            path = ["acme.Client.{get,close}", "acme.Old.close", "acme.lazy.Stub.run", "acme.fast.Table.read"]
            effect = "network"
            [[call]]
            path = "acme.helper"
            effect = "file"
            timeout = "timeout"
            unless = { argument = "mode@1", equals = "w" }
            [[call]]
            path = "acme.AsyncClient.{get,post}"
            async = true
            [[call]]
            path = "acme.Client.pages"
            effect = "network"
            lazy = true
            [[call]]
            path = "acme.Client.text"
            property = true
            effect = "network"
            [[type]]
            path = "acme.Client"
            bases = ["acme.core.Base"]
            fields = { session = "acme.core.Session", limit = "builtins.int" }
            [[call]]
            path = "acme.Client.<answer>.read"
            effect = "network"
        """
        self.assertEqual(self.problems(rows), [])

    def test_what_does_not_hold_is_told(self) -> None:
        rows = """
            [[call]]
            path = "acme.Client.fetch"
            effect = "network"
            [[call]]
            path = "acme.AsyncClient.get"
            effect = "network"
            [[call]]
            path = "acme.Client.get"
            async = true
            [[call]]
            path = "acme.Client.text"
            effect = "network"
            [[call]]
            path = "acme.Client.pages"
            effect = "network"
            [[call]]
            path = "acme.Client.open"
            effect = "file"
            [[call]]
            path = "acme.helper"
            effect = "file"
            timeout = "timeout@2"
            unless = { argument = "encoding", absent = true }
            [[call]]
            path = "acme.Child.run"
            effect = "file"
            [[type]]
            path = "acme.Client"
            bases = ["acme.core.Session"]
            fields = { cookies = "builtins.dict" }
        """
        self.assertEqual(
            self.problems(rows),
            [
                "acme.Client.fetch: `acme.Client` has no `fetch`",
                "acme.AsyncClient.get: is a coroutine function",
                "acme.Client.get: is not seen to give something to await",
                "acme.Client.text: is a property; say `property = true`",
                "acme.Client.pages: is a generator function: say `lazy = true`",
                "acme.Client.open: is a context manager: the effect is that of entering it",
                "acme.helper: `timeout` is keyword only, not 2",
                "acme.helper: has no parameter `encoding` (path, mode, timeout)",
                "acme.Child.run: leads to `other.Unknown.run`, which is not at hand; give its package with --also",
                "acme.Client: does not derive from `acme.core.Session`",
                "acme.Client: has no field `cookies`",
            ],
        )

    def test_twins_take_the_same_arguments(self) -> None:
        rows = '[[call]]\npath = "acme.Client.get"\neffect = "network"\ninstead = "acme.AsyncClient.*"\n'
        self.assertEqual(
            self.problems(rows), ["acme.Client.get: twin `acme.AsyncClient.get` has no parameter `timeout`"]
        )

    def test_a_glob_covers_no_coroutine_function(self) -> None:
        rows = '[[call]]\npath = "acme.AsyncClient.*"\neffect = "network"\n'
        self.assertEqual(
            self.problems(rows), ["acme.AsyncClient.*: covers the coroutine function `acme.AsyncClient.get`"]
        )


class Texts(unittest.TestCase):
    def test_braces(self) -> None:
        self.assertEqual(verify_python.expand("a.{b,c.{d,e}}.f"), ["a.b.f", "a.c.d.f", "a.c.e.f"])

    def test_ranges(self) -> None:
        self.assertTrue(verify_python.within("3.0", ">=3,<4"))
        self.assertFalse(verify_python.within("20.1.2", "<20"))

    def test_cython(self) -> None:
        text = "cdef class A(B):\n    def f(self, int a, b=(1, 2), *args):\n        pass\n"
        self.assertIn("def f(self, a, b=None, *args):", pyx_outline.outline(text, Path()))


if __name__ == "__main__":
    unittest.main()
