#!/usr/bin/env python3
"""Proves with real libraries that asyncify converts clients: `twins.py --python P --blocklint B [FOLDER …]`.

Each folder of `twins/` is a program on one library. On a copy: its tests pass; asyncify fixes every finding; then nothing is found, the
tests pass unchanged except for mocks of helpers, and the text of `AFTER` is in the program. PYTHON must have the packages of `requirements.txt`.
Programs whose server is not available are checked against the types of their library instead.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from prove import Failed, found, ran, tests

HERE = Path(__file__).resolve().parent

AFTER = {
    "files": ["async with aiofiles.open(path, \"w\")", "await stream.write(json.dumps(settings, indent=2))", "async for line in stream", "await stream.write(text)", "return await load(path)"],
    "files_anyio": ["async with await anyio.open_file(path, \"w\")", "async for line in stream"],
    "httpx": ["httpx.AsyncClient(base_url=url, timeout=5", "await self.client.aclose()"],
    "mocks": ["await helper(1) + await store.load()"],
    "parts": ["await asyncio.to_thread(requests.get, url, timeout=5)"],
    "psycopg": ["async with await psycopg.AsyncConnection.connect(DSN)", "async for name, in await connection.execute"],
    "pymongo": ["AsyncMongoClient(", "async for note in notes.find("],
    "redis": ["redis.asyncio.Redis(", "async with self.client.pipeline() as pipe", "_ = await pipe.execute()", "async for key in self.client.scan_iter", "async def forget"],
    "sqlalchemy": ["async with AsyncSession(async_engine, expire_on_commit=False) as session", "await session.refresh(user)"],
    "subprocess": ["await asyncio.to_thread(subprocess.run, "],
    "threads": ["def copied(", "len(await asyncio.to_thread(copied, source, folder))"],
}


def checked(python: str, folder: Path) -> None:
    if (folder / "test_app.py").exists():
        return tests(python, folder)
    done = ran([python, "-m", "mypy", "--strict", "--no-error-summary", "app.py"], folder)
    if done.returncode:
        raise Failed(f"its types do not fit: {done.stdout[-2000:]}")


def prove(python: str, blocklint: str, name: str) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / name
        shutil.copytree(HERE / "twins" / name, folder, ignore=shutil.ignore_patterns("__pycache__"))
        checked(python, folder)
        if not found(blocklint, folder):
            raise Failed("nothing is found in it")
        done = ran([python, "-m", "blocklint.codemods", "asyncify", "--write", "."], folder, BLOCKLINT_BINARY=blocklint)
        if done.returncode:
            raise Failed(f"refused: {done.stderr}")
        if after := found(blocklint, folder):
            raise Failed(f"still found: {after[0]['message']}")
        text = (folder / "app.py").read_text()
        if missing := [one for one in AFTER[name] if one not in text]:
            raise Failed(f"{missing[0]} is not in\n{text}")
        checked(python, folder)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--blocklint", default="blocklint")
    parser.add_argument("folder", nargs="*", default=sorted(AFTER))
    asked = parser.parse_args()
    blocklint = str(Path(shutil.which(asked.blocklint) or asked.blocklint).resolve())
    failed = 0
    for name in asked.folder:
        try:
            prove(str(Path(asked.python).absolute()), blocklint, name)
            print(f"{name}: its tests pass before and after", flush=True)
        except Failed as why:
            failed += 1
            print(f"{name}: FAILED: {why}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
