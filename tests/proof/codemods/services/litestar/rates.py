import requests

import slow

BASE = slow.start()


def fetch(currency: str) -> float:
    try:
        response = requests.get(f"{BASE}/{currency}", timeout=10, allow_redirects=False)
    except requests.RequestException:
        return 0.0
    return response.json()["rate"]
