"""`pytest --blocklint` in real runs: asyncio, anyio, trio and unittest, several processes, and what blocklint reads of it."""

import json
import os
import subprocess
import sys

from neighbours import SCRIPTS, Case

STALL = 0.2

PROJECT = {
    "pyproject.toml": (
        "[tool.blocklint]\n[tool.pytest.ini_options]\npythonpath = ['src']\nasyncio_mode = 'auto'\n"
        "asyncio_default_fixture_loop_scope = 'function'\n"
    ),
    "src/shop/__init__.py": "",
    "src/shop/store.py": "import time\n\n\ndef load():\n    time.sleep({})\n".format(STALL),
    "src/shop/app.py": (
        "import asyncio\nfrom shop import store\n\n\nasync def handler():\n    store.load()\n\n\n"
        "async def calm():\n    await asyncio.sleep({})\n\n\nasync def foreign(callable):\n    callable()\n".format(2 * STALL)
    ),
}

#: The line of the blocking call in `handler`.
FOUND = "src/shop/app.py:6"

ASYNCIO = {"tests/test_app.py": "from shop import app\n\n\nasync def test_handler():\n    await app.handler()\n"}

#: Makes async tests run only with the plugin of their marker.
STRICT = ("-o", "asyncio_mode=strict")

ANYIO = {
    "tests/test_any.py": (
        "import pytest\nfrom shop import app\n\npytestmark = pytest.mark.anyio\n\n\n"
        "@pytest.fixture(params=['asyncio', 'trio'])\ndef anyio_backend(request):\n    return request.param\n\n\n"
        "async def test_any():\n    await app.handler()\n"
    )
}


