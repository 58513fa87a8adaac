"""The pytest hooks of `--blocklint`, and the report at the end of the run."""

import json
import os
from typing import Any, Dict, Iterator, List, Optional, Set

import pytest

from . import evidence, matching, report
from .frames import Places
from .loops import Hooks
from .watchdog import Watchdog

#: The key in `workeroutput` under which a worker passes its stalls to the controller.
OUTPUT = "blocklint_stalls"


class Session:
    """A run of pytest; with pytest-xdist the controller or a worker."""

    def __init__(self, config: Any, threshold: float) -> None:
        self.config = config
        self.threshold = threshold
        self.root = str(getattr(config, "rootpath", None) or config.rootdir)
        self.is_worker = hasattr(config, "workerinput")
        self.test_files: Set[str] = set()
        self.watchdog = Watchdog(threshold)
        self.hooks = Hooks(self.watchdog)
        self.stalls: List[Dict[str, Any]] = []
        #: The number of workers that ended without reporting their stalls.
        self.lost = 0
        self.stall_report: Optional[report.StallReport] = None
        #: The message of `--blocklint-fail`, if it fails the run.
        self.failure = ""

    def pytest_sessionstart(self) -> None:
        self.hooks.install()
        self.watchdog.start()

    def pytest_collection_finish(self, session: Any) -> None:
        if any("anyio_backend" in getattr(item, "fixturenames", ()) for item in session.items):
            self.hooks.import_backends()
        self.hooks.install_loaded()
        self.test_files |= {str(getattr(item, "path", None) or item.fspath) for item in session.items}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> None:
        self.hooks.install_loaded()
        self.watchdog.test, self.watchdog.phase = item.nodeid, "setup"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self) -> None:
        self.watchdog.phase = "call"

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self) -> None:
        self.watchdog.phase = "teardown"

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        told = getattr(node, "workeroutput", {}).get(OUTPUT)
        if told is None:
            self.lost += 1
        else:
            self.stalls += json.loads(told)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_sessionfinish(self, session: Any) -> Iterator[None]:
        self.watchdog.stop()
        self.hooks.remove()
        if self.watchdog.stalls:
            places = Places(self.root, self.test_files)
            self.stalls += [evidence.stall_to_json(stall, places, self.watchdog.interval) for stall in self.watchdog.stalls]
            self.watchdog.stalls.clear()
        if self.is_worker:
            # The worker sends its output when it finishes, which is after this.
            self.config.workeroutput[OUTPUT] = json.dumps(self.stalls)
        yield
        if self.is_worker:
            return
        # By now the controller has the output of all workers.
        self.stalls.sort(key=lambda stall: (stall["test"], -stall["seconds"]))
        self._finish(session)

    def _finish(self, session: Any) -> None:
        option = self.config.getoption
        problems = []
        if self.lost:
            problems.append("{} of the workers ended without telling what they saw".format(self.lost))
        written = option("blocklint_evidence")
        if written:
            try:
                evidence.write(written, self.stalls, self.threshold)
            except OSError as error:
                problems.append("--blocklint-evidence: {}".format(error))
        findings: List[Dict[str, Any]] = []
        given = option("blocklint_findings")
        if given:
            try:
                findings = matching.read(given)
            except (OSError, ValueError) as error:
                problems.append("--blocklint-findings {}: {}".format(given, error))
        elif self.stalls:
            findings, failed = matching.find(self._files(), self.root)
            if failed:
                problems.append("blocklint could not run: {}".format(failed))
        self.stall_report = report.build_report(self.stalls, matching.Findings(findings, self.root), self.threshold, self.root)
        self.stall_report.problems = problems
        if option("blocklint_fail") and self.stall_report.of_project and session.exitstatus in (0, 5):
            session.exitstatus = int(pytest.ExitCode.TESTS_FAILED)
            self.failure = self.stall_report.failure()

    def _files(self) -> List[str]:
        """Returns the files of stack frames outside of libraries, which have all findings that could match."""
        frames = [frame for stall in self.stalls for sample in stall["samples"] for frame in sample["stack"]]
        files = {matching.source_of(frame["file"], self.root) for frame in frames if frame["of"] != "library"}
        return sorted(file for file in files if os.path.isfile(file)) or [self.root]

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.stall_report is not None:
            report.write(terminalreporter, self.stall_report)

    def pytest_unconfigure(self) -> None:
        # Patches are removed here too, because a run can end without `pytest_sessionfinish`.
        self.watchdog.stop()
        self.hooks.remove()
        # The message is below pytest's last line, which says that all tests passed.
        reporter = self.config.pluginmanager.getplugin("terminalreporter")
        if self.failure and reporter is not None:
            reporter.write_line(self.failure, red=True)
