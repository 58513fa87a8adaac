import asyncio

import main
from service import Prices


def test_both() -> None:
    assert Prices().both() == {"EUR": 1.25, "USD": 1.25}


def test_answer() -> None:
    assert asyncio.run(main.work()) == {"EUR": 1.25, "USD": 1.25}
