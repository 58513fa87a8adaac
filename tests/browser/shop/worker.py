import asyncio

import stock
from pricing import Pricing
from rates import RatesClient

pricing = Pricing(RatesClient("https://bank.example"))


async def refresh(currencies: list[str]) -> None:
    while True:
        for currency in currencies:
            pricing.price_in(100, currency)
        await asyncio.sleep(60)


async def restock(article: str) -> None:
    if stock.left(article) < 10:
        stock.print_label(article)
