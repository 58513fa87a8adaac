"""The quotes that were given, one JSON object per line."""

import json
from decimal import Decimal
from pathlib import Path


class Archive:
    def __init__(self, path: str) -> None:
        self.path = Path(path)

    def append(self, item: str, currency: str, price: Decimal) -> None:
        line = json.dumps({"item": item, "currency": currency, "price": str(price)})
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def last(self, limit: int) -> list[dict[str, str]]:
        if not self.path.exists():
            return []
        lines = self.path.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines[-limit:]]
