"""Rates that a client of its own asks for."""

import httpx


class Rates:
    def __init__(self, url: str) -> None:
        self.client = httpx.Client(base_url=url, timeout=5)

    def of(self, name: str) -> float:
        response = self.client.get("/rates", params={"name": name})
        response.raise_for_status()
        return response.json()["rate"]

    def close(self) -> None:
        self.client.close()


async def show(url: str) -> float:
    rates = Rates(url)
    try:
        return rates.of("eur")
    finally:
        rates.close()
