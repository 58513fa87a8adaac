"""Stalls as plain data: what workers hand to their controller, and what `blocklint check --evidence` reads."""

import json
from typing import Any, Dict, Iterable, List, Tuple

from .frames import Places, qualified_name
from .missing import called
from .watchdog import Frame, Stall

#: The form that is written (docs/evidence.md).
FORM = 1

#: So many different stacks of one stall are kept, those that it stood in longest.
MOST_STACKS = 20


def recorded(stall: Stall, places: Places, interval: float) -> Dict[str, Any]:
    """One stall, with the stacks that were seen, the longest first."""
    seconds: Dict[Tuple[Frame, ...], float] = {}
    for sample in stall.samples:
        if sample.stack:
            seconds[sample.stack] = seconds.get(sample.stack, 0.0) + sample.seconds
    stacks = sorted(seconds.items(), key=lambda one: -one[1])[:MOST_STACKS]
    samples = [{"seconds": round(share, 6), "stack": [_frame(frame, places) for frame in stack]} for stack, share in stacks]
    if len(samples) == 1:
        # Nothing else was seen in it.
        samples[0]["seconds"] = round(stall.seconds, 6)
    return {
        "seconds": round(stall.seconds, 6),
        "loop": stall.loop,
        "test": stall.test,
        "phase": stall.phase,
        "samples": samples,
        "called": called(stacks[0][0], places, stall.cpu_share(), stall.kept_lock(interval)) if stacks else None,
    }


def _frame(frame: Frame, places: Places) -> Dict[str, Any]:
    code, line, module = frame
    file = code.co_filename
    of = "library" if places.is_library(file) else "test" if places.is_test(file) else "project"
    return {"file": file, "line": line, "function": qualified_name(code, module), "of": of}


def write(path: str, stalls: Iterable[Dict[str, Any]], threshold: float) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"blocklint_evidence": FORM, "threshold": threshold, "stalls": list(stalls)}, file, indent=1)
        file.write("\n")


def place(stall: Dict[str, Any]) -> str:
    """Whose code stalls: `project` or `test`, as its innermost frame outside of libraries says; else `library`, or `unseen`."""
    if not stall["samples"]:
        return "unseen"
    for frame in reversed(stall["samples"][0]["stack"]):
        if frame["of"] != "library":
            return str(frame["of"])
    return "library"


def innermost(stack: List[Dict[str, Any]]) -> int:
    """The index of the innermost frame outside of libraries; -1 where there is none."""
    return max((at for at, frame in enumerate(stack) if frame["of"] != "library"), default=-1)
