#!/usr/bin/env python3
"""What calls move, use and launch, against counts made by hand in the program itself.

Usage: arguments.py BUILD
"""

from job import *  # noqa: F403

EVERY = tests_dir / "every_transfer"
DIRECTIONS = ("h2d", "d2h", "d2d")


def recorded(*groups):
    """The program's own count, {direction: (calls, bytes)}; the trace's; and the program's remarks."""
    outcome = traced(EVERY, *groups)
    same(outcome.code, 0, "exit status")
    lines = [l.split() for l in outcome.text.splitlines()]
    ours = {w[0]: (int(w[1]), int(w[2])) for w in lines if w[0] in DIRECTIONS}
    theirs = dict.fromkeys(DIRECTIONS, (0, 0))
    for t in good(GTRACE, "stats", "--json", "trace.db").json["transfers"]:
        count, size = theirs[t["direction"]]
        theirs[t["direction"]] = (count + t["count"], size + t["bytes"])
    return ours, theirs, outcome.text


def same_moves(*groups):
    ours, theirs, _ = recorded(*groups)
    check(any(count for count, _ in ours.values()), "nothing was to move")
    same(theirs, ours, f"calls and bytes of {groups}")


def expanded():
    return [json.loads(l) for l in good(GTRACE, "expand", "--json", "trace.db").text.splitlines()]


def launches():
    return {k["name"]: k["launches"] for k in good(GTRACE, "stats", "--json", "trace.db").json["kernels"]}


def test_buffers():
    same_moves("buffers")


def test_maps_by_their_flags():
    same_moves("maps")


def test_images():
    same_moves("images")


def test_parts_of_buffers():
    same_moves("parts")
    # The whole was released before the buffer made after it: its name is still taken, by the part.
    made = [c["return"] for c in expanded() if c["call"] == "clCreateBuffer"]
    same(len(set(made)), 2, "names of the buffers")


def test_a_write_to_a_part_is_one_to_the_whole():
    traced(EVERY, "parts")
    import sqlite3
    rows = sqlite3.connect("trace.db").execute(
        "SELECT a.effect FROM args a JOIN shapes h ON h.id = a.shape JOIN functions f ON f.id = h.function "
        "WHERE f.name = 'clEnqueueWriteBuffer' AND a.param = 0xff02").fetchall()
    same(rows, [(3,)], "effects on the whole")


def test_svm():
    ours, theirs, _ = recorded("svm")
    if not any(count for count, _ in ours.values()):
        raise Skip("the device has no SVM")
    same(theirs, ours, "calls and bytes")


def test_kernels_made_in_every_way():
    ours, theirs, text = recorded("kernels")
    expected = {"first": 1, "second": 3 if "cloned" in text else 1}
    same(launches(), expected, "launches")
    args = [c["kernel_args"] for c in expanded() if c["call"] == "clEnqueueNDRangeKernel"]
    same([len(a) for a in args], [1] + [2] * (len(args) - 1), "arguments bound, also to the copy")


def test_headers_reach_the_kernel_source():
    traced(EVERY, "kernels")
    kernels = {k["name"]: k for k in good(GANALYZE, "--json", "trace.db").json["kernels"]}
    same([a["access"] for a in kernels["second"]["args"]], ["read", "write"], "access of `second`")
    same([a["name"] for a in kernels["first"]["args"]], ["a"], "arguments of `first`, which uses the header")


def test_command_buffers_do_what_was_recorded():
    ours, theirs, text = recorded("command_buffer")
    if "command buffer" not in text:
        raise Skip("the device has no cl_khr_command_buffer")
    same(theirs, ours, "calls and bytes")
    same(launches(), {"addone": 2}, "launches")


def test_everything_at_once():
    same_moves()


def test_pointers_that_lead_nowhere():
    program = (tests_dir / "bad_pointers", tests_dir / "libleft_behind.so")
    bare = good(*program)
    outcome = traced(*program)
    same(outcome.code, 0, "exit status")
    same(outcome.out, bare.out, "stdout")
    calls = expanded()
    launch = next(c for c in calls if c["call"] == "clEnqueueNDRangeKernel")
    same(launch["args"]["work_dim"], 3, "a number among bad pointers")
    same(launch["args"]["num_events_in_wait_list"], 1000000, "a wild count")
    same(sum(c["call"].startswith("cl") for c in calls), bare.text.count("\n") - 1, "calls")


main(globals())
