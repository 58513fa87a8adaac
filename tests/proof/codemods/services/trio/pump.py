import time


def pause() -> None:
    time.sleep(0.3)


def stroke(count: int) -> int:
    for _ in range(count):
        pause()
    return count
