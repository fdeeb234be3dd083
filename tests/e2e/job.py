"""What the end-to-end tests share: the build's programs, an empty folder for each test, comparisons, a runner.

A test file calls main(globals()): every function test_* runs in a folder of its own, in the order of the file; the
arguments after BUILD are in `arguments`. A failed check ends its test and shows what was run. Exit status 77 when
every test was skipped.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import driver

build = pathlib.Path(sys.argv[1]).resolve()
arguments = sys.argv[2:]
bin_dir, apps, tests_dir = build / "bin", build / "bin" / "apps", build / "tests"
GTRACE, GANALYZE, GOPTIMIZE = (str(bin_dir / p) for p in ("gtrace", "ganalyze", "goptimize"))
# Where nothing is injected but for other reasons: huge pages alone are one, where the system gives them to who asks.
RUN = (GOPTIMIZE, "run", "--pages", "never")
USAGE, INPUT, ENVIRONMENT = 2, 3, 4

_history = []


class Skip(Exception):
    pass


class Outcome:
    def __init__(self, command, done, environment):
        self.command, self.code, self.out, self.err = command, done.returncode, done.stdout, done.stderr
        self.environment = environment

    @property
    def text(self):
        return self.out.decode(errors="replace")

    @property
    def err_text(self):
        return self.err.decode(errors="replace")

    @property
    def json(self):
        check(self.code == 0, f"exit status {self.code}")
        try:
            return json.loads(self.out)
        except ValueError as e:
            check(False, f"not JSON: {e}")


def run(*command, timeout=200, **options):
    """Runs a command and remembers it; its status as a shell would give it: 128 + signal."""
    command = [str(c) for c in command]
    env = dict(os.environ, **options.pop("env", {}))
    done = subprocess.run(command, capture_output=True, timeout=timeout, env=env, **options)
    if done.returncode < 0:
        done.returncode = 128 - done.returncode
    _history.append(Outcome(command, done, env))
    return _history[-1]


def good(*command, **options):
    outcome = run(*command, **options)
    check(outcome.code == 0, f"exit status {outcome.code}")
    return outcome


def app(name):
    return str(apps / f"app_{name}")


def traced(*command, file="trace.db", **options):
    return run(GTRACE, "run", "-o", file, "--", *command, **options)


def check(condition, text):
    if not condition:
        raise AssertionError(text)


def same(a, b, text):
    check(a == b, f"{text}:\n  {a!r}\n  {b!r}")


def one_line(outcome, code, *words):
    """A refusal: the exit status, one line on stderr, with these words in it. No crash, no trace of Python or C++."""
    same(outcome.code, code, "exit status")
    lines = [l for l in outcome.err_text.splitlines() if l.strip()]
    check(len(lines) == 1, f"{len(lines)} lines on stderr")
    for word in words:
        check(re.search(word, lines[0], re.I), f"no '{word}' in: {lines[0]}")


def without_numbers(data):
    """Bytes with every number masked, and the spaces before it: for programs that print times."""
    return re.sub(rb" *\b\d+(\.\d+)?(e[+-]?\d+)?\b", b" #", data)


def needs(*programs):
    for p in programs:
        if shutil.which(p) is None:
            raise Skip(f"{p} is not installed")


def keys(value, *names):
    for name in names:
        check(name in value, f"no key {name} in {sorted(value)}")


def choose_driver():
    if driver.missing():
        print(f"skipped: {driver.missing()}")
        sys.exit(77)
    os.environ.update(driver.environment(), GT_TEST_CACHE=str(tests_dir / "cache" / driver.NAME))
    if shutil.which("clinfo") and not run("clinfo", "-l").out.strip():  # or every test would be skipped
        print(f"FAILED: the loader has no platform with {driver.environment()}")
        sys.exit(1)


def drivers_own():
    """On other drivers than PoCL: what the last program does without us, where that is why it failed, or nothing. It ends
    as it did with us, and not so on PoCL: there it would be what the program is to do."""
    last = _history[-1] if _history and driver.NAME != "pocl" else None
    if not last or last.code == 0:
        return None
    program = last.command[last.command.index("--") + 1:] if "--" in last.command else last.command
    if pathlib.Path(program[0]).parent == bin_dir:
        return None  # one of ours
    again = run(*program, env=last.environment)
    crashed = min(again.code, last.code) > 128
    if again.code == 0 or (again.code != last.code and not crashed):
        return None
    on_pocl = driver.environment_of_pocl()
    if on_pocl and run(*program, env=dict(last.environment, **on_pocl)).code == again.code:
        return None
    said = again.err_text.strip().split("\n")[-1]
    return f"{driver.NAME} itself: {' '.join(map(os.path.basename, program))}: exit status {again.code}, {said}"


def run_one(name, function):
    known = driver.known(pathlib.Path(sys.argv[0]).stem, name)
    if known:
        print(f"{name}: skipped: {driver.NAME} itself: {known}", flush=True)
        return "skipped"
    _history.clear()
    home = os.getcwd()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="gtrace-e2e-") as folder:
        os.chdir(folder)
        os.environ.update(XDG_DATA_HOME=f"{folder}/.data", XDG_CACHE_HOME=os.environ["GT_TEST_CACHE"])
        try:
            function()
            verdict = "ok"
        except Skip as e:
            verdict = f"skipped: {e}"
        except Exception as e:  # noqa: BLE001: anything is a failure to be shown
            own = None if isinstance(e, subprocess.TimeoutExpired) else drivers_own()
            verdict = f"skipped: {own}" if own else f"FAILED: {e}"
            where = traceback.extract_tb(e.__traceback__)
            print(f"--- {name}: {[f'{pathlib.Path(f.filename).name}:{f.lineno}' for f in where]}")
            for o in _history[-3:]:
                print(f"$ {' '.join(o.command)}\nstatus {o.code}\nstdout: {o.text[-600:]}\nstderr: {o.err_text[-600:]}")
        finally:
            os.chdir(home)
    print(f"{name}: {verdict} ({time.monotonic() - started:.1f} s)", flush=True)
    return verdict


def main(names):
    # Characterizing the platform takes a while: once for all tests of a build and driver.
    os.environ["GT_TEST_CACHE"] = str(tests_dir / "cache")
    if driver.NAME != "pocl":
        choose_driver()
    os.environ["PATH"] = f"{bin_dir}:{apps}:{os.environ['PATH']}"
    os.environ.pop("LD_PRELOAD", None)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    verdicts = [run_one(n, f) for n, f in list(names.items()) if n.startswith("test_")]
    if any(v.startswith("FAILED") for v in verdicts):
        sys.exit(1)
    sys.exit(77 if verdicts and all(v.startswith("skipped") for v in verdicts) else 0)
