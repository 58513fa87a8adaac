"""The HTTP interface: `uvicorn main:app`."""

from fastapi import FastAPI, HTTPException
from fastapi.concurrency import run_in_threadpool

from archive import Archive
from pricing import Pricing, UnknownItem

app = FastAPI(title="Quotes")
pricing = Pricing()
archive = Archive("quotes.jsonl")


@app.get("/live")
async def live() -> dict[str, bool]:
    return {"ok": True}


@app.get("/quotes/{item}")
async def quote(item: str, currency: str = "EUR") -> dict[str, str]:
    try:
        price = pricing.price_in(item, currency)
    except UnknownItem as error:
        raise HTTPException(status_code=404) from error
    await run_in_threadpool(archive.append, item, currency, price)
    return {"item": item, "currency": currency, "price": str(price)}


@app.get("/quotes")
def recent(limit: int = 20) -> list[dict[str, str]]:
    return archive.last(limit)
