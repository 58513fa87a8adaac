import asyncio

import main
from devices import Scale


def test_read() -> None:
    scale = Scale()
    assert scale.read() == 7


def test_answer() -> None:
    assert asyncio.run(main.work()) == {"weight": 7}
