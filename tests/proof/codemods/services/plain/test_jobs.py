import asyncio

import main
from jobs import run


def test_run() -> None:
    assert run(1) == ["job 0"]


def test_work() -> None:
    assert asyncio.run(main.work()) == ["job 0", "job 1"]
