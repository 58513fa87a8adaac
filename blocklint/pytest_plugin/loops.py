"""Hooks into the event loops of asyncio, uvloop and trio, which report the begin and end of their turns to the watchdog."""

import asyncio
import importlib.util
import sys
from typing import Any, Callable, Dict, List, Set, Tuple

from .watchdog import CLOCK, WAITS, Watchdog

#: Replaced attributes: the owner, the attribute, its former value.
Replaced = List[Tuple[Any, str, Any]]


class Hooks:
    """The patches of event loops that are installed while tests run."""

    def __init__(self, watchdog: Watchdog) -> None:
        self.watchdog = watchdog
        self.replaced: Replaced = []
        #: The libraries, besides asyncio, whose loops are patched.
        self.patched_libraries: Set[str] = set()
        self.selectors = Selectors(watchdog, self._replace)

    def _replace(self, owner: Any, name: str, by: Callable[[Any], Any]) -> None:
        before, real = owner.__dict__.get(name), getattr(owner, name, None)
        setattr(owner, name, by(real))
        self.replaced.append((owner, name, before))

    def install(self) -> None:
        self.watchdog.machinery |= {asyncio.events.Handle._run.__code__, Hooks._run_with_pings.__code__}
        self._replace(asyncio.BaseEventLoop, "run_forever", self._patched_asyncio)

    def install_loaded(self) -> None:
        """Patches the loops of trio and uvloop, if they are imported and not patched yet."""
        trio = sys.modules.get("trio._core._run")
        if trio is not None and "trio" not in self.patched_libraries and hasattr(trio, "setup_runner"):
            self.patched_libraries.add("trio")
            self.watchdog.machinery.add(trio.unrolled_run.__code__)
            self._replace(trio, "setup_runner", self._patched_trio)
        uvloop = sys.modules.get("uvloop")
        if uvloop is not None and "uvloop" not in self.patched_libraries and hasattr(uvloop, "Loop"):
            self.patched_libraries.add("uvloop")
            self._replace(uvloop.Loop, "run_forever", self._patched_uvloop)

    def import_backends(self) -> None:
        """Imports trio and uvloop, because anyio chooses one of them only when a fixture is made, after the patches."""
        for name in ("trio", "uvloop"):
            if importlib.util.find_spec(name) is not None:
                importlib.import_module(name)

    def remove(self) -> None:
        for owner, name, real in reversed(self.replaced):
            if real is None:
                delattr(owner, name)
            else:
                setattr(owner, name, real)
        self.replaced = []
        self.selectors.methods.clear()

    def _patched_asyncio(self, real: Callable[[Any], None]) -> Callable[[Any], None]:
        watchdog, selectors = self.watchdog, self.selectors

        # A test runs its loop several times: for fixtures, for the test, and to end remaining tasks.
        def run_forever(loop: Any) -> None:
            selector: Any = getattr(loop, "_selector", None)
            if not selectors.reports_turns(selector):
                return self._run_with_pings(loop, real)
            if selector._blocklint_turn is not None:
                # The loop runs already, so its turn is registered.
                return real(loop)
            turn = selector._blocklint_turn = watchdog.enter("asyncio", asyncio.current_task, loop)
            try:
                return real(loop)
            finally:
                selector._blocklint_turn = None
                watchdog.leave(turn)

        watchdog.machinery.add(run_forever.__code__)
        return run_forever

    def _patched_uvloop(self, real: Callable[[Any], None]) -> Callable[[Any], None]:
        def run_forever(loop: Any) -> None:
            return self._run_with_pings(loop, real)

        return run_forever

    def _run_with_pings(self, loop: Any, real: Callable[[Any], None]) -> None:
        """Runs a loop that cannot report its turns: the watchdog asks it for an answer, and again after each answer."""
        watchdog, clock = self.watchdog, CLOCK[0]
        turn = watchdog.enter("asyncio", asyncio.current_task, loop)
        turn.since = WAITS

        def answer() -> None:
            watchdog.end_turn(turn)

        def ask() -> None:
            if turn.since == WAITS:
                turn.since = clock()
                try:
                    loop.call_soon_threadsafe(answer)
                except RuntimeError:  # It was closed meanwhile.
                    turn.since = WAITS

        watchdog.pings[turn] = ask
        try:
            return real(loop)
        finally:
            watchdog.pings.pop(turn, None)
            watchdog.leave(turn)

    def _patched_trio(self, real: Callable[..., Any]) -> Callable[..., Any]:
        watchdog = self.watchdog

        def setup_runner(clock: Any, instruments: Any, *more: Any, **named: Any) -> Any:
            return real(clock, [*instruments, Instrument(watchdog, sys.modules["trio._core._run"])], *more, **named)

        return setup_runner


class Selectors:
    """Patches classes of selectors, so that a selector reports when its loop waits for events.

    The classes are patched and not the objects, because a method of an object is slower to call, and each loop has a new selector.
    The turn is an attribute of the selector, which is fast to read.
    """

    def __init__(self, watchdog: Watchdog, replace: Callable[[Any, str, Callable[[Any], Any]], None]) -> None:
        self.watchdog = watchdog
        self.replace = replace
        #: The patched `select` of each class; None if the class could not be patched.
        self.methods: Dict[type, Any] = {}

    def reports_turns(self, selector: Any) -> bool:
        """True if a loop with this selector reports its turns."""
        of = type(selector)
        if of not in self.methods:
            self.methods[of] = self._method(of)
        method = self.methods[of]
        # An object with a `select` of its own may not call the patched one.
        return method is not None and getattr(selector.select, "__func__", None) is method

    def _method(self, of: type) -> Any:
        # An object without `__dict__` cannot have the attribute for its turn.
        if not callable(getattr(of, "select", None)) or not getattr(of, "__dictoffset__", 0):
            return None
        try:
            self.replace(of, "_blocklint_turn", lambda _: None)
            self.replace(of, "select", self._reporting_select)
        except TypeError:  # A class that is not written in Python.
            return None
        return of.__dict__["select"]

    def _reporting_select(self, real: Callable[..., Any]) -> Callable[..., Any]:
        clock, threshold, record_long_turn = CLOCK[0], self.watchdog.threshold, self.watchdog.record_long_turn

        # This runs for every turn, some thousand times a second.
        def select(selector: Any, timeout: Any = None) -> Any:
            turn = selector._blocklint_turn
            if turn is None:
                return real(selector, timeout)
            if clock() - turn.since > threshold:
                record_long_turn(turn)
            turn.since = WAITS
            events = real(selector, timeout)
            turn.since = clock()
            return events

        return select


class Instrument:
    """The instrument with which trio reports its turns."""

    def __init__(self, watchdog: Watchdog, trio: Any) -> None:
        self._watchdog = watchdog
        self._trio = trio
        self._turn: Any = None

    def before_run(self) -> None:
        # The context of the run in this thread, which the watchdog thread reads.
        context = vars(getattr(self._trio, "GLOBAL_RUN_CONTEXT", object))
        self._turn = self._watchdog.enter("trio", context.get, "task")

    def after_run(self) -> None:
        self._watchdog.leave(self._turn)

    def before_io_wait(self, timeout: float) -> None:
        self._watchdog.end_turn(self._turn)

    def after_io_wait(self, timeout: float) -> None:
        self._turn.since = CLOCK[0]()
