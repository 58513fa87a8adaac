"""Notes in MongoDB."""

import os
from typing import List

from pymongo import MongoClient

client = MongoClient("127.0.0.1", int(os.environ["MONGO_PORT"]))
notes = client["app"]["notes"]


def add(text: str) -> int:
    notes.insert_one({"text": text, "length": len(text)})
    return notes.count_documents({})


def long_ones(least: int) -> List[str]:
    return [note["text"] for note in notes.find({"length": {"$gte": least}}).sort("length")]


def first(text: str):
    found = notes.find_one({"text": text})
    if found is None:
        return None
    return found["length"]


async def save(text: str) -> tuple:
    return add(text), long_ones(3), first(text)
