"""The crawler, mended: it patches before it imports anything else."""

from gevent import monkey

monkey.patch_all()

import requests  # noqa: E402
from gevent.pool import Pool  # noqa: E402


def fetch(url: str) -> int:
    return len(requests.get(url, timeout=10).content)


def main() -> None:
    print(Pool(20).map(fetch, ["https://example.org"] * 20))


if __name__ == "__main__":
    main()
