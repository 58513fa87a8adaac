"""Measures how long the `work()` of a program stalls the event loop, with a ticker on the same loop.

    python loop.py FOLDER MODULE

Prints the longest gap, in milliseconds, the best of three calls, and what `work()` returned.
"""

import asyncio
import importlib
import json
import sys

from asgi import longest_gap


async def main(work) -> None:
    best, answer = float("inf"), None
    for _ in range(3):
        gap, answer = await longest_gap(work, computes=False)
        best = min(best, gap)
    print(json.dumps({"stall": best, "answer": answer}))


if __name__ == "__main__":
    folder, module = sys.argv[1:]
    sys.path.insert(0, folder)
    asyncio.run(main(importlib.import_module(module).work))
