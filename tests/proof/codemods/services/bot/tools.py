import subprocess
import sys


def version() -> str:
    done = subprocess.run([sys.executable, "-c", "import time; time.sleep(0.4); print(3)"], capture_output=True, text=True)
    return done.stdout.strip()


def about(name: str) -> str:
    return f"{name} {version()}"
