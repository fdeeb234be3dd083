#!/usr/bin/env python3
"""Devices behind shared memory read and write pool memory in place; nothing else about the program changes.

Usage: zero_copy.py BUILD
"""

import json
import pathlib
import resource
import signal
import subprocess
import sys
import time

from job import *  # noqa: F403
from proxy_job import until
from remote_job import client, natively, proxy

SHAPES, ONE_SITE = (str(tests_dir / "optimizer" / name) for name in ("pool_shapes", "one_site"))
KEPT = str(tests_dir / "kept")
MAKE_PROFILE = pathlib.Path(__file__).with_name("make_profile.py")
MIB = 1 << 20


# Large enough for blocks that do not travel inside of messages.
SIZES = {"nn": ("--places", 40000), "spmv": ("--rows", 30000), "transpose": ("--width", 320, "--height", 256),
         "sgemm": ("--size", 160), "pathfinder": ("--columns", 40000, "--rows", 9)}


def profile(binary, **values):
    needs("objdump", "readelf")
    good(sys.executable, MAKE_PROFILE, binary, "app.gprofile", *[f"{k}={v}" for k, v in values.items()])


def command_for(p, *command, options=(), scheme="shm"):
    url = f"shm:{p.port}" if scheme == "shm" else p.url
    return (GOPTIMIZE, "run", "--profile", "app.gprofile", "--report", "report.json", "--remote", url, "--only", "remote",
            *options, "--", *command)


def comparable(out):
    """Without times, and without what drivers add to the references of a context."""
    return re.sub(rb"time_s=\S+|refs \d+", b"", out)


def placed(p, *command, code=0, **more):
    """Runs it by shared memory, with what it says natively as the oracle; gives the report."""
    expected = natively(*command)
    done = run(*command_for(p, *command, **more), env=client(p), timeout=120)
    same(done.code, code or expected.code, f"exit status: {done.err_text}")
    same(comparable(done.out), comparable(expected.out), "output")
    return json.loads(pathlib.Path("report.json").read_text())


def zero_copies(report):
    return report["remote"]["zero_copy"]


def test_counts_are_exact():
    """The profile's sites are served without anybody's demand; what is not large enough for it travels with its message."""
    profile(app("vadd"), min_bytes=1 << 20)
    with proxy() as p:
        report = placed(p, app("vadd"), "--elements", "1000000", "--iterations", "7")
        same(zero_copies(report), {"transfers": 21, "bytes": 84000000}, "in place")
        same(report["fallbacks"], {}, "fallbacks")
        same([s["hits"] for s in report["sites"] if s["allocations"]], [7, 7, 7], "transfers of each site")
        small = placed(p, app("vadd"), "--elements", "10000", "--iterations", "7")
        same(zero_copies(small)["transfers"], 0, "of small blocks")


def test_every_shape():
    profile(SHAPES)
    with proxy() as p:
        for options in ((), ("--force-policy", "pin"), ("--force-policy", "hybrid")):
            report = placed(p, SHAPES, options=options)
            check(zero_copies(report)["transfers"] > 50, f"{options}: {zero_copies(report)}")
        same(p.stop(), 0, "the proxy's exit status")
        check("signal" not in p.log, p.log)


def test_over_a_network_nothing_is_shared():
    profile(SHAPES)
    with proxy() as p:
        report = placed(p, SHAPES, options=("--force-policy", "pin"), scheme="tcp")
        same(zero_copies(report)["transfers"], 0, "in place")


def test_benchmarks():
    with proxy() as p:
        moved = {}
        for name, size in SIZES.items():
            profile(app(name))
            moved[name] = zero_copies(placed(p, app(name), *size, "--iterations", "2"))["transfers"]
        check(sum(n > 1 for n in moved.values()) >= 3, f"in place: {moved}")


def test_memory_that_goes_back():
    """A span that nobody wants any more leaves the executor first."""
    profile(ONE_SITE)
    phases = ("busy", 1, MIB, "again", 1200, 2 * MIB, "busy", 3, MIB)
    with proxy() as p:
        report = placed(p, ONE_SITE, *phases, options=("--force-policy", "pin"))
    same(report["returned"]["idle_bytes"], MIB, "given back")
    same(zero_copies(report)["transfers"], 2408, "in place")


def test_forks():
    profile(KEPT)
    with proxy() as p:
        report = placed(p, KEPT, 3 * MIB, 20, options=("--force-policy", "pin"))
        same(zero_copies(report)["transfers"], 40, "in place, before and after the fork")
    check("NO" not in run(KEPT, 3 * MIB, 4).text, "the oracle is wrong")


def test_maps():
    """What a map shows is shared, too; no profile is needed for that."""
    profile(KEPT, min_bytes=1 << 40, max_bytes=1 << 41)
    with proxy() as p:
        report = placed(p, KEPT, 3 * MIB, 1, "map")
        same(zero_copies(report), {"transfers": 2, "bytes": 9 * MIB}, "in place")
        text = pathlib.Path("app.gprofile").read_text()
        pathlib.Path("app.gprofile").write_text(text.replace("eligible = true", "eligible = false"))
        report = placed(p, app("vadd"), "--elements", "100000", "--iterations", "5", "--map")
        check(zero_copies(report)["transfers"] >= 15, f"in place: {zero_copies(report)}")
    text = run(KEPT, 3 * MIB, 1, "map").text
    check(text.count(": yes") == 4 and "NO" not in text, f"the oracle is wrong: {text}")


def test_no_file_of_memory():
    """A limit on the size of files: the pool is private, the transfers are copied."""
    profile(SHAPES)
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64 * MIB, 64 * MIB))  # noqa: E731
    with proxy() as p:
        expected = natively(SHAPES)
        done = run(*command_for(p, SHAPES, options=("--force-policy", "pin")), env=client(p), preexec_fn=limit)
        same((done.code, comparable(done.out)), (expected.code, comparable(expected.out)), done.err_text)
        report = json.loads(pathlib.Path("report.json").read_text())
    same(zero_copies(report)["transfers"], 0, "in place")
    check(report["fallbacks"].get("pool_not_shared"), f"fallbacks: {report['fallbacks']}")


def test_a_worker_that_is_killed():
    """In the middle of it: the program gets its error, and all of its memory is as it left it."""
    profile(KEPT)
    for pause in (0.1, 0.3):
        with proxy() as p:
            command = command_for(p, KEPT, str(8 * MIB), options=("--force-policy", "pin"))
            program = subprocess.Popen(command, env={**os.environ, **client(p)}, stdout=subprocess.PIPE, text=True)
            same(program.stdout.readline(), "began: yes\n", "first line")
            until(lambda: p.workers(), "a worker")
            time.sleep(pause)
            for worker in p.workers():
                os.kill(worker, signal.SIGKILL)
            rest = program.communicate(timeout=60)[0].splitlines()
        same(rest, ["lost -2", "what came back: yes", "what was sent: yes", "memory afterwards: yes"], "lines")
        same(program.returncode, 0, "exit status")


main(dict(globals()))
