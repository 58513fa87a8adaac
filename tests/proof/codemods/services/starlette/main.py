import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from store import Store


def answer(key: str) -> dict:
    store = Store()
    said = {"rate": store.rate(key)}
    store.close()
    return said


async def show(request: Request) -> JSONResponse:
    return JSONResponse(answer("EUR"))


app = Starlette(routes=[Route("/", show)])


async def work() -> object:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://app") as client:
        return (await client.get("/")).json()
