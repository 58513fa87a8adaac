"""Which loops run, how long each has not ticked, and where its thread stands meanwhile.

A loop tells when it begins and ends to wait for events: two readings of a clock for each turn. A thread looks at the loops about once in
the threshold, and at the stack of one only where its turn already takes long.
"""

import gc
import sys
import threading
import time
import weakref
from collections import deque
from types import CodeType
from typing import Any, Callable, Deque, Dict, List, Optional, Set, Tuple

#: In a tuple, where libraries that set tests a time of their own do not replace it.
CLOCK = (time.perf_counter, time.sleep, time.process_time)

#: When a turn began that has not: of a loop that waits no time has passed.
WAITS = float("inf")

#: One frame: code, line, module.
Frame = Tuple[CodeType, int, str]

#: In their frames somebody looks at the program; the time is theirs.
DEBUGGERS = {"bdb", "pdb", "ipdb", "pudb", "debugpy", "pydevd", "_pydevd_bundle", "_pydevd_frame_eval"}

#: So many stalls are kept: a suite that stalls more often has no use for the rest.
MOST_STALLS = 100_000

#: After so many looks at no loop the thread sleeps until there is one: to wake it for each test would cost more than the looks.
IDLE = 50


class Sample:
    """A stack that was seen, outermost first, the time that it stands for, and how much of that a processor had to do."""

    __slots__ = ("callback", "cpu", "seconds", "stack", "turn")

    def __init__(self, turn: float, callback: int, stack: Tuple[Frame, ...], seconds: float, cpu: Optional[float]) -> None:
        self.turn, self.callback, self.stack, self.seconds, self.cpu = turn, callback, stack, seconds, cpu


class Stall:
    """A time for which one callback held its loop."""

    def __init__(self, loop: str, seconds: float, samples: List[Sample], test: str, phase: str) -> None:
        self.loop, self.seconds, self.samples, self.test, self.phase = loop, seconds, samples, test, phase

    def cpu_share(self) -> float:
        """How much of the time a processor was busy with it; 0 where nobody knows."""
        known = [(sample.cpu, sample.seconds) for sample in self.samples if sample.cpu is not None]
        told = sum(seconds for _, seconds in known)
        return sum(cpu for cpu, _ in known) / told if told else 0.0

    def kept_lock(self, interval: float) -> bool:
        """True if a call kept the interpreter's lock, so that the watchdog could not look in time."""
        longest = max((sample.seconds for sample in self.samples), default=self.seconds)
        return longest > max(self.seconds / 2, 1.5 * interval)


class Turn:
    """The turn of one running loop."""

    # Tests run loops by the thousand, most of them for a moment: turns are used again for other loops, and the times by which they are known
    # tell what is of an earlier one.
    __slots__ = (
        "ask", "callback", "collecting_since", "cpu", "cpu_clock", "debugged", "frame", "kind", "looked", "not_counted", "not_counted_of",
        "of", "ran", "samples", "since", "thread",
    )  # fmt: skip

    def __init__(self) -> None:
        self.kind = ""
        #: Together they give the task that runs, if one does.
        self.ask: Callable[[Any], Any] = _nothing
        self.of: Any = None
        #: Where it runs, and the clock of that thread's time on a processor.
        self.thread = 0
        self.cpu_clock: Optional[int] = None
        #: Counts what ran at each look: the task, or the outermost frame of what is none.
        self.callback = 0
        self.ran: Any = None
        self.frame = 0
        #: When the loop ended to wait for events, by which the turn is known; WAITS while it waits.
        self.since = WAITS
        self.samples: List[Sample] = []
        self.looked = 0.0
        self.cpu: Optional[float] = None
        #: How much of a turn, and of which, is nobody's fault: garbage collections, a process that was stopped.
        self.not_counted = 0.0
        self.not_counted_of = WAITS
        self.collecting_since = 0.0
        self.debugged = WAITS

    def callback_of(self, outermost: int) -> int:
        """The number of what runs now; another one than at the last look has another number."""
        # Frames that end make place for others at the same address, and tasks may not be kept alive.
        task = self.ask(self.of)
        before = self.ran() if self.ran is not None else None
        if task is not before or task is None and outermost != self.frame:
            self.callback += 1
            self.ran = weakref.ref(task) if task is not None else None
        self.frame = outermost
        return self.callback

    def excuse(self, seconds: float) -> None:
        """So much of this turn does not count."""
        if self.not_counted_of != self.since:
            self.not_counted_of, self.not_counted = self.since, 0.0
        self.not_counted += seconds


