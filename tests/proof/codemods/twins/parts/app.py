"""A service that is installed without what the worker beside it has."""

import requests


def title(url: str) -> str:
    return requests.get(url, timeout=5).text


async def answer(url: str) -> str:
    return title(url)
