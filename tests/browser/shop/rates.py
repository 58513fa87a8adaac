import time

import requests


class RatesClient:
    """Asks the bank for exchange rates."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.session = requests.Session()

    def latest(self, currency: str, timeout: float = 30) -> float:
        for attempt in range(3):
            response = self.session.get(f"{self.base_url}/latest/{currency}", timeout=timeout)
            if response.ok:
                return response.json()["rate"]
            time.sleep(2)
        raise RuntimeError("the bank does not answer")
