import asyncio
import os

import server

os.environ["MONGO_PORT"] = str(server.start())

import app  # noqa: E402


async def saves() -> list:
    return [await app.save("ab"), await app.save("abcd"), await app.save("abc")]


def test_saves() -> None:
    assert asyncio.run(saves()) == [(1, [], 2), (2, ["abcd"], 4), (3, ["abc", "abcd"], 3)]
