"""Stalls as JSON: workers of pytest-xdist pass them to the controller, and `blocklint check --evidence` reads them."""

import json
from typing import Any, Dict, Iterable, List, Tuple

from .frames import Places, qualified_name
from .missing import called_function
from .watchdog import Frame, Stall

#: The version of the format (docs/evidence.md).
FORMAT_VERSION = 1

#: The number of different stacks of a stall that are kept, those with most time.
MAX_STACKS = 20


def stall_to_json(stall: Stall, places: Places, interval: float) -> Dict[str, Any]:
    """Returns a stall as JSON, with its sampled stacks, those with most time first."""
    seconds: Dict[Tuple[Frame, ...], float] = {}
    for sample in stall.samples:
        if sample.stack:
            seconds[sample.stack] = seconds.get(sample.stack, 0.0) + sample.seconds
    stacks = sorted(seconds.items(), key=lambda one: -one[1])[:MAX_STACKS]
    samples = [{"seconds": round(share, 6), "stack": [_frame_to_json(frame, places) for frame in stack]} for stack, share in stacks]
    if len(samples) == 1:
        # A single stack gets the whole time of the stall.
        samples[0]["seconds"] = round(stall.seconds, 6)
    return {
        "seconds": round(stall.seconds, 6),
        "loop": stall.loop,
        "test": stall.test,
        "phase": stall.phase,
        "samples": samples,
        "called": called_function(stacks[0][0], places, stall.cpu_share(), stall.kept_lock(interval)) if stacks else None,
    }


def _frame_to_json(frame: Frame, places: Places) -> Dict[str, Any]:
    code, line, module = frame
    file = code.co_filename
    of = "library" if places.is_library(file) else "test" if places.is_test(file) else "project"
    return {"file": file, "line": line, "function": qualified_name(code, module), "of": of}


def write(path: str, stalls: Iterable[Dict[str, Any]], threshold: float) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"blocklint_evidence": FORMAT_VERSION, "threshold": threshold, "stalls": list(stalls)}, file, indent=1)
        file.write("\n")


def owner_of_stall(stall: Dict[str, Any]) -> str:
    """Returns the owner of a stall: `project` or `test` after its innermost frame outside of libraries, else `library` or `unseen`."""
    if not stall["samples"]:
        return "unseen"
    for frame in reversed(stall["samples"][0]["stack"]):
        if frame["of"] != "library":
            return str(frame["of"])
    return "library"


def innermost(stack: List[Dict[str, Any]]) -> int:
    """Returns the index of the innermost frame outside of libraries; -1 if there is none."""
    return max((index for index, frame in enumerate(stack) if frame["of"] != "library"), default=-1)
