#!/usr/bin/env python3
"""Measures the longest stall of a service's loop, in milliseconds, and prints it with the service's answer: `stall.py FOLDER`."""

import asyncio
import json
import sys
import time

sys.path.insert(0, sys.argv[1])

import main  # noqa: E402


class Beat:
    """The longest gap between two ticks of the loop."""

    def __init__(self) -> None:
        self.longest, self.last = 0.0, time.perf_counter()

    def tick(self) -> None:
        now = time.perf_counter()
        self.longest, self.last = max(self.longest, now - self.last), now


async def on_asyncio() -> tuple:
    # A first call, in which frameworks import modules and build caches.
    await main.work()
    beat = Beat()

    async def ticks() -> None:
        while True:
            await asyncio.sleep(0.005)
            beat.tick()

    ticker = asyncio.ensure_future(ticks())
    await asyncio.sleep(0.05)
    answer = await main.work()
    await asyncio.sleep(0.05)
    ticker.cancel()
    return beat.longest, answer


async def on_trio() -> tuple:
    await main.work()
    beat = Beat()

    async def ticks() -> None:
        while True:
            await main.trio.sleep(0.005)
            beat.tick()

    async with main.trio.open_nursery() as nursery:
        nursery.start_soon(ticks)
        await main.trio.sleep(0.05)
        answer = await main.work()
        await main.trio.sleep(0.05)
        nursery.cancel_scope.cancel()
    return beat.longest, answer


longest, answer = main.trio.run(on_trio) if "trio" in vars(main) else asyncio.run(on_asyncio())
print(json.dumps([longest * 1000, answer]))
