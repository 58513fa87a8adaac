"""A helper that tests replace in five ways."""

import time


def helper(number: int) -> int:
    time.sleep(0.2)
    return number + 1


class Store:
    def load(self) -> int:
        time.sleep(0.2)
        return 1


store = Store()


async def show() -> int:
    return helper(1) + store.load()
