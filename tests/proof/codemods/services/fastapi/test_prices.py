import asyncio

import main
from prices import total


def test_total() -> None:
    assert total(["EUR"]) == 1.25


def test_answer() -> None:
    assert asyncio.run(main.work()) == {"total": 2.5}
