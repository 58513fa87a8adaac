import trio

import main


def test_answer() -> None:
    assert trio.run(main.work) == 1
