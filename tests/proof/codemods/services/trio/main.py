import trio

from pump import stroke


async def work() -> object:
    async with trio.open_nursery():
        return stroke(1)
