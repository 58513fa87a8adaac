import asyncio
import os

os.environ["DATABASE"] = os.path.join(os.path.dirname(os.path.abspath(__file__)), "app.db")

import app  # noqa: E402


async def joins() -> list:
    async with app.async_engine.begin() as connection:
        await connection.run_sync(app.Base.metadata.drop_all)
        await connection.run_sync(app.Base.metadata.create_all)
    found = [await app.join("Ada"), await app.join("Bo")]
    await app.async_engine.dispose()
    return found


def test_joins() -> None:
    assert asyncio.run(joins()) == [(0, 1, ["Ada"]), (1, 2, ["Ada", "Bo"])]