class Watchdog:
    """Looks at all loops that run."""

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold
        # Each look takes the interpreter's lock from the loop for a moment, and so there are as few as can be: a turn that lasts for the
        # threshold is seen once when it is at least `least` old, for the look after one that comes too early comes before it ends.
        self.interval = min(threshold * 0.8, 0.05)
        self.least = min(threshold * 0.16, self.interval / 2)
        #: By so much a look must be late before the machine is blamed.
        self.late = min(threshold * 0.4, 0.05)
        self.stalls: Deque[Stall] = deque(maxlen=MOST_STALLS)
        self.test, self.phase = "", ""
        #: Frames of these codes belong to the loop; what they call is the callback.
        self.machinery: Set[CodeType] = set()
        #: For loops that say nothing of themselves: asked whether they tick.
        self.pings: Dict[Turn, Callable[[], None]] = {}
        self._turns: List[Turn] = []
        #: Those that belong to no loop.
        self._free: List[Turn] = []
        self._some = threading.Event()
        self._asleep = False
        self._over = False
        self._thread: Optional[threading.Thread] = None

    def start(self) -> None:
        self._thread = threading.Thread(target=self._watch, name="blocklint", daemon=True)
        self._thread.start()
        gc.callbacks.append(self._collected)

    def stop(self) -> None:
        self._over = True
        self._some.set()
        if self._collected in gc.callbacks:
            gc.callbacks.remove(self._collected)
        if self._thread is not None:
            self._thread.join(timeout=5)

    def enter(self, kind: str, ask: Callable[[Any], Any], of: Any) -> Turn:
        """A loop begins to run in this thread; its task is what `ask` says of `of`."""
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
            self._some.set()
        turn.since = CLOCK[0]()
        return turn

    def leave(self, turn: Turn) -> None:
        """The loop ends to run."""
        self.waits(turn)
        if turn in self._turns:
            self._turns.remove(turn)
            turn.ask, turn.of = _nothing, None
            self._free.append(turn)

    def waits(self, turn: Turn) -> None:
        """The loop begins to wait: its turn is over."""
        if CLOCK[0]() - turn.since > self.threshold:
            self.took_long(turn)
        turn.since = WAITS

    def took_long(self, turn: Turn) -> None:
        """The turn is over, and longer than the threshold."""
        since = turn.since
        seconds = CLOCK[0]() - since
        if turn.not_counted_of == since:
            seconds -= turn.not_counted
        samples = [sample for sample in turn.samples if sample.turn == since]
        debugged, turn.samples = turn.debugged == since, []
        if debugged or seconds < self.threshold:
            return
        # Many short callbacks make a long turn as well, and none of them stalls the others.
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

    def _collected(self, phase: str, info: Dict[str, Any]) -> None:
        # Those of the youngest objects are over at once, and come for every few hundred of them.
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
        while not self._over:
            idle = 0 if self._turns else idle + 1
            if idle > IDLE:
                self._some.clear()
                self._asleep = True
                # A loop may have come meanwhile, and have seen nobody sleep.
                if not self._turns and not self._over:
                    self._some.wait()
                self._asleep = False
                idle = 0
            before, cpu = clock(), process_time()
            sleep(self.interval)
            now = clock()
            late = now - before - self.interval
            # Nobody let this thread run. If nothing else of the process ran either, it was stopped, or the machine is busy; else a
            # call keeps the interpreter's lock, and that is a stall.
            stopped = late if late > self.late and process_time() - cpu < late / 5 else 0.0
            for turn in list(self._turns):
                if stopped:
                    turn.excuse(stopped)
                self._look(turn, now)
                ping = self.pings.get(turn)
                if ping is not None:
                    ping()

    def _look(self, turn: Turn, now: float) -> None:
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
    """The task of no loop."""


def cpu_clock() -> Optional[int]:
    """The clock of this thread's time on a processor, where the system has one. Asked in the thread itself: one that ended has none."""
    try:
        return time.pthread_getcpuclockid(threading.get_ident())  # type: ignore[attr-defined,unused-ignore]
    except (AttributeError, OSError):
        return None


def cpu_of(clock: Optional[int]) -> Optional[float]:
    try:
        return time.clock_gettime(clock) if clock is not None else None  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        return None
