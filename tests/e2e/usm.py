#!/usr/bin/env python3
"""Unified shared memory on devices that are elsewhere: the same program natively, in the process, over TCP, by shared
memory, behind a proxy; on PoCL with the extension put over its shared virtual memory, and on a driver that has it, where
GTRACE_TEST_USM_VENDORS names a folder for the loader.

Usage: usm.py BUILD
"""

import os
import pathlib
import subprocess

import remote_job
from virtual_job import *  # noqa: F401,F403

USM = tests_dir / "usm"
WRAPPED = tests_dir / "usm_driver"

# Wrong calls that drivers let pass, or crash on.
WILD = {
    "copy: to NULL": -30, "copy: from NULL": -30, "copy: past the end": -30, "copy: to past the end": -30,
    "fill: past the end": -30, "set: past the end": -30, "set: the host's": -30, "arg: the host's": -50,
    "arg: past the end": -50, "list: the host's": -30, "free: the host's": -30, "arg: freed": -50, "set: freed": -30,
}
STRICTER = {"copy: after a failed event": -14, "alloc: an alignment of 65536": 0}


def drivers():
    """Folders for the loader, and what the driver's launches may be told."""
    yield WRAPPED, ("listed",)
    own = os.environ.get("GTRACE_TEST_USM_VENDORS")
    if own:
        yield pathlib.Path(own), ()


def everywhere(vendors, *command):
    """What the program prints in each way to reach the device that is elsewhere."""
    for url in elsewhere():
        with server(url, drivers=vendors) as (env, _):
            yield url, good(*command, env=env).text


def natively(vendors, *command):
    return good(*command, env=dict(OCL_ICD_VENDORS=str(vendors))).text


def codes(text):
    lines = [l.rsplit(" ", 1) for l in text.splitlines() if l != "end" and not l.endswith("yes")]
    return {name: int(code) for name, code in lines}


def test_work():
    for vendors, more in drivers():
        command = (USM, "work", "all", *more)
        expected = natively(vendors, *command)
        check(expected.endswith("end\n") and " NO" not in expected, expected)
        for way, text in everywhere(vendors, *command):
            same(text, expected, f"{vendors.name}, {way}")


def test_emulated():
    """A driver without the extension does the same, where the client asks for it."""
    expected = natively(WRAPPED, USM, "work", "all", "listed")
    for url in elsewhere():
        with server(url) as (env, _):
            same(good(USM, "work", "all", "listed", env={**env, "GTRACE_EMULATE_USM": "1"}).text, expected, url)


def test_wrong_calls():
    for vendors, _ in drivers():
        expected = {**codes(natively(vendors, USM, "wrong")), **STRICTER}
        check(len(expected) > 40, "few calls were made")
        for way, text in everywhere(vendors, USM, "wrong"):
            same(codes(text), expected, f"{vendors.name}, {way}")
        for way, text in everywhere(vendors, USM, "wild"):
            same(codes(text), WILD, f"{vendors.name}, {way}")


def test_behind_a_proxy():
    for vendors, _ in drivers():
        with remote_job.proxy(env=dict(OCL_ICD_VENDORS=str(vendors))) as p:
            for url in remote_job.ways(p):
                there = remote_job.remotely(p, USM, "work", "all", url=url)
                same(there.text, natively(vendors, USM, "work", "all"), f"{vendors.name}, {url}")


def test_lost():
    for url in elsewhere():
        with server(url, drivers=WRAPPED) as (env, process):
            program = subprocess.Popen([str(USM), "lost"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                       stderr=subprocess.PIPE, env={**os.environ, **env})
            same(program.stdout.readline(), "ready\n", "first line")
            process.kill()
            process.wait()
            text, said = program.communicate("\n", timeout=60)
        same(text.splitlines(), ["copy -2", "set -2", "info 0", "alloc -2", "a page: 10, then as it was",
                                 "written: 5", "free 0", "free, blocking 0", "end"], url)
        same(program.returncode, 0, "exit status")
        same(said.count(" as it was"), 1, f"{url}, said once: {said}")


def test_none():
    """A driver without the extension."""
    for url in elsewhere():
        with server(url) as (env, _):
            outcome = run(USM, "work", "device", env=env)
            check(outcome.code == 1 and b"no clHostMemAllocINTEL" in outcome.err, outcome)


main(dict(globals()))
