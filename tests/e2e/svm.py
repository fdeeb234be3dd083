#!/usr/bin/env python3
"""Shared virtual memory on devices that are elsewhere: the same program, natively, in the process, over TCP, by shared
memory, behind a proxy.

Usage: svm.py BUILD
"""

import pathlib
import subprocess

import remote_job
from virtual_job import *  # noqa: F401,F403

HERE = pathlib.Path(__file__).parent
SVM, WRONG = tests_dir / "svm", tests_dir / "svm_wrong"

# Wrong calls that PoCL lets pass, or crashes on.
STRICTER = {
    "alloc: a flag of buffers": 0, "alloc: flag 32": 0, "alloc: flag 16": 0, "alloc: flag 256": 0,
    "map: an unknown flag": -30, "map: for reading, and not": -30, "map: for writing, and invalidated": -30,
    "map: outside": -30, "map: after a failed event": -14,
    "copy: out of a block": -30, "copy: into one, and beyond": -30,
    "copy: after a failed event": -14, "copy in: after a failed event": -14, "copy out: after a failed event": -14,
    "copy of the host: after a failed event": -14,
    "fill: no pattern": -30, "fill: beyond a block": -30, "fill: the host's memory": -30,
    "migrate: too much": -30, "migrate: the host's memory": -30, "migrate: nobody's": -30,
    "free: a list of none": -57, "free: no list": -57, "free: no event": -57, "free: another context's event": -34,
    "info: NULL": -30, "info: unknown": -30, "info: half a pointer": -30, "info: the host's memory": -30,
    "info: nothing, at an address": -30, "arg: the host's memory": -50, "arg: behind a block": -50,
}


def everywhere(*command):
    """What the program prints in each way to reach the device."""
    yield "in the process", good(*command, env=virtual()).text
    for url in elsewhere():
        with server(url) as (env, _):
            yield url, good(*command, env=env).text


def test_work():
    expected = good(SVM, "work", env=native()).text
    check(expected.endswith("end\n") and " NO" not in expected, expected)
    for way, text in everywhere(SVM, "work"):
        same(text, expected, way)


def test_behind_a_proxy():
    with remote_job.proxy() as p:
        remote_job.same_everywhere(p, SVM, "work")
        # The client's addresses are where the worker's would be.
        remote_job.same_everywhere(p, "setarch", "-R", SVM, "work")


def test_without_random_addresses():
    """Both sides map memory in the same places: the worker keeps out of the client's way."""
    if run("setarch", "-R", "true").code != 0:
        raise Skip("addresses cannot be made the same")
    # Threads that are many share the heap at the program's end: here they do from the first.
    for arenas in ((), ("env", "MALLOC_ARENA_MAX=1")):
        with remote_job.proxy(before=(*arenas, "setarch", "-R")) as p:
            remote_job.same_everywhere(p, "setarch", "-R", SVM, "work")


def test_wrong_calls():
    def codes(text):
        lines = [l.rsplit(" ", 1) for l in text.splitlines() if l != "end"]
        return {name: int(code) for name, code in lines}

    expected = {**codes(good(WRONG, env=native()).text), **STRICTER}
    check(len(expected) > 150, "few calls were made")
    for way, text in everywhere(WRONG, "all"):
        same(codes(text), expected, way)


def test_nothing_finer():
    expected = ["capabilities: 3", "finer: 0", "finer: 0", "of the program's own memory -59", "a pointer to it -50",
                "a map of it -30", "end"]
    for way, text in everywhere(SVM, "finer"):
        same(text.splitlines(), expected, way)


def test_clinfo():
    needs("clinfo")
    for way, text in everywhere("clinfo"):
        told = {l.strip().rsplit("  ", 1)[0].strip(): l.rsplit("  ", 1)[-1].strip() for l in text.splitlines() if "sharing" in l}
        same({n: v for n, v in told.items() if "grain" in n},
             {"Coarse-grained buffer sharing": "Yes", "Fine-grained buffer sharing": "Yes",
              "Fine-grained system sharing": "No"}, way)


def test_several_places():
    with server("tcp://127.0.0.1:0") as (env, _):
        env = dict(env, GTRACE_REMOTE=f"{env['GTRACE_REMOTE']},local:{DRIVER}")
        same(good(SVM, "several", env=env).text, "none in a context of several places: yes\nend\n", "two places")


def test_quota():
    with remote_job.proxy("--memory", "300M") as p:
        for url in remote_job.ways(p):
            outcome = remote_job.remotely(p, SVM, "much", url=url)
            same(outcome.text, "blocks: 4\none freed: 4\nend\n", url)


def test_lost():
    for url in elsewhere():
        with server(url) as (env, process):
            program = subprocess.Popen([str(SVM), "lost"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                       env={**os.environ, **env})
            same(program.stdout.readline(), "ready\n", "first line")
            process.kill()
            process.wait()
            text, _ = program.communicate("\n", timeout=60)
        same(text.splitlines(), ["map -2", "shadow: wz", "unmap -2", "copy -2", "fill -2", "free by command -2",
                                 "no new block: yes", "end"], url)
        same(program.returncode, 0, "exit status")


def test_fork():
    for url in elsewhere():
        with server(url) as (env, _):
            same(good(SVM, "fork", env=env).text, "child 0\nparent: wpyz\nend\n", url)


def test_pyopencl():
    python = "/usr/bin/python3"
    if not pathlib.Path(python).exists() or run(python, "-c", "import pyopencl").code != 0:
        raise Skip("pyopencl is not installed")
    job = (python, HERE / "clients" / "pyopencl_svm.py")
    expected = good(*job, env=native()).text
    check("PASS" in expected, expected)
    for way, text in everywhere(*job):
        same(text, expected, way)


main(dict(globals()))
