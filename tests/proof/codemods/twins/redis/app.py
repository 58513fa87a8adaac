"""A counter behind Redis."""

import os

import redis

pool = redis.Redis(host="127.0.0.1", port=int(os.environ["REDIS_PORT"]), decode_responses=True)


class Counter:
    def __init__(self) -> None:
        self.client = redis.Redis.from_url(f"redis://127.0.0.1:{os.environ['REDIS_PORT']}/0", decode_responses=True)

    def bump(self, name: str) -> int:
        with self.client.pipeline() as pipe:
            pipe.incr(name)
            pipe.expire(name, 60)
            count, _ = pipe.execute()
        return count

    def seen(self) -> list:
        return sorted(key for key in self.client.scan_iter("page:*"))

    def forget(self, name: str) -> None:
        self.client.delete(name)


counter = Counter()


def title(page: str) -> str:
    if pool.exists(page):
        return pool.hget(page, "title") or ""
    pool.hset(page, mapping={"title": page.title()})
    return title_of(page)


def title_of(page: str) -> str:
    return pool.hgetall(page)["title"]


async def visit(page: str) -> tuple:
    return title(page), counter.bump(f"page:{page}"), counter.seen()
