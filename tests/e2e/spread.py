#!/usr/bin/env python3
"""Contexts of several devices: of one driver (goptimize run --spread), of several drivers, here and elsewhere.

The oracle is the same program in the driver's own context of as many devices.
Usage: spread.py BUILD [PROGRAMS [SEED]]      PROGRAMS: how many random programs
"""

import functools
import json
import os
import pathlib
import subprocess
import sys

from planted_platform import planted_platform
from virtual_job import *  # noqa: F401,F403

PROGRAMS = arguments[0] if arguments else "60"
SEED = arguments[1] if len(arguments) > 1 else "1"


def devices(count):
    return dict(native(), POCL_DEVICES=" ".join(["pthread"] * count))


@functools.cache
def natively_random(count):
    """What the random programs print in the driver's own context of so many devices: once for all tests here."""
    return good(tests_dir / "random_commands", SEED, PROGRAMS, env=devices(count)).text


def launched(*command, env, options=("--spread",), code=0):
    costs = planted_platform("platform.json", env=env)
    outcome = run(GOPTIMIZE, "run", "--platform", costs, *options, "--", *command, env=env, timeout=120)
    same(outcome.code, code, f"exit status: {outcome.err_text}")
    return outcome


def all_yes(text, least):
    wrong = [line for line in text.splitlines() if line.endswith("NO")]
    same(wrong, [], "what is wrong")
    check(text.count(": yes") >= least, f"little was looked at: {text}")


def test_moves_to_a_device_do_not_wait_for_each_other():
    all_yes(launched(tests_dir / "spanning", "overtake", env=devices(4)).text, 3)


def test_handles():
    text = launched(tests_dir / "spanning", "handles", env=devices(2)).text
    check("devices 2" in text, "not two devices")
    all_yes(text, 10)
    check("build info of no device -33" in text and "another context's device -33" in text, f"codes: {text}")


def test_contents():
    for count in (2, 3, 4):
        all_yes(launched(tests_dir / "spanning", "moves", env=devices(count)).text, 9)


def staged_and_pinned(program, *arguments, here, **options):
    """The same bytes, with every transfer staged; the profile's sites come from pools. Gives the report."""
    there = launched(program, *arguments, env=devices(2), **options)
    same(there.text, here.text, "the bytes differ")
    return json.loads(pathlib.Path("report.json").read_text())


def test_transfers_are_staged():
    """Between the program's memory and a context of several devices, as in contexts of one."""
    program = tests_dir / "random_commands"
    here = good(program, SEED, "20", env=devices(2))
    report = staged_and_pinned(program, SEED, "20", here=here,
                               options=("--spread", "--stage", "always", "--report", "report.json"))
    check(report["staged"]["transfers"] > 20, f"staged: {report['staged']}")
    plain = staged_and_pinned(program, SEED, "20", here=here,
                              options=("--spread", "--stage", "never", "--report", "report.json"))
    same(plain["staged"]["transfers"], 0, "staged, though never")
    check(plain["moved"]["here"]["moves"] > 20, f"moves: {plain['moved']}")
    same([plain["moved"][way]["moves"] for way in ("by_devices", "directly", "through_us")], [0] * 3, "other moves")


def test_pool_memory_is_pinned():
    program = tests_dir / "random_commands"
    needs("objdump", "readelf")
    good(sys.executable, pathlib.Path(__file__).with_name("make_profile.py"), program, "app.gprofile")
    here = good(program, SEED, "20", env=devices(2))
    report = staged_and_pinned(program, SEED, "20", here=here, options=(
        "--spread", "--profile", "app.gprofile", "--force-policy", "pin", "--report", "report.json"))
    check(sum(s["hits"] for s in report["sites"]) > 20, "transfers of pool memory")
    check(report["pinned"]["ranges"] > 0, f"pinned: {report['pinned']}")


