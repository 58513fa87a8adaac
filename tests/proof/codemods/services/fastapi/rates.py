"""The rates of currencies."""

import requests

import slow

BASE = slow.start()


def fetch(currency: str) -> dict:
    with requests.Session() as session:
        response = session.get(f"{BASE}/{currency}", timeout=10)
        response.raise_for_status()
        if not response.ok:
            raise ValueError(currency)
        return response.json()


def rate(currency: str) -> float:
    return fetch(currency)["rate"]
