"""`pytest --blocklint`: watches event loops during tests, and reports which findings explain their stalls (docs/evidence.md).

Without the option nothing else of this package is imported, no thread is started and nothing is patched.
"""

from typing import Any

#: The milliseconds for which a loop must be held to count as a stall.
THRESHOLD = 50.0


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("blocklint", "blocklint: stalls of the event loop")
    group.addoption("--blocklint", action="store_true", help="Watch event loops, and match their stalls with what blocklint finds")
    group.addoption(
        "--blocklint-threshold",
        type=float,
        metavar="MS",
        help="With --blocklint: how many milliseconds a loop may be held (default: the ini value blocklint_threshold, else 50)",
    )
    group.addoption("--blocklint-fail", action="store_true", help="With --blocklint: fail the run if the project's code stalls a loop")
    group.addoption(
        "--blocklint-evidence", metavar="FILE", help="With --blocklint: write what was seen, for `blocklint check --evidence FILE`"
    )
    group.addoption(
        "--blocklint-findings",
        metavar="FILE",
        help="With --blocklint: take findings from this output of `blocklint check --output-format json` instead of running it",
    )
    parser.addini("blocklint_threshold", "How many milliseconds an event loop may be held under --blocklint", default="")


def pytest_configure(config: Any) -> None:
    if not config.getoption("blocklint"):
        return
    from .session import Session

    config.pluginmanager.register(Session(config, _threshold(config) / 1000), "blocklint-session")


def _threshold(config: Any) -> float:
    import pytest

    given = config.getoption("blocklint_threshold")
    if given is None:
        given = config.getini("blocklint_threshold") or THRESHOLD
    try:
        threshold = float(given)
    except ValueError:
        threshold = 0.0
    # Below a millisecond the watchdog would use a whole processor. The upper bound also rejects `nan` and `inf`.
    if not 1 <= threshold <= 3_600_000:
        raise pytest.UsageError("blocklint_threshold is a number of milliseconds from 1, not {!r}".format(given))
    return threshold
