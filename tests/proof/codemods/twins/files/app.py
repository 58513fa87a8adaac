"""Settings in files, in a project that uses aiofiles."""

import asyncio
import json

import aiofiles


def load(path: str) -> dict:
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def save(path: str, settings: dict) -> None:
    with open(path, "w") as stream:
        json.dump(settings, stream, indent=2)


def lines(path: str) -> list:
    found = []
    with open(path) as stream:
        for line in stream:
            found.append(line.strip())
    return found


async def note(path: str, text: str) -> str:
    with open(path, "a") as stream:
        stream.write(text)
    return stream.name


async def in_thread(path: str) -> dict:
    return await asyncio.to_thread(load, path)


async def change(path: str, name: str) -> tuple:
    async with aiofiles.open(f"{path}.log", "a") as stream:
        await stream.write(f"{name}\n")
    settings = load(path)
    save(path, {**settings, name: len(settings)})
    return load(path), lines(f"{path}.log")
