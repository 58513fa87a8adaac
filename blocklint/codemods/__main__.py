"""`python -m blocklint.codemods`: the command line of the codemods, which `blocklint codemod` starts."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
