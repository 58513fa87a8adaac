import httpx

import slow


class Store:
    def __init__(self) -> None:
        self.client = httpx.Client(base_url=slow.start(), timeout=10)

    def load(self, key: str) -> dict:
        return self.client.get(f"/{key}").json()

    def rate(self, key: str) -> float:
        return self.load(key)["rate"]

    def close(self) -> None:
        self.client.close()
