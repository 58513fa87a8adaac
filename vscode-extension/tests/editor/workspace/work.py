import time


def pause():
    time.sleep(1)
