"""The watchdog thread of `pytest --blocklint`: it measures the turns of event loops and samples the stacks of long ones.

A loop reports when it begins and ends to wait for events, which costs two readings of a clock for each turn. The watchdog
thread checks the loops about once in the threshold, and reads the stack of a loop only if its turn already takes long.
"""

import gc
import sys
import threading
import time
import weakref
from collections import deque
from types import CodeType
from typing import Any, Callable, Deque, Dict, List, Optional, Set, Tuple

#: The clocks, in a tuple: libraries such as freezegun replace functions of `time`, but not those in a tuple.
CLOCK = (time.perf_counter, time.sleep, time.process_time)

#: The start of a turn while its loop waits for events: no time has passed since then.
WAITS = float("inf")

#: A frame of a stack: code, line, module.
Frame = Tuple[CodeType, int, str]

#: Modules of debuggers. A turn with a frame of theirs is no stall, because a person stopped the program.
DEBUGGERS = {"bdb", "pdb", "ipdb", "pudb", "debugpy", "pydevd", "_pydevd_bundle", "_pydevd_frame_eval"}

#: The number of stalls that are kept, the newest.
MAX_STALLS = 100_000

#: The number of checks without a loop after which the thread sleeps until a loop runs. A wake-up for each test would cost more.
IDLE_CHECKS = 50


class Sample:
    """A sampled stack, outermost frame first, with the time that it covers and the processor time in it."""

    __slots__ = ("callback", "cpu", "seconds", "stack", "turn")

    def __init__(self, turn: float, callback: int, stack: Tuple[Frame, ...], seconds: float, cpu: Optional[float]) -> None:
        self.turn, self.callback, self.stack, self.seconds, self.cpu = turn, callback, stack, seconds, cpu


class Stall:
    """A callback that held its loop for longer than the threshold."""

    def __init__(self, loop: str, seconds: float, samples: List[Sample], test: str, phase: str) -> None:
        self.loop, self.seconds, self.samples, self.test, self.phase = loop, seconds, samples, test, phase

    def cpu_share(self) -> float:
        """Returns the share of the time in which a processor ran the callback; 0 if it is unknown."""
        known = [(sample.cpu, sample.seconds) for sample in self.samples if sample.cpu is not None]
        measured = sum(seconds for _, seconds in known)
        return sum(cpu for cpu, _ in known) / measured if measured else 0.0

    def kept_lock(self, interval: float) -> bool:
        """True if a call kept the interpreter's lock, so that the watchdog could not run."""
        longest = max((sample.seconds for sample in self.samples), default=self.seconds)
        return longest > max(self.seconds / 2, 1.5 * interval)


class Turn:
    """The current turn of a running loop: the time from one wait for events to the next."""

    # Tests run thousands of loops, most of them for a moment, so turns are reused for other loops. Samples and excuses carry the
    # start of their turn, so that those of an earlier turn are recognised.
    __slots__ = (
        "ask", "callback", "collecting_since", "cpu", "cpu_clock", "debugged", "frame", "kind", "looked", "excused_seconds", "excused_turn",
        "of", "ran", "samples", "since", "thread",
    )  # fmt: skip

    def __init__(self) -> None:
        self.kind = ""
        #: `ask(of)` returns the running task, or None.
        self.ask: Callable[[Any], Any] = _nothing
        self.of: Any = None
        #: The thread of the loop, and the clock of that thread's processor time.
        self.thread = 0
        self.cpu_clock: Optional[int] = None
        #: The number of the callback that ran at the last check, the callback's task, and its outermost frame.
        self.callback = 0
        self.ran: Any = None
        self.frame = 0
        #: The time at which the loop ended to wait for events, which identifies the turn; WAITS while it waits.
        self.since = WAITS
        self.samples: List[Sample] = []
        self.looked = 0.0
        self.cpu: Optional[float] = None
        #: The time of a turn that does not count (garbage collections, a stopped process), and the start of that turn.
        self.excused_seconds = 0.0
        self.excused_turn = WAITS
        self.collecting_since = 0.0
        self.debugged = WAITS

    def callback_of(self, outermost: int) -> int:
        """Returns the number of the running callback, which is one more than before if another callback ran at the last check."""
        # A weak reference, because the watchdog must not keep tasks alive, and a new frame can have the address of an old one.
        task = self.ask(self.of)
        before = self.ran() if self.ran is not None else None
        if task is not before or task is None and outermost != self.frame:
            self.callback += 1
            self.ran = weakref.ref(task) if task is not None else None
        self.frame = outermost
        return self.callback

    def excuse(self, seconds: float) -> None:
        """Subtracts some seconds from the current turn."""
        if self.excused_turn != self.since:
            self.excused_turn, self.excused_seconds = self.since, 0.0
        self.excused_seconds += seconds


