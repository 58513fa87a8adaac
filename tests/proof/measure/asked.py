"""The arguments of the proofs: the program, and how often each must hold."""

from __future__ import annotations

import argparse
import os
from typing import Any


def asked_with(text: str | None, **further: dict[str, Any]) -> argparse.Namespace:
    """Parses the arguments of a proof; `further` are its additional options. The path of the program becomes absolute."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocklint", default="blocklint", help="the program")
    parser.add_argument("--runs", type=int, default=3, help="number of runs, all of which must pass")
    for name, how in further.items():
        parser.add_argument(f"--{name}", **how)
    arguments = parser.parse_args()
    if os.sep in arguments.blocklint:
        arguments.blocklint = os.path.abspath(arguments.blocklint)
    return arguments