def test_end_on_the_way():
    costs = planted_platform("platform.json", env=devices(2))
    for _ in range(10):
        outcome = run(GOPTIMIZE, "run", "--platform", costs, "--spread", "--", tests_dir / "spanning", "leave",
                      env=devices(2), timeout=30)
        same((outcome.code, outcome.text), (0, "leaving 0\n"), outcome.err_text)


def test_without_spread():
    text = launched(tests_dir / "spanning", "handles", env=devices(2), options=()).text
    check("context is the virtual platform's: NO" in text, "the driver's context is not the driver's")


def test_random_programs():
    for count in (2, 3, 4):
        there = launched(tests_dir / "random_commands", SEED, PROGRAMS, env=devices(count))
        same(there.text, natively_random(count), f"{count} devices: the bytes differ")
        same(len(there.text.splitlines()), int(PROGRAMS), "programs")


def test_one_here_one_elsewhere():
    with server("tcp://127.0.0.1:0") as (remote, _):
        env = dict(devices(1), GTRACE_TOKEN_FILE=remote["GTRACE_TOKEN_FILE"])
        options = ("--remote", remote["GTRACE_REMOTE"])
        there = launched(tests_dir / "random_commands", SEED, PROGRAMS, env=env, options=options)
        moved = launched(tests_dir / "spanning", "moves", env=env, options=options)
        parts = launched(tests_dir / "spanning", "part", env=env, options=options)
    same(there.text, natively_random(2), "the bytes differ")
    all_yes(moved.text, 9)
    all_yes(parts.text, 3)


def device_to_device(program, *arguments, count):
    """With drivers that move contents from device to device; gives its output, the report and the drivers' counts."""
    folder = tests_dir / "peer_driver"
    env = dict(devices(count), OCL_ICD_VENDORS=str(folder), LD_LIBRARY_PATH=str(folder),
               PEER_DRIVER_COUNTS=str(pathlib.Path("counts.json").resolve()))
    text = launched(program, *arguments, env=env, options=("--spread", "--report", "report.json")).text
    return text, *(json.loads(pathlib.Path(name).read_text()) for name in ("report.json", "counts.json"))


def test_from_device_to_device():
    """Buffers that wander: first by the host, then by the devices, at last in memory that they live in."""
    for count, threads in ((2, 1), (3, 1), (3, 4)):
        here = good(tests_dir / "wandering", SEED, "4000", str(threads), env=devices(count))
        all_yes(here.text, threads)
        text, report, counts = device_to_device(tests_dir / "wandering", SEED, "4000", str(threads), count=count)
        same(text, here.text, "the contents differ")
        moved = report["moved"]
        check(moved["here"]["moves"] > moved["by_devices"]["moves"] > 100, f"moved: {moved}")
        ways = count * (count - 1)
        check(counts["allocated"] > 2 * ways, f"nothing lives there: {counts}")
        same(counts["released"], counts["allocated"], "let go of")


def both_drivers():
    """A folder that names PoCL and the fake driver."""
    folder = pathlib.Path("both")
    folder.mkdir(exist_ok=True)
    pocl = pathlib.Path(native()["OCL_ICD_VENDORS"])
    (folder / pocl.name).write_text(pocl.read_text())
    (folder / "fake.icd").write_text(f"{tests_dir}/libfake_cl.so\n")
    return folder


def launched_there(*command, remote, options=(), env=None):
    """On the devices of a server alone; gives the output, and how contents moved."""
    env = dict(env or native(), GTRACE_TOKEN_FILE=remote["GTRACE_TOKEN_FILE"])
    all_options = ("--remote", remote["GTRACE_REMOTE"], "--only", "remote", "--report", "report.json", *options)
    text = launched(*command, env=env, options=all_options).text
    moved = json.loads(pathlib.Path("report.json").read_text())["moved"]
    return text, {way: count["moves"] for way, count in moved.items()}


