"""This service has a current FastAPI and no response model. `uvicorn main:app`, then ask for /clients and /live at once."""

from fastapi import FastAPI
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


class Clients(BaseModel):
    clients: list[Client]


@app.get("/clients")
def clients():
    return Clients(clients=load_clients())


@app.get("/clients/flat")
async def flat():
    return [Client(**row) for row in load_clients()]


@app.get("/live")
async def live():
    return {"status": "ok"}
