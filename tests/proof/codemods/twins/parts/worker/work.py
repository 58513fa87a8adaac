"""The worker."""

import httpx


async def work(url: str) -> int:
    async with httpx.AsyncClient() as client:
        return (await client.get(url)).status_code
