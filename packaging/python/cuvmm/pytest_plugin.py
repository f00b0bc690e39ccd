# SPDX-License-Identifier: Apache-2.0
"""pytest --cuvmm=h100: tests on a simulated machine, and what the checker finds as failures of the test that did it.

    setup      an object of a wider fixture is that fixture's      finding -> error at setup
    call       an object is the test's                             finding -> the test fails
    teardown   what the test made and nothing freed is a leak      finding, leak, an expected one that did not come -> error at teardown

The process is executed once more under `cuvmm check` before any conftest.py is loaded (launch.py); a worker of pytest-xdist is
started under one of its own.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import IO, Any

import pytest

from . import caches, checker, hooks, launch
from .finding import Finding

Span = tuple[int, int]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("cuvmm", "CUDA on a simulated machine, checked")
    group.addoption("--cuvmm", metavar="MACHINE",
                    help="run the tests on this machine and fail those that misuse or leak memory: h100, h200x2, "
                         "h100,kernels=skip, ...; driver: on this computer's driver")
    group.addoption("--cuvmm-fault", metavar="CALL:N", help="the Nth call of that kind fails, as in cuvmm exec --fault=mem_map:3")
    group.addoption("--cuvmm-suppressions", metavar="FILE", action="append", default=[], help="findings that are known (cuvmm check)")
    group.addoption("--cuvmm-leaks", choices=("yes", "no"), default="yes", help="fail tests that leave memory or other objects behind (yes)")
    group.addoption("--cuvmm-check", metavar="OPTION", action="append", default=[], help="one more option of cuvmm check: --cuvmm-check=--unwritten")


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(hooks)


def _settings(options: Any) -> launch.Settings:
    return launch.Settings(options.cuvmm, options.cuvmm_fault, tuple(options.cuvmm_suppressions), tuple(options.cuvmm_check))


def _distributes(options: Any) -> bool:
    return bool(getattr(options, "numprocesses", None) or getattr(options, "tx", None))


_live: IO[str] | None = None
_begun = False  # pytest in this process


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, object, object]:
    """Before pytest captures output, and before a conftest.py can load a library of CUDA."""
    global _live, _begun
    second, _begun = _begun, True
    options = early_config.known_args_namespace
    if options.cuvmm:
        path = os.environ.pop(launch.LIVE, None)
        if path:
            _live = open(path, encoding="utf-8", errors="replace")
            os.unlink(path)
        elif "PYTEST_XDIST_WORKER" in os.environ:
            raise pytest.UsageError("--cuvmm: this worker was not started by the plugin; only workers of this computer (popen) can be")
        elif second:
            raise pytest.UsageError("--cuvmm: pytest has run in this process; it needs a process of its own (pytester.runpytest_subprocess)")
        else:
            settings = _settings(options)
            # The process that only distributes makes no calls that are counted.
            again = launch.Settings(settings.machine, None, (), ()) if _distributes(options) else settings
            try:
                launch.again(again)
            except OSError as error:
                raise pytest.UsageError(f"--cuvmm: {error}") from error
    return (yield)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "cuvmm_expect(*rules, always=True): the test causes findings of these rules (VMM-MAP-OVERLAP, "
                                       "VMM-LEAK-*), which are no failures; always=False: or it does not")
    if config.getoption("cuvmm") and _live:
        session = Session(config, _live)
        config.pluginmanager.register(session, "cuvmm-session")
        config.pluginmanager.register(Lost(session), "cuvmm-lost")


class Test:
    """What is known of the test that runs."""

    def __init__(self, item: pytest.Item) -> None:
        self.failed = False
        self.ended: list[object] = []  # wider fixtures
        self.seen: set[str] = set()
        self.expected: dict[str, bool] = {}
        for marker in item.iter_markers("cuvmm_expect"):
            self.expected.update((rule, bool(marker.kwargs.get("always", True))) for rule in marker.args)

    def unexpected(self, findings: list[Finding]) -> list[Finding]:
        """Those that no marker expects."""
        rest = []
        for finding in findings:
            rules = [rule for rule in self.expected if fnmatchcase(finding.rule, rule)]
            self.seen.update(rules)
            if not rules:
                rest.append(finding)
        return rest

    def missing(self) -> list[str]:
        return [rule for rule, always in self.expected.items() if always and rule not in self.seen]


class Lost:
    """Tests behind a fault: the device is gone, and what they say means nothing."""

    def __init__(self, session: Session) -> None:
        self.session = session

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        if self.session.lost:
            end = pytest.fail if self.session.lost_as_expected else pytest.skip
            end(f"no device any more: {self.session.lost} caused a fault, which takes it from the process; run it in one of its own")


class Session:
    """The plugin in a process that is checked."""

    def __init__(self, config: pytest.Config, live: IO[str]) -> None:
        self.config = config
        self.live = live
        self.leaks = config.getoption("cuvmm_leaks") == "yes"
        self.test: Test | None = None
        self.elsewhere: list[str] = []  # what was found while no test ran
        self.owners: list[object] = [None]  # whose calls are made now: a test's, a wider fixture's, nobody's
        self.spans: dict[object, list[Span]] = {}
        self.since = 0
        self.lost = ""  # the test that lost a device
        self.lost_as_expected = False

    # ---- whose calls they are ----

    def _cut(self) -> None:
        now = checker.calls()
        if now > self.since and self.owners[-1] is not None:
            self.spans.setdefault(self.owners[-1], []).append((self.since, now))
        self.since = now

    @contextmanager
    def _owned(self, owner: object) -> Iterator[None]:
        self._cut()
        self.owners.append(owner)
        try:
            yield
        finally:
            self._cut()
            self.owners.remove(owner)

    def _leaks(self, owner: object) -> list[Finding]:
        """What the owner's calls made and is still held."""
        spans = self.spans.pop(owner, [])
        return self._found() if sum(checker.held(*span) for span in spans) else []

    def _found(self) -> list[Finding]:
        """What came since the last time. That a lost device is lost is said once."""
        findings = [finding for finding in map(Finding, checker.findings(self.live)) if finding.counts]
        return [finding for finding in findings if not (self.lost and finding.loses_device)]

    # ---- a test ----

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self._outside(self._found())
        self.test = Test(item)
        checker.phase(item.nodeid)
        with self._owned(item):
            result = yield
        self.test = None
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, object, object]:
        if fixturedef.scope == "function":
            return (yield)
        with self._owned(fixturedef):
            return (yield)

    def pytest_fixture_post_finalizer(self, fixturedef: Any) -> None:
        """A wider fixture has ended: what is left of it is the error of the teardown in which it did. pytest still has its value."""
        if fixturedef in self.spans and self.test:
            self.test.ended.append(fixturedef)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, object, object]:
        return (yield from self._step(item, "setup"))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        return (yield from self._step(item, "call"))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        return (yield from self._step(item, "teardown"))

    def _step(self, item: pytest.Item, when: str) -> Generator[None, object, object]:
        """setup, call, or teardown: fails where something was found. A failure of the test's own stays as it is, and has the
        findings beside it."""
        test = self.test
        assert test
        try:
            result = yield
        except BaseException as error:
            test.failed = test.failed or not isinstance(error, pytest.skip.Exception)
            text = self._report(item, when, test, self._ended(item, when, test))
            if text:
                item.add_report_section(when, "cuvmm", text)
            raise
        text = self._report(item, when, test, self._ended(item, when, test))
        if when == "teardown" and not test.failed and test.missing():
            text = "\n\n".join(filter(None, [text, "cuvmm_expect: did not come: " + ", ".join(test.missing())]))
        if text:
            test.failed = True
            pytest.fail(text, pytrace=False)
        return result

    def _ended(self, item: pytest.Item, when: str, test: Test) -> list[Finding]:
        """What came to light in this step. A test that has failed is held by its traceback, and so is its memory."""
        findings: list[Finding] = []
        self._cut()
        if when == "call" and item in self.spans and not self.lost:
            checker.wait_for_devices()
        findings += self._found()
        if when == "teardown":
            owners = [owner for owner in (item, *test.ended) if owner in self.spans]
            if owners and self.leaks and not test.failed and not self.lost:
                getattr(item, "funcargs", {}).clear()
                item.ihook.pytest_cuvmm_release(item=item)
                caches.release()
                findings += [finding for owner in owners for finding in self._leaks(owner)]
            for owner in owners:
                self.spans.pop(owner, None)
        return findings

    def _report(self, item: pytest.Item, when: str, test: Test, findings: list[Finding]) -> str:
        """Notes them for JUnit and the summary. Returns the text of those that are not expected."""
        wrong = test.unexpected(findings)
        for finding in findings:
            item.user_properties.append(("cuvmm" if finding in wrong else "cuvmm-expected", f"{finding.kind} {finding.title()}"))
        if not self.lost and any(finding.loses_device for finding in findings):
            self.lost = item.nodeid
            self.lost_as_expected = not any(finding.loses_device for finding in wrong)
        return "\n\n".join(finding.text() for finding in wrong)

    # ---- the session ----

    def _outside(self, findings: list[Finding]) -> None:
        self.elsewhere += [finding.text() for finding in findings]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._outside(self._found())
        output = getattr(self.config, "workeroutput", None)
        if output is not None:
            output["cuvmm"] = self.elsewhere
        elif self.elsewhere and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.elsewhere += getattr(node, "workeroutput", {}).get("cuvmm", [])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.elsewhere:
            terminalreporter.section("cuvmm: found while no test ran", red=True)
            for text in self.elsewhere:
                terminalreporter.write_line(text)

    def pytest_unconfigure(self) -> None:
        self.live.close()

    def pytest_report_header(self) -> str:
        return f"cuvmm: {self.config.getoption('cuvmm')}"

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self, config: pytest.Config, specs: list[Any]) -> None:
        settings = _settings(config.option)
        for i, spec in enumerate(specs):
            if spec.popen:
                words = [word for word in str(spec).split("//") if not word.startswith(("python=", "id="))]
                specs[i] = type(spec)("//".join([*words, f"id={spec.id}", "python=" + launch.worker(settings, spec.python)]))
