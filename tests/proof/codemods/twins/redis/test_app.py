import asyncio
import os
import threading

import fakeredis

server = fakeredis.TcpFakeServer(("127.0.0.1", 0), server_type="redis")
os.environ["REDIS_PORT"] = str(server.server_address[1])
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()

import app  # noqa: E402


async def visits() -> list:
    return [await app.visit("start"), await app.visit("start")]


def test_visits() -> None:
    assert asyncio.run(visits()) == [("Start", 1, ["page:start"]), ("Start", 2, ["page:start"])]
