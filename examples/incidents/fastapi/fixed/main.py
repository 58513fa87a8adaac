"""The service, mended: a page at a time, or all of it in chunks."""

from collections.abc import Iterator

from fastapi import FastAPI, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from warehouse import load_clients

app = FastAPI()


class Address(BaseModel):
    street: str
    city: str
    country: str


class Client(BaseModel):
    id: int
    name: str
    email: str
    addresses: list[Address]


@app.get("/clients")
def clients(offset: int = 0, limit: int = Query(100, le=500)) -> list[Client]:
    return load_clients()[offset : offset + limit]


def chunks(rows: list[dict], size: int = 500) -> Iterator[bytes]:
    yield b"["
    for start in range(0, len(rows), size):
        part = ",".join(Client(**row).model_dump_json() for row in rows[start : start + size])
        yield (("," if start else "") + part).encode()
    yield b"]"


@app.get("/clients/all")
def everything():
    return StreamingResponse(chunks(load_clients()), media_type="application/json")


@app.get("/live")
async def live():
    return {"status": "ok"}
