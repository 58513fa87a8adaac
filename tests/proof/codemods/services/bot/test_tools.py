import asyncio
from unittest import mock

import main
from tools import about


def test_about() -> None:
    assert about("a") == "a 3"


def test_answer() -> None:
    assert asyncio.run(main.work()) == "worker 3"


def test_patched() -> None:
    with mock.patch("main.about", return_value="b 4"):
        assert asyncio.run(main.work()) == "b 4"
