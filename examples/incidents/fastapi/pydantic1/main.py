"""A service that lists its clients, and answers a liveness probe. `uvicorn main:app`, then ask for /clients and /live at once."""

from typing import List

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
    addresses: List[Address]


class Group(BaseModel):
    name: str
    clients: List[Client]


class Clients(BaseModel):
    groups: List[Group]


@app.get("/clients", response_model=Clients)
def clients():
    return Clients(groups=load_clients())


@app.get("/clients/flat", response_model=List[Client])
async def flat():
    return [client for group in load_clients() for client in group["clients"]]


@app.get("/live")
async def live():
    return {"status": "ok"}