class Watchdog:
    """Watches all running loops."""

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold
        # Each check takes the interpreter's lock from the loop for a moment, so there are as few as possible. A turn that lasts as
        # long as the threshold is sampled at least once when it is `least` old: the check after a too early one comes in time.
        self.interval = min(threshold * 0.8, 0.05)
        self.least = min(threshold * 0.16, self.interval / 2)
        #: The delay of a check from which on the process may have been stopped, or the machine is busy.
        self.late = min(threshold * 0.4, 0.05)
        self.stalls: Deque[Stall] = deque(maxlen=MAX_STALLS)
        self.test, self.phase = "", ""
        #: The code objects of loops; the function that they call is the callback.
        self.machinery: Set[CodeType] = set()
        #: Functions that ask loops for an answer, for loops that do not report their turns themselves.
        self.pings: Dict[Turn, Callable[[], None]] = {}
        self._turns: List[Turn] = []
        #: Turns that are free for reuse.
        self._free: List[Turn] = []
        self._wake_up = threading.Event()
        self._asleep = False
        self._is_stopped = False
        self._thread: Optional[threading.Thread] = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._watch, name="blocklint", daemon=True)
        self._thread.start()
        gc.callbacks.append(self._on_garbage_collection)

    def stop(self) -> None:
        self._is_stopped = True
        self._wake_up.set()
        if self._on_garbage_collection in gc.callbacks:
            gc.callbacks.remove(self._on_garbage_collection)
        if self._thread is not None:
            self._thread.join(timeout=5)

    def enter(self, kind: str, ask: Callable[[Any], Any], of: Any) -> Turn:
        """Registers a loop that begins to run in this thread, and returns its turn; `ask(of)` returns the loop's task."""
        try:
            turn = self._free.pop()
        except IndexError:
            turn = Turn()
        turn.kind, turn.ask, turn.of = kind, ask, of
        thread = threading.get_ident()
        if turn.thread != thread:
            turn.thread, turn.cpu_clock = thread, cpu_clock()
        self._turns.append(turn)
        if self._asleep:
            self._asleep = False
            self._wake_up.set()
        turn.since = CLOCK[0]()
        return turn

    def leave(self, turn: Turn) -> None:
        """Removes the turn of a loop that has ended."""
        self.end_turn(turn)
        if turn in self._turns:
            self._turns.remove(turn)
            turn.ask, turn.of = _nothing, None
            self._free.append(turn)

    def end_turn(self, turn: Turn) -> None:
        """Ends the turn of a loop that begins to wait for events."""
        if CLOCK[0]() - turn.since > self.threshold:
            self.record_long_turn(turn)
        turn.since = WAITS

    def record_long_turn(self, turn: Turn) -> None:
        """Records the stalls of a turn that was longer than the threshold."""
        since = turn.since
        seconds = CLOCK[0]() - since
        if turn.excused_turn == since:
            seconds -= turn.excused_seconds
        samples = [sample for sample in turn.samples if sample.turn == since]
        debugged, turn.samples = turn.debugged == since, []
        if debugged or seconds < self.threshold:
            return
        # A turn of many short callbacks is long as well, although none of them is a stall.
        runs: List[List[Sample]] = []
        for sample in samples:
            if not runs or runs[-1][0].callback != sample.callback:
                runs.append([])
            runs[-1].append(sample)
        if len(runs) < 2:
            self.stalls.append(Stall(turn.kind, seconds, samples, self.test, self.phase))
            return
        for run in runs:
            lasted = sum(sample.seconds for sample in run)
            if lasted >= self.threshold:
                self.stalls.append(Stall(turn.kind, lasted, run, self.test, self.phase))

    def _on_garbage_collection(self, phase: str, info: Dict[str, Any]) -> None:
        # Collections of the youngest generation are short and frequent, so they are not measured.
        if info.get("generation") == 0:
            return
        thread = threading.get_ident()
        for turn in self._turns:
            if turn.thread != thread:
                continue
            if phase == "start":
                turn.collecting_since = CLOCK[0]()
            elif turn.collecting_since:
                turn.excuse(CLOCK[0]() - turn.collecting_since)
                turn.collecting_since = 0.0

    def _watch(self) -> None:
        clock, sleep, process_time = CLOCK
        idle = 0
        while not self._is_stopped:
            idle = 0 if self._turns else idle + 1
            if idle > IDLE_CHECKS:
                self._wake_up.clear()
                self._asleep = True
                # A loop that began in between has not seen `_asleep`, so it would not wake this thread.
                if not self._turns and not self._is_stopped:
                    self._wake_up.wait()
                self._asleep = False
                idle = 0
            before, cpu = clock(), process_time()
            sleep(self.interval)
            now = clock()
            late = now - before - self.interval
            # The check is late. If the process used no processor time, it was stopped, or the machine is busy. Else a call keeps the
            # interpreter's lock, which is a stall.
            stopped = late if late > self.late and process_time() - cpu < late / 5 else 0.0
            for turn in list(self._turns):
                if stopped:
                    turn.excuse(stopped)
                self._sample(turn, now)
                ping = self.pings.get(turn)
                if ping is not None:
                    ping()

    def _sample(self, turn: Turn, now: float) -> None:
        since = turn.since
        if now - since < self.least:
            return
        frame = sys._current_frames().get(turn.thread)
        stack: List[Frame] = []
        outermost = 0
        while frame is not None:
            if frame.f_code in self.machinery:
                break
            module = frame.f_globals.get("__name__")
            module = module if isinstance(module, str) else ""
            if module.partition(".")[0] in DEBUGGERS:
                turn.debugged = since
            stack.append((frame.f_code, frame.f_lineno or 0, module))
            outermost = id(frame)
            frame = frame.f_back
        stack.reverse()
        callback = turn.callback_of(outermost)
        spent = cpu_of(turn.cpu_clock)
        if turn.since != since:
            return
        first = not turn.samples or turn.samples[-1].turn != since
        seconds = now - (since if first else turn.looked)
        cpu = None if first or spent is None or turn.cpu is None else spent - turn.cpu
        turn.looked, turn.cpu = now, spent
        if first:
            turn.samples = []
        turn.samples.append(Sample(since, callback, tuple(stack), seconds, cpu))


def _nothing(_of: Any) -> None:
    """Returns None as the task, for a turn without a loop."""


def cpu_clock() -> Optional[int]:
    """Returns the clock of this thread's processor time, or None if the system has none. The thread itself must call it."""
    try:
        return time.pthread_getcpuclockid(threading.get_ident())  # type: ignore[attr-defined,unused-ignore]
    except (AttributeError, OSError):
        return None


def cpu_of(clock: Optional[int]) -> Optional[float]:
    try:
        return time.clock_gettime(clock) if clock is not None else None  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        return None
