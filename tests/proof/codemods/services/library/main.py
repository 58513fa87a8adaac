from reader.api import read


async def work() -> object:
    return await read("a", "bc")
