"""Exchange rates from the bank's web service."""

from decimal import Decimal

import requests


class RatesClient:
    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.session = requests.Session()

    def latest(self, currency: str, timeout: float = 30) -> Decimal:
        response = self.session.get(f"{self.base_url}/latest/{currency}", timeout=timeout)
        response.raise_for_status()
        return Decimal(response.json()["rate"])
