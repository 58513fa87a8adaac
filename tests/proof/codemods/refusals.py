#!/usr/bin/env python3
"""Tests of programs that asyncify must refuse, each with the kind and the line of the refusal: `refusals.py --python P --blocklint B`.

The line of a program with `# here` is the place.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

HELPER = """
import time
def helper():
    time.sleep(1)
async def root():
    helper()
"""

PROGRAMS = {
    "sync-caller": HELPER + "def other():  # here\n    helper()\n",
    "module-level": HELPER + "VALUE = helper()  # here\n",
    "passed-on": HELPER + "def register(f): ...\nregister(helper)  # here\n",
    "dynamic": HELPER + "import sys\nasync def late():\n    getattr(sys.modules[__name__], 'helper')()  # here\n",
    "public": HELPER + "__all__ = ['helper']  # here\n",
    "lambda": HELPER + "async def later():\n    return lambda: helper()  # here\n",
    "generator-expression": HELPER + "async def later():\n    return any(helper() for _ in range(3))  # here\n",
    "init": HELPER + "class A:\n    def __init__(self):\n        helper()  # here\n",
    "decorator": """
import time
def logged(function):
    return lambda: print(function())
@logged  # here
def helper():
    time.sleep(1)
async def root():
    helper()
""",
    "property": """
import time
class A:
    @property
    def helper(self):  # here
        self.wait()
    def wait(self):
        time.sleep(1)
async def root():
    a = A()
    a.wait()
    a.helper
""",
    "dunder": """
import time
class A:
    def __len__(self):  # here
        helper()
        return 1
def helper():
    time.sleep(1)
async def root():
    helper()
""",
    "contract-outside": """
import time
import socketserver_of_others
class A(socketserver_of_others.Handler):  # here
    def handle(self):
        time.sleep(1)
async def root():
    a = A()
    a.handle()
""",
    "unknown-receiver": """
import time
class A:
    def handle(self):
        time.sleep(1)
async def root(other):
    a = A()
    a.handle()
async def more(other):
    other.handle()  # here
""",
    "unknown-receiver of two classes": """
import time
class A:
    def handle(self):
        time.sleep(1)
class B:
    def handle(self):
        return 1
async def root():
    A().handle()
async def more(of: "A | B"):
    of.handle()  # here
""",
    "module-level by another name": HELPER,
    "name": """
from time import sleep
def helper(asyncio):
    sleep(asyncio)  # here
async def root():
    helper(1)
""",
    "made-elsewhere": """
import httpx
import requests
def helper(session: requests.Session):  # here
    return session.get("u", timeout=3).text
async def root():
    return helper(requests.Session())
""",
    "arguments": """
import httpx
import requests
def helper():
    return requests.get("u", timeout=3, proxies={}).text  # here
async def root():
    return helper()
""",
    "errors": """
import httpx
import requests
def helper():
    response = requests.get("u", timeout=3)
    return response.text
async def root():
    try:
        return helper()
    except requests.RequestException:  # here
        return None
""",
    "no-library": """
import pymongo
client = pymongo.MongoClient()  # here
async def root():
    client["app"]["notes"].insert_one({})
""",
    "maker": """
import pinecone
index = pinecone.Index("name")  # here
async def root():
    index.delete(delete_all=True)
""",
    "sync-caller by a name that is not written": """
import redis
class Store:
    def __init__(self):
        self.client = redis.Redis()
    def get(self, name):
        return self.client.get(name)
    def drop(self, name):  # here
        self.client.delete(name)
    def call(self, name, key):
        return getattr(self, name)(key)
store = Store()
async def root():
    return store.get("a")
""",
    "sync-caller of a class that is shown": """
import redis
__all__ = ["Store"]
class Store:
    def __init__(self):
        self.client = redis.Redis()
    def get(self, name):
        return self.client.get(name)
    def drop(self, name):  # here
        self.client.delete(name)
store = Store()
async def root():
    return store.get("a")
""",
    "interleaves": """
import time
class Store:
    busy = False
    def work(self):
        if self.busy:
            return
        self.busy = True  # here
        time.sleep(1)
        self.busy = False
store = Store()
async def root():
    store.work()
""",
    "bound by shared state": """
import hashlib
class Users:
    def __init__(self):
        self.seen = {}
    def check(self, name, password):
        self.note(name)
        return hashlib.pbkdf2_hmac("sha256", password, b"salt", 600_000)
    def note(self, name):
        self.seen[name] = True  # here
users = Users()
async def root(name, password):
    return users.check(name, password)
""",
    "shape": """
import redis
class Store:
    def __init__(self):
        self.client = redis.Redis()
    async def root(self):
        get = self.client.get
        return get("a")  # here
""",
    "unreadable": HELPER,
    "bound for a moment": """
from pathlib import Path
def helper(names):
    return [Path(name).resolve() for name in names]  # here
async def root(names):
    return helper(names)
""",
    "handed-on": """
import httpx
import requests
def helper():
    return requests.get("u", timeout=3)  # here
async def root():
    return helper()
""",
}


# A second file of the program, which has the place.
OTHERS = {"module-level by another name": "from app import helper as load\nload()  # here\n", "unreadable": "from app import helper  # here\nprint 'a Python of long ago'\nhelper()\n"}

# The requirements of the program.
REQUIREMENTS = {"no-library": "pymongo==3.12.0\n"}


def refused(python: str, blocklint: str, program: str, other: str, requirements: str) -> list:
    """Returns the refusals of a program as (kind, line), after checking that nothing was written."""
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "app.py"
        path.write_text(program)
        (Path(temporary) / "other.py").write_text(other)
        (Path(temporary) / "requirements.txt").write_text(requirements)
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "BLOCKLINT_BINARY": blocklint}
        done = subprocess.run([python, "-m", "blocklint.codemods", "asyncify", "--write", "."], cwd=temporary, env=environment, capture_output=True, text=True, check=False)
        if path.read_text() != program:
            return [("written", 0)]
        return [(kind, int(line)) for line, kind in re.findall(r"\((?:app|other)\.py:(\d+)\) \[([\w-]+)\]", done.stderr)] or [(done.stderr, 0)]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--blocklint", default="blocklint")
    asked = parser.parse_args()
    blocklint = str(Path(shutil.which(asked.blocklint) or asked.blocklint).resolve())
    failed = 0
    for name, program in PROGRAMS.items():
        kind = name.partition(" ")[0]
        other = OTHERS.get(name, "")
        line = next(number for number, text in enumerate((other or program).splitlines(), 1) if "# here" in text)
        told = refused(str(Path(asked.python).absolute()), blocklint, program, other, REQUIREMENTS.get(name, ""))
        if (kind, line) not in told:
            failed += 1
            print(f"FAILED: {name} at {line}: {told}")
    print(f"{len(PROGRAMS) - failed} of {len(PROGRAMS)} programs are refused as they must be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
