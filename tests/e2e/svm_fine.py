#!/usr/bin/env python3
"""Fine-grained shared virtual memory on devices that are elsewhere: the same program natively, in the process, over TCP,
by shared memory, behind a proxy.

Usage: svm_fine.py BUILD
"""

import subprocess

import remote_job
from virtual_job import *  # noqa: F401,F403

FINE = tests_dir / "svm_fine"
COARSE = tests_dir / "coarse_driver"


def everywhere(*command):
    yield "in the process", run(*command, env=virtual(), timeout=100)
    for url in elsewhere():
        with server(url) as (env, _):
            yield url, run(*command, env=env, timeout=100)


def same_everywhere(what):
    expected = good(FINE, what, env=native()).text
    check(expected.endswith("end\n") and "NO" not in expected, expected)
    for way, outcome in everywhere(FINE, what):
        same((outcome.code, outcome.text), (0, expected), way)


def test_work():
    same_everywhere("work")


def test_behind_a_proxy():
    with remote_job.proxy() as p:
        remote_job.same_everywhere(p, FINE, "work")


def test_beside_commands():
    """What the host writes while kernels are sent and run, and what they write: not a byte is lost."""
    expected = good(FINE, "beside", env=native()).text
    check("0 of the device's bytes are wrong\n0 of the host's bytes are wrong\n" in expected, expected)
    for way, outcome in everywhere(FINE, "beside"):
        same((outcome.code, outcome.text), (0, expected), way)


def test_threads():
    same_everywhere("threads")


def test_held_up_by_the_program():
    same_everywhere("held")


def test_fork():
    for url in elsewhere():
        with server(url) as (env, _):
            text = good(FINE, "fork", env=env).text
            check("child 0\n" in text and text.endswith("end\n") and "NO" not in text, f"{url}: {text}")


def test_lost():
    for url in elsewhere():
        with server(url) as (env, process):
            program = subprocess.Popen([str(FINE), "lost"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                       env={**os.environ, **env})
            lines = [program.stdout.readline() for _ in range(2)]
            same(lines[1], "ready\n", "second line")
            process.kill()
            process.wait()
            text, _ = program.communicate("\n", timeout=60)
        check("map -2\n" in text and "fill -2\n" in text and text.endswith("end\n") and "NO" not in text, text)
        same(program.returncode, 0, "exit status")


def test_none():
    """A driver whose shared virtual memory is coarse-grained only."""
    for url in elsewhere():
        with server(url, drivers=COARSE) as (env, _):
            text = good(FINE, "none", env=env).text
            check("capabilities: 1\n" in text and "NO" not in text and text.endswith("end\n"), f"{url}: {text}")


main(dict(globals()))
