# SPDX-License-Identifier: Apache-2.0
"""What the plugin promises besides planted mistakes: each case runs pytest in a process of its own, on the driver API by ctypes.

    python -m pytest -p pytester plugin_test.py
"""

from __future__ import annotations

import os
import sys

import pytest

DRIVER = """
import ctypes
cuda = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()

def begin():
    assert cuda.cuInit(0) == 0
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0

def allocate(size=1 << 20):
    at = ctypes.c_uint64()
    result = cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(size))
    return at if result == 0 else None

def free(at):
    return cuda.cuMemFree_v2(at)

def mistake():
    return free(ctypes.c_uint64(0x1000))
"""
FIRST = "import driver, pytest\n@pytest.fixture(scope='session', autouse=True)\ndef begun():\n    driver.begin()\n"


@pytest.fixture
def run(pytester: pytest.Pytester):
    """run(TEST, ARGUMENT...): its suite, on the simulator unless an argument says otherwise."""
    pytester.makepyfile(driver=DRIVER)

    def of(text: str, *arguments: str, machine: str = "h100") -> pytest.RunResult:
        pytester.makepyfile(test_suite=FIRST + text)
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", "-W", "error", *([f"--cuvmm={machine}"] if machine else []), *arguments)
    return of


def test_nothing_is_done_without_the_option(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import os\ndef test_one():\n    assert 'CUVMM_CHECK' not in os.environ\n")
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_a_suite_without_a_driver_call_passes(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one():\n    pass\n")
    result = pytester.runpytest_subprocess("--cuvmm=h100")
    assert result.ret == 0
    result.assert_outcomes(passed=1)


def test_a_conftest_sees_the_machine(run, pytester: pytest.Pytester) -> None:
    pytester.makeconftest("import driver, ctypes\ncount = ctypes.c_int()\nassert driver.cuda.cuInit(0) == 0\n"
                          "assert driver.cuda.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value == 2\n")
    assert run("def test_one():\n    pass\n", machine="h200x2").ret == 0


def test_no_such_machine(run) -> None:
    result = run("def test_one():\n    pass\n", machine="h1000")
    assert result.ret == 125
    result.stderr.fnmatch_lines(["*h1000*"])


def test_the_same_mistake_is_each_test_s_own(run) -> None:
    result = run("def test_one():\n    driver.mistake()\ndef test_two():\n    driver.mistake()\ndef test_three():\n    pass\n", "-rA")
    result.assert_outcomes(failed=2, passed=1)
    result.stdout.fnmatch_lines(["*test_suite.py:6: in test_one*", "*test_suite.py:8: in test_two*"])


def test_a_failure_of_the_test_s_own_stays(run) -> None:
    result = run("def test_one():\n    driver.mistake()\n    assert 1 == 2\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*assert 1 == 2*", "*Captured cuvmm call*", "VMM-ALLOC-FREE*"])


def test_what_a_failed_test_holds_is_no_leak(run) -> None:
    run("def test_one():\n    kept = driver.allocate()\n    assert not kept\n").assert_outcomes(failed=1)


def test_what_a_wider_fixture_makes_is_its_own(run) -> None:
    result = run("@pytest.fixture(scope='module')\ndef buffer():\n    at = driver.allocate()\n    yield at\n    driver.free(at)\n"
                 "@pytest.fixture(scope='module')\ndef lost():\n    return driver.allocate()\n"
                 "def test_one(buffer, lost):\n    pass\ndef test_two(buffer, lost):\n    pass\n", "-rA")
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*ERROR at teardown of test_two*", "*test_suite.py:12: in lost*"])
    result.stdout.no_fnmatch_line("*in buffer*")


def test_leaks_are_looked_for_on_request(run) -> None:
    run("def test_one():\n    driver.allocate()\n", "--cuvmm-leaks=no").assert_outcomes(passed=1)


def test_a_conftest_frees_its_cache_first(run, pytester: pytest.Pytester) -> None:
    pytester.makeconftest("import driver\nCACHE = []\ndef pytest_cuvmm_release(item):\n    while CACHE:\n        driver.free(CACHE.pop())\n")
    run("def test_one():\n    import conftest\n    conftest.CACHE.append(driver.allocate())\n").assert_outcomes(passed=1)


def test_markers(run) -> None:
    result = run("@pytest.mark.cuvmm_expect('VMM-ALLOC-FREE-*')\ndef test_one():\n    driver.mistake()\n"
                 "@pytest.mark.cuvmm_expect('VMM-ALLOC-FREE-*')\ndef test_two():\n    pass\n"
                 "@pytest.mark.cuvmm_expect('VMM-ALLOC-FREE-*', always=False)\ndef test_three():\n    pass\n"
                 "@pytest.mark.cuvmm_expect('VMM-MAP-*', always=False)\ndef test_four():\n    driver.mistake()\n", "--strict-markers")
    result.assert_outcomes(passed=3, failed=1, errors=1)
    result.stdout.fnmatch_lines(["*ERROR at teardown of test_two*", "cuvmm_expect: did not come: VMM-ALLOC-FREE-*"])


def test_suppressions(run, pytester: pytest.Pytester) -> None:
    pytester.makefile(".supp", known="{\n  known\n  VMM-ALLOC-FREE-*\n  ...\n  py:test_one\n}\n")
    result = run("def test_one():\n    driver.mistake()\ndef test_two():\n    driver.mistake()\n", "--cuvmm-suppressions=known.supp")
    result.assert_outcomes(passed=1, failed=1)


def test_a_call_that_fails_on_request(run) -> None:
    run("def test_one():\n    assert driver.allocate() is None\n    at = driver.allocate()\n    assert at\n    driver.free(at)\n",
        "--cuvmm-fault=mem_alloc:1").assert_outcomes(passed=1)


def test_growth(run) -> None:
    result = run("import cuvmm\ndef test_one():\n    kept = []\n    for _ in range(10):\n        kept.append(driver.allocate())\n"
                 "        cuvmm.mark('step')\n    for at in kept:\n        driver.free(at)\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["VMM-LEAK-GROWS at *", "  test_suite.py:9: in test_one"])


def test_a_child_s_mistake_is_the_test_s(run) -> None:
    result = run("import subprocess, sys\ndef test_one():\n"
                 "    subprocess.run([sys.executable, '-c', 'import driver; driver.begin(); driver.mistake()'], check=True)\ndef test_two():\n    pass\n")
    result.assert_outcomes(failed=1, passed=1)


def test_what_no_test_did_fails_the_run(run) -> None:
    result = run("driver.begin()\ndriver.mistake()\ndef test_one():\n    pass\n")
    result.assert_outcomes(passed=1)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*cuvmm: found while no test ran*", "VMM-ALLOC-FREE-*", "  test_suite.py:6: in <module>"])


def test_a_crash_is_reported(run) -> None:
    result = run("import os, signal\ndef test_one():\n    at = driver.allocate()\n    os.kill(os.getpid(), signal.SIGSEGV)\n")
    assert result.ret == 128 + 11
    result.stderr.fnmatch_lines(["*ended by signal 11*"])


def test_the_command_line_is_kept(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import sys\ndef test_one():\n    assert sys.flags.dev_mode and 'a b' in sys.argv\n")
    result = pytester.run(sys.executable, "-X", "dev", "-m", "pytest", "--cuvmm=h100", "--ignore", "a b")
    assert result.ret == 0


def test_a_run_inside_of_a_test_s_process_is_refused(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one():\n    pass\n")
    result = pytester.runpytest_inprocess("--cuvmm=h100")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*process of its own*"])


def test_workers_have_a_machine_each(run, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xdist")
    monkeypatch.setenv("TMPDIR", str(pytester.mkdir("tmp")))
    result = run("import os\n@pytest.mark.parametrize('round', range(6))\ndef test_one(round):\n"
                 "    size = 70 << 30\n    at = driver.allocate(size)\n    assert at, os.environ['CUVMM_MACHINE']\n"
                 "    driver.free(at)\n    if round == 3:\n        driver.mistake()\n", "-n", "3")
    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines(["FAILED *test_one?3?*"])
    assert not [name for name in os.listdir(os.environ["TMPDIR"]) if name.startswith("cuvmm-pytest-")]
