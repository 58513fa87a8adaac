import time
from typing import Optional, overload


@overload
def value(name: None) -> None: ...
@overload
def value(name: str) -> int: ...
def value(name: Optional[str]) -> Optional[int]:
    if name is None:
        return None
    time.sleep(0.3)
    return len(name)
