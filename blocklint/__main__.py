"""`python -m blocklint`: replaces this process with the binary."""

import os
import subprocess
import sys

from blocklint import find_blocklint_bin


def main() -> None:
    binary = find_blocklint_bin()
    arguments = [binary, *sys.argv[1:]]
    if sys.platform != "win32":
        os.execv(binary, arguments)
    # On Windows `os.execv` starts a new process and ends this one, so a shell would not wait for the result.
    try:
        sys.exit(subprocess.call(arguments))
    except KeyboardInterrupt:
        sys.exit(2)


if __name__ == "__main__":
    main()
