from rates import fetch


class Prices:
    @staticmethod
    def rate(currency: str) -> float:
        return fetch(currency)

    def both(self) -> dict:
        return {name: self.rate(name) for name in ("EUR", "USD")}
