"""Makes loops tell the watchdog when they wait: asyncio's, uvloop's and trio's."""

import asyncio
import importlib.util
import sys
from typing import Any, Callable, List, Set, Tuple

from .watchdog import CLOCK, WAITS, Watchdog

#: What was replaced: the owner, the attribute, what it held.
Replaced = List[Tuple[Any, str, Any]]


class Hooks:
    """What is replaced while tests run."""

    def __init__(self, watchdog: Watchdog) -> None:
        self.watchdog = watchdog
        self.replaced: Replaced = []
        #: The libraries whose loops are watched besides asyncio's.
        self.done: Set[str] = set()

    def _replace(self, owner: Any, name: str, by: Callable[[Any], Any]) -> None:
        real = getattr(owner, name)
        self.replaced.append((owner, name, owner.__dict__.get(name)))
        setattr(owner, name, by(real))

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

    def _of_asyncio(self, real: Callable[[Any], None]) -> Callable[[Any], None]:
        watchdog, clock = self.watchdog, CLOCK[0]

        def run_forever(loop: Any) -> None:
            selector = getattr(loop, "_selector", None)
            select = getattr(selector, "select", None)
            if select is None:
                return self._run_asked(loop, real)
            turn = watchdog.enter("asyncio", _task_of(loop))
            threshold, took_long = watchdog.threshold, watchdog.took_long

            # This runs for every turn, some thousand times a second.
            def watched(timeout: Any = None) -> Any:
                if clock() - turn.since > threshold:
                    took_long(turn)
                turn.since = WAITS
                events = select(timeout)
                turn.since = clock()
                return events

            own = "select" in vars(selector) if hasattr(selector, "__dict__") else None
            try:
                selector.select = watched  # type: ignore[union-attr,method-assign]
            except AttributeError:
                watchdog.leave(turn)
                return self._run_asked(loop, real)
            try:
                return real(loop)
            finally:
                watchdog.leave(turn)
                if own:
                    selector.select = select  # type: ignore[union-attr,method-assign]
                else:
                    vars(selector).pop("select", None)

        watchdog.machinery.add(run_forever.__code__)
        return run_forever

    def _of_others(self, real: Callable[[Any], None]) -> Callable[[Any], None]:
        def run_forever(loop: Any) -> None:
            return self._run_asked(loop, real)

        return run_forever

    def _run_asked(self, loop: Any, real: Callable[[Any], None]) -> None:
        """Of a loop that cannot be heard the watchdog asks for an answer, again as soon as it got one."""
        watchdog, clock = self.watchdog, CLOCK[0]
        turn = watchdog.enter("asyncio", _task_of(loop))
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


def _task_of(loop: Any) -> Callable[[], Any]:
    def task() -> Any:
        return asyncio.current_task(loop)

    return task


class Instrument:
    """What trio tells of its turns."""

    def __init__(self, watchdog: Watchdog, trio: Any) -> None:
        self._watchdog = watchdog
        self._trio = trio
        self._turn: Any = None

    def before_run(self) -> None:
        # What this thread's run knows of itself, for another thread to read.
        context = vars(getattr(self._trio, "GLOBAL_RUN_CONTEXT", object))
        self._turn = self._watchdog.enter("trio", lambda: context.get("task"))

    def after_run(self) -> None:
        self._watchdog.leave(self._turn)

    def before_io_wait(self, timeout: float) -> None:
        self._watchdog.waits(self._turn)

    def after_io_wait(self, timeout: float) -> None:
        self._turn.since = CLOCK[0]()