class Pytest(Case):
    def pytest(self, *arguments, code=0, **environment):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
        return self.run_in(command, code=code, **environment)

    def evidence(self, *arguments):
        """Returns the stalls that a run writes as evidence."""
        self.pytest("--blocklint", "--blocklint-evidence", "evidence.json", *arguments)
        return json.loads((self.folder / "evidence.json").read_text())["stalls"]

    def test_a_stall_confirms_its_finding(self):
        self.write({**PROJECT, **ASYNCIO})
        said = self.pytest("--blocklint")
        self.assertRegex(said, r"confirmed, \d{3} ms: BLT101 " + FOUND)
        self.assertIn("    tests/test_app.py::test_handler", said)
        self.assertNotIn("not explained", said)

    def test_without_the_option_nothing_is_imported_and_nothing_said(self):
        look = "import sys\n\n\ndef test_it():\n    assert not [name for name in sys.modules if name.startswith('blocklint.pytest_plugin.')]\n"
        self.write({**PROJECT, **ASYNCIO, "tests/test_look.py": look})
        self.assertNotIn("blocklint", self.pytest())

    def test_anyio_runs_on_asyncio_and_trio(self):
        self.write({**PROJECT, **ANYIO})
        said = self.pytest("--blocklint", *STRICT)
        self.assertIn("confirmed", said)
        for backend in ("asyncio", "trio"):
            self.assertIn("tests/test_any.py::test_any[{}]".format(backend), said)

    def test_loops_are_told_apart(self):
        self.write({**PROJECT, **ANYIO})
        self.assertEqual(sorted({stall["loop"] for stall in self.evidence(*STRICT)}), ["asyncio", "trio"])

    def test_selectors_of_other_kinds(self):
        own = (
            "import asyncio, selectors\nfrom shop import app\n\n\n"
            "def run(selector):\n    loop = asyncio.SelectorEventLoop(selector)\n    try:\n        loop.run_until_complete(app.handler())\n"
            "        loop.run_until_complete(app.calm())\n    finally:\n        loop.close()\n\n\n"
            "class Further(selectors.DefaultSelector):\n    def select(self, timeout=None):\n        return super().select(timeout)\n\n\n"
            "def test_further():\n    run(Further())\n\n\n"
            "def test_own():\n    selector = selectors.DefaultSelector()\n    real = selector.select\n"
            "    selector.select = lambda timeout=None: real(timeout)\n    run(selector)\n\n\n"
            "def test_foreign():\n    selector = selectors.DefaultSelector()\n    fast = type('Fast', (), {'__slots__': ('of',)})()\n"
            "    fast.of = selector\n    type(fast).__getattr__ = lambda self, name: getattr(self.of, name)\n    run(fast)\n"
        )
        self.write({**PROJECT, "tests/test_selectors.py": own})
        # `calm` waits for longer than the threshold without a stall.
        expected = ["tests/test_selectors.py::test_" + name for name in ("foreign", "further", "own")]
        self.assertEqual([stall["test"] for stall in self.evidence()], expected)

    def test_loops_in_threads_and_one_that_runs_already(self):
        own = (
            "import asyncio, threading\nfrom shop import app\n\n\n"
            "def test_threads():\n    each = [threading.Thread(target=asyncio.run, args=(app.handler(),)) for _ in range(2)]\n"
            "    for thread in each:\n        thread.start()\n    for thread in each:\n        thread.join()\n\n\n"
            "async def test_twice():\n    try:\n        asyncio.get_running_loop().run_forever()\n    except RuntimeError:\n        pass\n"
            "    await app.handler()\n"
        )
        self.write({**PROJECT, "tests/test_loops.py": own})
        tests = [stall["test"].rpartition("::")[2] for stall in self.evidence()]
        self.assertEqual(tests, ["test_threads", "test_threads", "test_twice"])

    def test_nothing_stays_replaced(self):
        look = (
            "import asyncio, selectors\nkept = [asyncio.BaseEventLoop, selectors.DefaultSelector]\n"
            "before = [dict(vars(one)) for one in kept]\n\n\n"
            "def pytest_unconfigure(config):\n    assert [dict(vars(one)) for one in kept] == before\n    print('as before')\n"
        )
        self.write({**PROJECT, **ASYNCIO, "conftest.py": look})
        self.assertIn("as before", self.pytest("--blocklint", "-s"))

    def test_unittest_and_fixtures(self):
        self.write(PROJECT)
        case = "import unittest\nfrom shop import app\n\n\nclass Case(unittest.IsolatedAsyncioTestCase):\n    async def test_it(self):\n        await app.handler()\n"
        fixture = "import pytest\nfrom shop import app\n\n\n@pytest.fixture\nasync def slow():\n    await app.handler()\n    yield\n\n\nasync def test_slow(slow):\n    pass\n"
        self.write({"checks/test_case.py": case, "checks/test_fixture.py": fixture})
        said = self.pytest("--blocklint", "checks")
        self.assertIn("checks/test_case.py::Case::test_it", said)
        self.assertIn("checks/test_fixture.py::test_slow (setup)", said)

    def test_workers_tell_their_controller(self):
        self.write({**PROJECT, **ASYNCIO, **ANYIO})
        said = self.pytest("--blocklint", "-n", "2")
        self.assertIn("blocklint: 3 stalls of the event loop", said)
        self.assertIn("confirmed", said)

    def test_what_waits_is_no_stall(self):
        collects = (
            "import gc\nfrom shop import app\n\n\nasync def test_calm():\n    await app.calm()\n\n\n"
            "async def test_collects(monkeypatch):\n    import time\n    slow = lambda phase, info: phase == 'start' and time.sleep(0.3)\n"
            "    gc.callbacks.append(slow)\n    gc.collect()\n    gc.callbacks.remove(slow)\n"
        )
        self.write({**PROJECT, "tests/test_calm.py": collects})
        self.assertEqual([stall for stall in self.evidence() if stall["seconds"] > 0.15], [])

    def test_many_short_callbacks_are_no_stall(self):
        many = (
            "import asyncio, time\n\n\nasync def short():\n    end = time.perf_counter() + 0.001\n"
            "    while time.perf_counter() < end:\n        pass\n\n\n"
            "async def test_many():\n    await asyncio.gather(*[short() for _ in range(400)])\n"
        )
        self.write({**PROJECT, "tests/test_many.py": many})
        self.assertEqual([stall for stall in self.evidence() if stall["seconds"] > 0.3], [])

    def test_fail_counts_the_project_s_code_and_not_the_tests(self):
        own = "import time\n\n\nasync def test_own():\n    time.sleep({})\n".format(STALL)
        self.write({**PROJECT, **ASYNCIO, "tests/test_own.py": own})
        said = self.pytest("--blocklint", "--blocklint-fail", "tests/test_own.py")
        self.assertIn("in the tests' own code", said)
        self.assertNotIn("FAILED", said)
        last = self.pytest("--blocklint", "--blocklint-fail", code=1).splitlines()[-1]
        self.assertRegex(last, r"^FAILED by --blocklint-fail: the project's code stalled the event loop once, for up to \d{3} ms$")
        last = self.pytest("--blocklint", "--blocklint-fail", "-n", "2", code=1).splitlines()[-1]
        self.assertIn("stalled the event loop once", last)
        self.pytest("--blocklint", "--blocklint-fail", "--blocklint-threshold", "5000")
        self.pytest("--blocklint", "--blocklint-threshold", "nothing", code=4)
        self.pytest("--blocklint", "-o", "blocklint_threshold=0", code=4)

    def test_what_no_finding_explains_is_given_a_row(self):
        self.write({**PROJECT})
        library = "import time\n\n\nclass Client:\n    def fetch(self):\n        time.sleep({})\n".format(STALL)
        # A copy of the package in `site-packages`, as if it were installed.
        self.write({"site-packages/acme/__init__.py": "from acme._client import Client\n", "site-packages/acme/_client.py": library})
        test = "from shop import app\n\n\nasync def test_it():\n    from acme import Client\n\n    await app.foreign(Client().fetch)\n"
        self.write({"tests/test_it.py": test})
        said = self.pytest("--blocklint", PYTHONPATH=self.folder / "site-packages")
        self.assertRegex(said, r"not explained, \d{3} ms: src/shop/app.py:14 in foreign, in `acme.Client.fetch` of acme")
        start = said.index("schema = 1")
        row = "\n".join(line[8:] for line in said[start - 8 :].splitlines()[:7])
        self.assertTrue(row.endswith('path = "acme.Client.fetch"\neffect = "sleep"'), row)
        self.write({"acme.toml": row + "\n"})
        self.run_in(["blocklint", "models", "check", "acme.toml"])

    def test_findings_of_an_earlier_run(self):
        self.write({**PROJECT, **ASYNCIO})
        found = self.run_in(["blocklint", "check", "--output-format", "json", "--exit-zero"])
        self.write({"found.json": found, "wrong.json": "{}"})
        nowhere = "import blocklint\n\n\ndef nowhere():\n    raise FileNotFoundError('no binary')\n\n\nblocklint.find_blocklint_bin = nowhere\n"
        self.write({"conftest.py": nowhere})
        self.assertIn("confirmed", self.pytest("--blocklint", "--blocklint-findings", "found.json"))
        self.assertIn("this is not the output of", self.pytest("--blocklint", "--blocklint-findings", "wrong.json"))
        self.assertIn("blocklint could not run: no binary", self.pytest("--blocklint"))

    def test_blocklint_check_reads_the_evidence(self):
        self.write({**PROJECT, **ASYNCIO})
        self.evidence()
        found = json.loads(self.run_in(["blocklint", "check", "--evidence", "evidence.json", "--output-format", "json"], code=1))
        seen = [finding["confirmed"] for finding in found if finding["filename"].endswith("app.py")]
        self.assertEqual([(one["of"], one["times"], one["tests"]) for one in seen], [("call", 1, ["tests/test_app.py::test_handler"])])
        self.assertGreaterEqual(seen[0]["seconds"], STALL * 0.9)

    def test_asyncio_s_own_log(self):
        self.write({**PROJECT, "main.py": "import asyncio\nfrom shop import app\n\nasyncio.run(app.handler(), debug=True)\n"})
        command = [sys.executable, "main.py"]
        environment = {**os.environ, "PYTHONPATH": str(self.folder / "src")}
        done = subprocess.run(command, cwd=self.folder, env=environment, stderr=subprocess.PIPE, encoding="utf-8", check=True)
        self.write({"log.txt": done.stderr})
        said = self.run_in([SCRIPTS / "blocklint", "check", "--evidence", "log.txt"], code=1)
        self.assertIn("seen: its function held the thread for 2", said)
