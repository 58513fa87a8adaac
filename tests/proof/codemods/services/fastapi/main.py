import httpx
from fastapi import FastAPI

from prices import total

app = FastAPI()


@app.get("/total")
async def show() -> dict:
    return {"total": total(["EUR", "USD"])}


async def work() -> object:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://app") as client:
        return (await client.get("/total")).json()
