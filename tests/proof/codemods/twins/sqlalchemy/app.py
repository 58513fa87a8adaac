"""Users in a database, for which an asynchronous engine exists."""

import os

from sqlalchemy import create_engine, select
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

PATH = os.environ["DATABASE"]
engine = create_engine(f"sqlite:///{PATH}")
async_engine = create_async_engine(f"sqlite+aiosqlite:///{PATH}")


class Base(DeclarativeBase):
    pass


class User(Base):
    __tablename__ = "user"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]


def add(name: str) -> int:
    with Session(engine) as session:
        user = User(name=name)
        session.add(user)
        session.commit()
        session.refresh(user)
        return user.id


def names() -> list:
    with Session(engine) as session:
        return list(session.execute(select(User.name).order_by(User.id)).scalars())


async def join(name: str) -> tuple:
    async with AsyncSession(async_engine) as session:
        before = len((await session.scalars(select(User))).all())
    return before, add(name), names()
