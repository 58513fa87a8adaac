"""A crawler that patches when it begins, which is after its imports: `requests` keeps the sockets that block. `python main.py`"""

import requests
from gevent import monkey
from gevent.pool import Pool


def fetch(url: str) -> int:
    return len(requests.get(url, timeout=10).content)


def main() -> None:
    monkey.patch_all()
    print(Pool(20).map(fetch, ["https://example.org"] * 20))


if __name__ == "__main__":
    main()
