"""`python -m blocklint`: runs the binary in this process's place."""

import os
import subprocess
import sys

from blocklint import find_blocklint_bin


def main() -> None:
    binary = find_blocklint_bin()
    arguments = [binary, *sys.argv[1:]]
    if sys.platform != "win32":
        os.execv(binary, arguments)
    # Windows has no exec: a replaced process would lose its console.
    try:
        sys.exit(subprocess.call(arguments))
    except KeyboardInterrupt:
        sys.exit(2)


if __name__ == "__main__":
    main()
