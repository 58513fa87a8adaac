import anyio

import main


def test_read() -> None:
    assert anyio.run(main.work) == (1, 2)
