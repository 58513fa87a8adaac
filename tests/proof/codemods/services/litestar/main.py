import httpx
from litestar import Litestar, get

from service import Prices


@get("/")
async def show() -> dict:
    prices = Prices()
    return prices.both()


app = Litestar([show])


async def work() -> object:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://app") as client:
        return (await client.get("/")).json()
