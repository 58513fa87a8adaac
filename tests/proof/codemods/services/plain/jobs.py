import contextlib
import time
from typing import Iterator

steps = []


@contextlib.contextmanager
def turn(name: str) -> Iterator[str]:
    time.sleep(0.2)
    steps.append(name)
    yield name


def names(count: int) -> Iterator[str]:
    for number in range(count):
        time.sleep(0.2)
        yield f"job {number}"


def run(count: int) -> list:
    done = []
    with turn("all"):
        for name in names(count):
            done.append(name)
    return done
