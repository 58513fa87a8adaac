import sqlite3

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from pydantic import BaseModel, RootModel

COUNT = 40_000

app = FastAPI()
connection = sqlite3.connect(":memory:", check_same_thread=False)
connection.row_factory = sqlite3.Row
connection.execute("CREATE TABLE client (id INTEGER, name, email, street, city)")
rows = ((at, f"client {at}", f"{at}@example.com", f"{at} High Street", "Ghent") for at in range(COUNT))
connection.executemany("INSERT INTO client VALUES (?, ?, ?, ?, ?)", rows)


class Address(BaseModel):
    street: str
    city: str


class Order(BaseModel):
    id: int
    amount: float
    tags: list[str]


class Client(BaseModel):
    id: int
    name: str
    email: str
    address: Address
    orders: list[Order]


# Created once, so that only the response is measured, and not the creation of models.
known: dict[int, Client] = {}


def client(row: sqlite3.Row) -> Client:
    if row["id"] not in known:
        known[row["id"]] = made(row)
    return known[row["id"]]


def made(row: sqlite3.Row) -> Client:
    address = Address(street=row["street"], city=row["city"])
    orders = [Order(id=at, amount=at / 4, tags=["new", "paid"]) for at in range(3)]
    return Client(id=row["id"], name=row["name"], email=row["email"], address=address, orders=orders)


class Clients(RootModel[list[Client]]):
    pass


@app.get("/clients")
async def clients():
    found = await run_in_threadpool(lambda: connection.execute("SELECT * FROM client").fetchall())
    model = await run_in_threadpool(lambda: Clients([client(row) for row in found]))
    body = await run_in_threadpool(model.model_dump_json)
    return Response(body, media_type="application/json")
