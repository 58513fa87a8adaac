import asyncio
import time


async def poll(times: int) -> int:
    for _ in range(times):
        time.sleep(0.2)
    return times


async def work() -> int:
    return sum(await asyncio.gather(poll(2), poll(3)))
