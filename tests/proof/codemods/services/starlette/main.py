import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from store import Store


def answer(store: Store, key: str) -> dict:
    return {"rate": store.rate(key)}


async def show(request: Request) -> JSONResponse:
    store = Store()
    said = answer(store, "EUR")
    store.close()
    return JSONResponse(said)


app = Starlette(routes=[Route("/", show)])


async def work() -> object:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://app") as client:
        return (await client.get("/")).json()
