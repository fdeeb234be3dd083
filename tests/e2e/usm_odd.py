#!/usr/bin/env python3
"""Programs that do odd things with unified shared memory on devices that are elsewhere: over TCP and by shared memory,
on PoCL with the extension put over its shared virtual memory, and emulated by the executor.

Usage: usm_odd.py BUILD
"""

import os
import signal
import subprocess

import remote_job
from proxy_job import alive, until
from virtual_job import *  # noqa: F401,F403

ODD = tests_dir / "usm_odd"
SIGNALS = tests_dir / "usm_signals"
WRAPPED = tests_dir / "usm_driver"
EMULATED = {"GTRACE_EMULATE_USM": "1"}


def everywhere(*command):
    for url in elsewhere():
        for drivers, more in ((WRAPPED, {}), (None, EMULATED)):
            with server(url, drivers=drivers) as (env, _):
                yield f"{url}, {'emulated' if more else 'the driver'}", run(*command, env={**env, **more}, timeout=100)


def all_right(program, what, *lines):
    """It ends, says nothing that is wrong, and these lines among others."""
    for way, outcome in everywhere(program, what):
        text = outcome.text
        check(outcome.code == 0 and text.endswith("end\n") and "NO" not in text, f"{way}: {text}")
        for line in lines:
            check(line in text.splitlines(), f"{way}: {line} is not in {text}")


def test_fork():
    all_right(SIGNALS, "fork", "child 0")


def test_handlers():
    all_right(SIGNALS, "handler")


def test_a_wild_access_ends_the_program():
    for way, outcome in everywhere(SIGNALS, "crash"):
        same((outcome.code, outcome.text), (128 + signal.SIGSEGV, "before: yes\n"), way)


def test_another_context():
    all_right(ODD, "contexts", "arg -50", "list -30", "free -30", "free, blocking -30", "set -30", "migrate -30")


def test_devices_of_two_executors():
    for url in elsewhere():
        for drivers, more in ((WRAPPED, {}), (None, EMULATED)):
            other = next(u for u in elsewhere() if u.split(":")[0] == url.split(":")[0])
            with server(url, drivers=drivers) as (first, _), server(other, drivers=drivers) as (second, _):
                env = {**first, **more, "GTRACE_REMOTE": first["GTRACE_REMOTE"] + "," + second["GTRACE_REMOTE"]}
                text = good(ODD, "devices", env=env).text
                check(text.endswith("end\n") and "NO" not in text, f"{url}: {text}")
                for line in ("host -59", "shared -59", "copy -30", "set -30"):
                    check(line in text.splitlines(), f"{url}: {line} is not in {text}")


def test_a_device_here_and_one_elsewhere():
    """goptimize emulates it for the one, the executor for the other."""
    with remote_job.proxy() as p:
        for url in remote_job.ways(p):
            there = remote_job.remotely(p, ODD, "devices", url=url, options=("--emulate-usm", "--measure-seconds", "0"))
            check(there.code == 0 and there.text.endswith("end\n") and "NO" not in there.text, f"{url}: {there.text}")


def test_command_buffers():
    all_right(ODD, "recorded")


def test_threads():
    all_right(ODD, "threads", "0 times wrong")


def test_held_up_by_the_program():
    """A thread that touches what a command will write may be the one that lets it start."""
    expected = good(ODD, "held", env=dict(OCL_ICD_VENDORS=str(WRAPPED))).text
    check(expected.endswith("end\n") and "NO" not in expected, expected)
    for way, outcome in everywhere(ODD, "held"):
        same(outcome.text, expected, way)
    all_right(ODD, "failed")


def test_64_GiB():
    for url in elsewhere():
        with server(url, drivers=WRAPPED, USM_MOST=str(128 << 30)) as (env, _):
            text = good(ODD, "huge", env=env, timeout=100).text
            check(text.endswith("end\n") and "NO" not in text and "64 GiB 0" in text, f"{url}: {text}")


def test_a_wild_pointer_in_memory():
    """The driver crashes, and takes one worker with it."""
    with remote_job.proxy(env=dict(OCL_ICD_VENDORS=str(WRAPPED))) as p:
        for url in remote_job.ways(p):
            there = remote_job.remotely(p, ODD, "wild", url=url)
            same(there.text.splitlines(), ["finish -2", "the memory stays: yes", "launch -2", "free 0", "end"], url)
            there = remote_job.remotely(p, ODD, "recorded", url=url)
            check(there.code == 0 and "NO" not in there.text, f"{url}: the proxy serves on")


def test_killed_while_pages_are_out():
    with remote_job.proxy(env=dict(OCL_ICD_VENDORS=str(WRAPPED))) as p:
        for url in remote_job.ways(p):
            command = [GOPTIMIZE, "run", "--remote", url, "--only", "remote", "--", ODD, "out"]
            env = {**os.environ, **remote_job.client(p)}
            program = subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, text=True, env=env,
                                       start_new_session=True)
            same(program.stdout.readline(), "ready\n", "first line")
            workers = [session["pid"] for session in p.sessions(1)]
            os.killpg(program.pid, signal.SIGKILL)
            text = program.communicate()[0]
            check("NO" not in text, text)
            p.sessions(0)
            until(lambda: not any(alive(w) for w in workers), "its worker ends")
            there = remote_job.remotely(p, ODD, "recorded", url=url)
            check(there.code == 0 and "NO" not in there.text, f"{url}: the proxy serves on")


main(dict(globals()))
