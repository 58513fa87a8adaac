"""Makes loops tell the watchdog when they wait: asyncio's, uvloop's and trio's."""

import asyncio
import importlib.util
import sys
from typing import Any, Callable, Dict, List, Set, Tuple

from .watchdog import CLOCK, WAITS, Watchdog

#: Replaced attributes: the owner, the attribute, its former value.
Replaced = List[Tuple[Any, str, Any]]


class Hooks:
    """The attributes that are replaced while tests run."""

    def __init__(self, watchdog: Watchdog) -> None:
        self.watchdog = watchdog
        self.replaced: Replaced = []
        #: The libraries whose loops are watched besides asyncio's.
        self.done: Set[str] = set()
        self.heard = Selectors(watchdog, self._replace)

    def _replace(self, owner: Any, name: str, by: Callable[[Any], Any]) -> None:
        before, real = owner.__dict__.get(name), getattr(owner, name, None)
        setattr(owner, name, by(real))
        self.replaced.append((owner, name, before))

    def install(self) -> None:
        self.watchdog.machinery |= {asyncio.events.Handle._run.__code__, Hooks._run_asked.__code__}
        self._replace(asyncio.BaseEventLoop, "run_forever", self._of_asyncio)

    def install_loaded(self) -> None:
        """Libraries that bring loops of their own and are imported by now."""
        trio = sys.modules.get("trio._core._run")
        if trio is not None and "trio" not in self.done and hasattr(trio, "setup_runner"):
            self.done.add("trio")
            self.watchdog.machinery.add(trio.unrolled_run.__code__)
            self._replace(trio, "setup_runner", self._of_trio)
        uvloop = sys.modules.get("uvloop")
        if uvloop is not None and "uvloop" not in self.done and hasattr(uvloop, "Loop"):
            self.done.add("uvloop")
            self._replace(uvloop.Loop, "run_forever", self._of_others)

    def import_backends(self) -> None:
        """Where one library chooses the loop while a fixture is made, its choices are imported before."""
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
        self.heard.methods.clear()

    def _of_asyncio(self, real: Callable[[Any], None]) -> Callable[[Any], None]:
        watchdog, heard = self.watchdog, self.heard

        # A test runs its loop several times: to set up, for itself, to end what is left.
        def run_forever(loop: Any) -> None:
            selector: Any = getattr(loop, "_selector", None)
            if not heard.hears(selector):
                return self._run_asked(loop, real)
            if selector._blocklint_turn is not None:
                # It runs already, and says so itself.
                return real(loop)
            turn = selector._blocklint_turn = watchdog.enter("asyncio", asyncio.current_task, loop)
            try:
                return real(loop)
            finally:
                selector._blocklint_turn = None
                watchdog.leave(turn)

        watchdog.machinery.add(run_forever.__code__)
        return run_forever

    def _of_others(self, real: Callable[[Any], None]) -> Callable[[Any], None]:
        def run_forever(loop: Any) -> None:
            return self._run_asked(loop, real)

        return run_forever

    def _run_asked(self, loop: Any, real: Callable[[Any], None]) -> None:
        """Of a loop that cannot be heard the watchdog asks for an answer, again as soon as it got one."""
        watchdog, clock = self.watchdog, CLOCK[0]
        turn = watchdog.enter("asyncio", asyncio.current_task, loop)
        turn.since = WAITS

        def answer() -> None:
            watchdog.waits(turn)

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

    def _of_trio(self, real: Callable[..., Any]) -> Callable[..., Any]:
        watchdog = self.watchdog

        def setup_runner(clock: Any, instruments: Any, *more: Any, **named: Any) -> Any:
            return real(clock, [*instruments, Instrument(watchdog, sys.modules["trio._core._run"])], *more, **named)

        return setup_runner


class Selectors:
    """Makes selectors tell when a loop waits by them.

    By their classes: a method that one object has of its own makes each call of it slower, and objects come with every loop. The turn is an
    attribute of the selector, which is found in no time.
    """

    def __init__(self, watchdog: Watchdog, replace: Callable[[Any, str, Callable[[Any], Any]], None]) -> None:
        self.watchdog = watchdog
        self.replace = replace
        #: The classes' present methods; nothing where they could not be replaced.
        self.methods: Dict[type, Any] = {}

    def hears(self, selector: Any) -> bool:
        """True if a loop that waits by this selector is heard."""
        of = type(selector)
        if of not in self.methods:
            self.methods[of] = self._method(of)
        method = self.methods[of]
        # Somebody may have given this one a method of its own, which need not end in the class's.
        return method is not None and getattr(selector.select, "__func__", None) is method

    def _method(self, of: type) -> Any:
        # An object without a dictionary has no place for its turn.
        if not callable(getattr(of, "select", None)) or not getattr(of, "__dictoffset__", 0):
            return None
        try:
            self.replace(of, "_blocklint_turn", lambda _: None)
            self.replace(of, "select", self._telling)
        except TypeError:  # A class that is not written in Python.
            return None
        return of.__dict__["select"]

    def _telling(self, real: Callable[..., Any]) -> Callable[..., Any]:
        clock, threshold, took_long = CLOCK[0], self.watchdog.threshold, self.watchdog.took_long

        # This runs for every turn, some thousand times a second.
        def select(selector: Any, timeout: Any = None) -> Any:
            turn = selector._blocklint_turn
            if turn is None:
                return real(selector, timeout)
            if clock() - turn.since > threshold:
                took_long(turn)
            turn.since = WAITS
            events = real(selector, timeout)
            turn.since = clock()
            return events

        return select


class Instrument:
    """The instrument by which trio tells of its turns."""

    def __init__(self, watchdog: Watchdog, trio: Any) -> None:
        self._watchdog = watchdog
        self._trio = trio
        self._turn: Any = None

    def before_run(self) -> None:
        # The context of this thread's run, for another thread to read.
        context = vars(getattr(self._trio, "GLOBAL_RUN_CONTEXT", object))
        self._turn = self._watchdog.enter("trio", context.get, "task")

    def after_run(self) -> None:
        self._watchdog.leave(self._turn)

    def before_io_wait(self, timeout: float) -> None:
        self._watchdog.waits(self._turn)

    def after_io_wait(self, timeout: float) -> None:
        self._turn.since = CLOCK[0]()
