import asyncio

import main
from store import Store


def test_rate() -> None:
    store = Store()
    assert store.rate("EUR") == 1.25


def test_answer() -> None:
    assert asyncio.run(main.work()) == {"rate": 1.25}