def test_devices_of_one_server():
    """--spread reaches them, too: contents go from one to the other there, none through the program."""
    for url in elsewhere():
        with server(url, POCL_DEVICES="pthread pthread pthread") as (remote, _):
            there, moved = launched_there(tests_dir / "random_commands", SEED, PROGRAMS, remote=remote,
                                          options=("--spread",))
            same(there, natively_random(3), "the bytes differ")
            check(moved["directly"] > 20, f"moves: {moved}")
            same(moved["through_us"], 0, "through the program")
            text, moved = launched_there(tests_dir / "spanning", "moves", remote=remote, options=("--spread",))
            all_yes(text, 9)
            check(moved["directly"] > 9 and moved["through_us"] == 0, f"moves: {moved}")
            all_yes(launched_there(tests_dir / "spanning", "part", remote=remote, options=("--spread",))[0], 3)
            all_yes(launched_there(tests_dir / "wandering", SEED, "1000", "3", remote=remote, options=("--spread",))[0],
                    3)
            same(launched_there(tests_dir / "spanning", "moves", remote=remote)[1]["directly"], 0, "without --spread")


def test_drivers_of_one_server():
    """Two drivers' devices in one context need no --spread for that."""
    for url in elsewhere():
        with server(url, drivers=both_drivers().resolve()) as (remote, _):
            text, moved = launched_there(tests_dir / "spanning", "moves", remote=remote)
        all_yes(text, 9)
        check(moved["directly"] > 9 and moved["through_us"] == 0, f"moves: {moved}")


def test_from_device_to_device_of_a_server():
    """Without the host's memory where the server's drivers allow it."""
    folder = tests_dir / "peer_driver"
    counts = pathlib.Path("counts.json").resolve()
    there = {"POCL_DEVICES": "pthread pthread", "LD_LIBRARY_PATH": str(folder), "PEER_DRIVER_COUNTS": str(counts)}
    with server(f"shm:{os.getcwd()}/peers.sock", drivers=folder, **there) as (remote, process):
        text, moved = launched_there(tests_dir / "wandering", SEED, "3000", remote=remote, options=("--spread",))
        process.stdin = process.stdin.close()
        process.wait(timeout=30)
    all_yes(text, 1)
    check(moved["directly"] > 1000, f"moves: {moved}")
    counted = json.loads(counts.read_text())
    check(counted["copied"] > 100, f"nothing went by itself: {counted}")
    same(counted["released"], counted["allocated"], "let go of")


def test_finish_between():
    """A clFinish that comes while another thread enqueues a command says nothing of that command."""
    program = tests_dir / "finish_between"
    all_yes(launched(program, env=devices(2)).text, 4)
    with server("tcp://127.0.0.1:0", POCL_DEVICES="pthread pthread") as (remote, _):
        all_yes(launched_there(program, remote=remote, options=("--spread",))[0], 4)


def test_two_drivers():
    """The fake driver's device and PoCL's in one context: their contents go from one to the other."""
    folder = both_drivers()
    with server("tcp://127.0.0.1:0") as (remote, _):
        env = {"OCL_ICD_VENDORS": str(folder.resolve()), "GTRACE_TOKEN_FILE": remote["GTRACE_TOKEN_FILE"]}
        options = ("--remote", remote["GTRACE_REMOTE"], "--only", "local")
        all_yes(launched(tests_dir / "spanning", "moves", env=env, options=options).text, 9)


def test_lost():
    """The remote device is gone: the local one of the same context goes on."""
    with server("tcp://127.0.0.1:0") as (remote, process):
        env = {**os.environ, **devices(1), "GTRACE_TOKEN_FILE": remote["GTRACE_TOKEN_FILE"]}
        costs = planted_platform("platform.json", env=env)
        options = ["--platform", costs, "--remote", remote["GTRACE_REMOTE"], "--order", "remote-first"]
        command = [GOPTIMIZE, "run", *options, "--", str(tests_dir / "spanning"), "lost"]
        program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
        same(program.stdout.readline(), "ready 0\n", "first line")
        process.kill()
        rest = program.communicate(timeout=60)[0].splitlines()
    same(rest, ["lost -2", "contents on the other: yes", "new buffer 0", "read 0", "copied: yes", "finish 0"], "codes")
    same(program.returncode, 0, "exit status")


main(dict(globals()))
