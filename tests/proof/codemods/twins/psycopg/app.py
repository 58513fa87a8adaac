"""Accounts in PostgreSQL."""

import psycopg

DSN = "dbname=app"


def balance(account: int) -> int:
    with psycopg.connect(DSN) as connection:
        with connection.cursor() as cursor:
            cursor.execute("select amount from account where id = %s", (account,))
            row = cursor.fetchone()
    return row[0] if row else 0


def names() -> list[str]:
    with psycopg.connect(DSN) as connection:
        return [name for name, in connection.execute("select name from account")]


async def show(account: int) -> tuple[int, list[str]]:
    return balance(account), names()
