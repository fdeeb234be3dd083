#!/usr/bin/env python3
"""What extensions do that only the fake driver has: printing kernels, log functions, command buffers that change, OpenGL.

Usage: extensions.py BUILD
"""

from job import *  # noqa: F403

PROGRAM = tests_dir / "extensions"
DRIVERS = {"here": {}, "on threads": {"FAKE_CL_CALLBACKS": "thread"}}
FAKE = {"OCL_ICD_VENDORS": str(tests_dir / "vendors")}


def record(group, driver="here", options=()):
    """The trace's lines; the program must do as it does alone."""
    env = dict(FAKE, **DRIVERS[driver])
    bare = good(PROGRAM, group, env=env)
    outcome = run(GTRACE, "run", *options, "--", PROGRAM, group, env=env)
    same((outcome.code, outcome.text), (bare.code, bare.text), f"{driver}: status and output")
    same(good(GTRACE, "stats", "--json", "trace.db").json["lost"]["undecodable_records"], 0, "records not read")
    return outcome.text, [json.loads(l) for l in good(GTRACE, "expand", "--json", "trace.db").text.splitlines()]


def calls(lines, name):
    return [l for l in lines if l["call"] == name]


def test_what_kernels_print():
    for driver in DRIVERS:
        text, lines = record("printf", driver)
        same((text.count("printed"), text.count("#error"), text.count("list same")), (6, 1, 2), "what the program saw")
        printed = calls(lines, "printf callback")
        same([(p["args"]["buffer"], p["args"]["complete"]) for p in printed], [("printed", 1)] * 6, f"{driver}: printed")
        registered = [c["args"]["callback"] for c in calls(lines, "clCreateContext")]
        same([p["args"]["callback"] for p in printed], [registered[0]] * 3 + [registered[1]] * 3, f"{driver}: links")
        same([e["args"]["callback"] for e in calls(lines, "context callback")], registered[1:], f"{driver}: errors")
        same(len([m for m in calls(lines, "malloc") if m["args"]["size"] == 77]), 6, f"{driver}: calls inside")


def test_log_functions():
    for driver in DRIVERS:
        text, lines = record("log", driver)
        same(text, "log: #error\nlog: by hand\n", "output")
        same([c["args"]["errinfo"] for c in calls(lines, "context callback")], ["#error"], f"{driver}: callbacks")
        same([c["args"]["errstr"] for c in calls(lines, "clLogMessagesToStdoutAPPLE")].count("by hand"), 1,
             f"{driver}: calls")


def look_at_updates(lines):
    first, second = [c["return"] for c in calls(lines, "clCreateBuffer")]
    command = calls(lines, "clCommandNDRangeKernelKHR")[0]
    same(command["kernel_args"]["arg0"], first, "recorded with")
    updates = calls(lines, "clUpdateMutableCommandsKHR")
    same([u.get("kernel_args") for u in updates], [{"arg0": second, "arg1": 6}, None], "changed to")
    import sqlite3
    rows = sqlite3.connect("trace.db").execute(
        "SELECT a.class, a.effect FROM args a JOIN shapes h ON h.id = a.shape JOIN functions f ON f.id = h.function "
        "JOIN classes c ON c.id = a.class JOIN kinds k ON k.id = c.kind "
        "WHERE f.name = 'clEnqueueCommandBufferKHR' AND a.param = 0xff02 AND k.name = 'buffer' ORDER BY h.id").fetchall()
    same([effect for _, effect in rows], [3, 3, 3], "buffers written by the runs: one, then either")


def test_updates_of_command_buffers():
    text, lines = record("update")
    same(text, "1 1\n", "what the kernels did")
    look_at_updates(lines)


def test_functions_that_have_other_parameters():
    """The driver has a later form of the extension: the program calls that, the trace has the table's."""
    DRIVERS["later forms"] = {"FAKE_CL_LATER_FORMS": "1"}
    text, lines = record("update", "later forms")
    same(text, f"7 8 {-64}\n1 1\n", "what barriers gave, what the kernels did")
    look_at_updates(lines)
    barriers = [c["args"] for c in calls(lines, "clCommandBarrierWithWaitListKHR")]
    same([(b["num_sync_points_in_wait_list"], b["sync_point_wait_list"], b["sync_point"]) for b in barriers[:2]],
         [(0, None, 7), (1, 7, 8)], "barriers")
    same([b["return"] for b in calls(lines, "clCommandBarrierWithWaitListKHR")],
         [0, 0, -64], "what they ended with")
    del DRIVERS["later forms"]


