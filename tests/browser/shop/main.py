from fastapi import FastAPI

import stock
from pricing import Pricing
from rates import RatesClient

app = FastAPI()
pricing = Pricing(RatesClient("https://bank.example"))


@app.get("/quote/{article}")
async def quote(article: str, cents: int, currency: str = "EUR") -> float:
    return pricing.price_in(cents, currency)


@app.get("/stock/{article}")
async def availability(article: str) -> int:
    return stock.left(article)


@app.post("/basket")
async def basket(articles: list[str], currency: str) -> float:
    missing = [article for article in articles if not stock.left(article)]
    if missing:
        return 0
    return pricing.total([100 for _ in articles], currency)


@app.post("/order")
async def order(articles: list[str], currency: str) -> float:
    price = pricing.total([100 for _ in articles], currency)
    for article in articles:
        stock.print_label(article)
    with open("orders.log", "a") as log:
        log.write(f"{articles} {price}\n")
    return price
