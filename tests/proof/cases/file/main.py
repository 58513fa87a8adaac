import asyncio
import os
import tempfile
import threading
import time
from pathlib import Path

pipe = Path(tempfile.mkdtemp()) / "pipe"
os.mkfifo(pipe)


def write() -> None:
    time.sleep(0.3)
    pipe.write_text("the word")


async def work() -> str:
    threading.Thread(target=write).start()
    return pipe.read_text()
