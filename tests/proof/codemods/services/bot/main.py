from typing import Awaitable, Callable, Dict

from tools import about


class Bot:
    """Commands by name, as in libraries for bots."""

    def __init__(self) -> None:
        self.commands: Dict[str, Callable[[str], Awaitable[str]]] = {}

    async def process(self, text: str) -> str:
        name, _, rest = text.partition(" ")
        return await self.commands[name](rest)


bot = Bot()


async def info(rest: str) -> str:
    return about(rest)


bot.commands["!info"] = info


async def work() -> object:
    return await bot.process("!info worker")
