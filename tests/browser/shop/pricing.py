from rates import RatesClient


class Pricing:
    def __init__(self, rates: RatesClient) -> None:
        self.rates = rates

    def price_in(self, cents: int, currency: str) -> float:
        if currency == "EUR":
            return cents / 100
        return cents / 100 * self.rates.latest(currency)

    def total(self, basket: list[int], currency: str) -> float:
        return sum(self.price_in(cents, currency) for cents in basket)
