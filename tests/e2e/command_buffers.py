#!/usr/bin/env python3
"""Command buffers: natively, recorded, optimized, on remote devices (in this process, over shared memory and TCP), and
replayed. Each prints the same.

Usage: command_buffers.py BUILD
"""

from remote_job import client, proxy, remotely, ways
from virtual_job import *  # noqa: F401,F403

PROGRAM = tests_dir / "command_buffers"


def needs_command_buffers():
    if run(PROGRAM, "capture", env=native()).code == 77:
        raise Skip("the driver has no command buffers")


def natively(*group):
    needs_command_buffers()
    return good(PROGRAM, *group, env=native()).text


def everywhere():
    """The environments of devices elsewhere: in this process, behind links."""
    yield "in this process", virtual()
    for url in elsewhere():
        with server(url) as (env, _):
            yield url.split(":")[0], env


def test_remote():
    here = natively()
    for where, env in everywhere():
        same(good(PROGRAM, env=env).text, here, where)


def test_what_was_recorded_stays():
    """More than drivers themselves do: PoCL 3.1's launches take the arguments that their kernels have when they run,
    Intel's CPU runtime (2026.2) does not keep what the program releases."""
    needs_command_buffers()
    texts = [good(PROGRAM, "arguments", env=env).text for _, env in everywhere()]
    same(texts, texts[:1] * len(texts), "what is printed")
    for line in ("with its own arguments: 11", "with others: 1010",
                 "by parts that the program has released: 12", "queues 1, the queue 1 in 8 bytes, references 2",
                 "properties 1293 1, 24 bytes", "states 0 1", "no room -30, no such info -30"):
        check(line in texts[0].splitlines(), f"{line} is not in {texts[0]}")


def test_wrong_calls():
    here = natively("errors").splitlines()
    crashed = {"* a queue that is none: -36", "* no arguments: -52", "* no kernel: -48", "* no dimensions: -53",
               "* four dimensions: -53"}  # PoCL 3.1 itself ends with these
    for where, env in everywhere():
        there = good(PROGRAM, "errors", "all", env=env).text.splitlines()
        same([line for line in there if not line.startswith("*")], here, where)
        same({line for line in there if line.startswith("*")}, crashed, where)


def test_several_places():
    """A context of two devices behind one link: the command buffer's memory is where its queue is."""
    here = natively("capture")
    same(good(PROGRAM, "capture", env=virtual(2)).text, here, "two places")


def test_recorded_and_optimized():
    here = natively()
    for mode in ([GTRACE, "run", "--"], [GTRACE, "run", "--capture", "full", "--"], [GOPTIMIZE, "run", "--"]):
        same(good(*mode, PROGRAM, env=native()).text, here, " ".join(mode))


def test_goptimize_remote():
    here = natively()
    with proxy() as p:
        for url in ways(p):
            outcome = remotely(p, PROGRAM, url=url)
            same((outcome.code, outcome.text), (0, here), url)


def test_replay():
    """What runs write counts as written: it is compared where the program reads it."""
    for group in ((), ("capture",)):
        natively(*group)
        good(GTRACE, "run", "--capture", "full", "-o", "trace.db", "--", PROGRAM, *group, env=native())
        told = good(GTRACE, "replay", "--json", "trace.db", env=native()).json
        same((told["compared"]["differing"], told["not_made"], told["ended_otherwise"]), (0, {}, {}), f"{group}")
        check(told["compared"]["results"] >= 4, f"{group}: only {told['compared']} compared")


def test_replay_on_remote_devices():
    natively("capture")
    good(GTRACE, "run", "--capture", "full", "-o", "trace.db", "--", PROGRAM, "capture", env=native())
    with proxy() as p:
        for url in ways(p):
            told = good(GTRACE, "replay", "--json", "--remote", url, "trace.db", env=client(p)).json
            same((told["compared"]["differing"], told["compared"]["results"]), (0, 4), url)


def test_a_range_with_runs():
    """What the commands of a command buffer use is read back before its run."""
    natively("capture")
    good(GTRACE, "run", "-o", "whole.db", "--", PROGRAM, "capture", env=native())
    lines = [json.loads(l) for l in good(GTRACE, "expand", "--json", "whole.db").text.splitlines()]
    first = [l["n"] for l in lines if l["call"] == "clEnqueueCommandBufferKHR"][1]
    good(GTRACE, "run", "--capture-range", f"{first}..{first + 2}", "--", PROGRAM, "capture", env=native())
    lost = good(GTRACE, "stats", "--json", "trace.db").json["lost"]
    same(lost.get("device_contents_before", 0), 0, "that could not be read")
    lines = [json.loads(l) for l in good(GTRACE, "expand", "--json", "trace.db").text.splitlines()]
    before = [len(l["args"].get("before", [])) for l in lines if l["call"] == "clEnqueueCommandBufferKHR"]
    same(before, [0, 2 * 2, 0, 0], "what was read before each run: two buffers")
    told = good(GTRACE, "replay", "--json", "trace.db", env=native()).json
    same((told["compared"]["differing"], told["compared"]["results"], told["not_made"]), (0, 1, {}), "replayed")


def test_recorded_calls():
    natively("capture")
    good(GTRACE, "run", "--capture", "full", "-o", "trace.db", "--", PROGRAM, "capture", env=native())
    lines = [json.loads(l) for l in good(GTRACE, "expand", "--json", "trace.db").text.splitlines()]
    runs = [l for l in lines if l["call"] == "clEnqueueCommandBufferKHR"]
    same(len(runs), 4, "runs recorded")
    recorded = [l for l in lines if l["call"].startswith("clCommand")]
    same([l["call"] for l in recorded], ["clCommandNDRangeKernelKHR", "clCommandCopyBufferKHR"], "what was recorded")


main(globals())
