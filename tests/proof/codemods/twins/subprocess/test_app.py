import asyncio
import platform

import app


def test_show() -> None:
    assert asyncio.run(app.show()) == f"Python {platform.python_version()}"
