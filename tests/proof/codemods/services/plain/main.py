import asyncio

from jobs import run


async def work() -> object:
    return run(2)


if __name__ == "__main__":
    asyncio.run(work())
