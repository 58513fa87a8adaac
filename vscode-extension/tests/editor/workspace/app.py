import time

from work import pause


async def handler():
    pause()


async def direct():
    time.sleep(1)
