"""Measures how long an ASGI application stalls the event loop while it answers one request.

    python asgi.py FOLDER MODULE TARGET

The application runs in this process, on the loop that a ticker wakes up on. Prints the longest gap between two wake-ups
beyond what was asked for, in milliseconds, the best of some requests, and what the answer was. A gap in which the process
got less processor time counts for that much: an answer is made by computing alone, and other programs run on the machine.
"""

import asyncio
import gc
import hashlib
import importlib
import json
import sys
import time

import httpx

TICK = 0.002
REQUESTS = 4


async def longest_gap(work, *, computes: bool) -> tuple[float, object]:
    """Returns the longest gap while `work()` runs, in milliseconds, and what it returned."""
    clocks = [time.perf_counter, time.process_time] if computes else [time.perf_counter]
    longest, last, ends = 0.0, [clock() for clock in clocks], False

    async def tick() -> None:
        nonlocal longest, last
        while not ends:
            await asyncio.sleep(TICK)
            now = [clock() for clock in clocks]
            wall, *busy = [at - before for at, before in zip(now, last, strict=True)]
            longest, last = max(longest, min(wall - TICK, *busy) if busy else wall - TICK), now

    ticker = asyncio.create_task(tick())
    await asyncio.sleep(10 * TICK)
    longest, last = 0.0, [clock() for clock in clocks]
    result = await work()
    await asyncio.sleep(5 * TICK)
    ends = True
    await ticker
    return longest * 1000, result


async def main(app, target: str) -> None:
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://proof") as client:
        best, answer = float("inf"), None
        for _ in range(REQUESTS):
            gap, answer = await longest_gap(lambda: client.get(target), computes=True)
            best = min(best, gap)
    # The parsed answer is compared, and not its text, because spaces may differ.
    value = hashlib.sha256(json.dumps(answer.json(), sort_keys=True).encode()).hexdigest()
    told = {"stall": best, "answer": [answer.status_code, answer.headers["content-type"], value]}
    print(json.dumps(told))


if __name__ == "__main__":
    folder, module, target = sys.argv[1:]
    sys.path.insert(0, folder)
    loaded = importlib.import_module(module)
    # A garbage collection would be a stall.
    gc.collect()
    gc.freeze()
    gc.disable()
    asyncio.run(main(loaded.app, target))