def test_replay_of_updates():
    """Sizes, long arguments, addresses and lists of them; of either form on a driver of either."""
    later = {"FAKE_CL_LATER_FORMS": "1"}
    texts = set()
    for recorded in ({}, later):
        bare = good(PROGRAM, "stamps", env=FAKE).text
        outcome = run(GTRACE, "run", "--capture", "full", "-o", "trace.db", "--", PROGRAM, "stamps", env={**FAKE, **recorded})
        same((outcome.code, outcome.text), (0, bare), "recorded")
        lines = [json.loads(l) for l in good(GTRACE, "expand", "--json", "trace.db").text.splitlines()]
        texts.add(json.dumps([u["args"].get("update") for u in calls(lines, "clUpdateMutableCommandsKHR")]))
        for replayed in ({}, later):
            told = good(GTRACE, "replay", "--json", "trace.db", env={**FAKE, **replayed}).json
            same((told["compared"]["results"], told["compared"]["differing"], told["ended_otherwise"]), (24, 0, {}),
                 f"{recorded}, {replayed}")
            same(set(told["not_made"]), set(), "left out")
    same(len(texts), 1, f"what is recorded in either form: {texts}")


def test_updates_that_are_not_right():
    """What was recorded decides: a kernel that gets another argument, a size that is another, is found by comparing."""
    import sqlite3
    good(GTRACE, "run", "--capture", "full", "-o", "trace.db", "--", PROGRAM, "stamps", env=FAKE)
    outcome = run(GTRACE, "replay", "trace.db", env={**FAKE, "FAKE_CL_FAIL": "clUpdateMutableCommandsKHR:2=-5"})
    one_line(outcome, 4, "clUpdateMutableCommandsKHR: CL_OUT_OF_RESOURCES instead of CL_SUCCESS")
    good(GTRACE, "replay", "--reduce", "-o", "reduced.db", "trace.db",
         env={**FAKE, "FAKE_CL_FAIL": "clUpdateMutableCommandsKHR=-5"})
    shown = good(GTRACE, "show", "reduced.db").text
    same([shown.count(name) for name in ("clUpdateMutableCommandsKHR", "clCommandNDRangeKernelKHR")], [1, 2], shown)
    one_line(run(GTRACE, "replay", "reduced.db", env={**FAKE, "FAKE_CL_FAIL": "clUpdateMutableCommandsKHR=-5"}), 4,
             "clUpdateMutableCommandsKHR: CL_OUT_OF_RESOURCES instead of CL_SUCCESS")
    good(GTRACE, "extract", "--kernel", "copy", "trace.db", env=FAKE)
    check(os.path.exists("copy-1/main.c"), "a launch behind updates is extracted")
    same(run(GTRACE, "replay", "--against", "0", "0", "trace.db", env=FAKE).code, 0, "two devices in step")


def test_events_that_come_with_errors():
    """A driver that gives an event with an error gets it back, where it is ours."""
    env = dict(FAKE, FAKE_CL_LEAVES_EVENTS="1", FAKE_CL_FAIL="clEnqueueReadBuffer=-5")
    same(run(PROGRAM, "update", env=env).err_text.splitlines()[-1], "fake_cl: 0 events left", "natively")
    outcome = run(GTRACE, "run", "--timing", "all", "--", PROGRAM, "update", env=env)
    check("fake_cl: 0 events left" in outcome.err_text.splitlines(), outcome.err_text)


def test_sizes_of_opengl_objects():
    _, lines = record("gl", options=("--capture", "hash"))
    moved = {t["direction"]: (t["count"], t["bytes"])
             for t in good(GTRACE, "stats", "--json", "trace.db").json["transfers"]}
    same(moved, {"d2h": (1, 4 * 5 * 8), "h2d": (1, 32 * 16 * 8 + 4096)}, "transfers")
    same([c["args"]["content"] for c in calls(lines, "clEnqueueReadImage")], [0], "content of the image read")


main(globals())
