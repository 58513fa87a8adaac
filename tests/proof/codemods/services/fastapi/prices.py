from typing import List

from rates import rate


def total(currencies: List[str]) -> float:
    return sum(rate(currency) for currency in currencies)
