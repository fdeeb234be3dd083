#!/usr/bin/env python3
"""What gtrace run reads back from devices: the data of one launch or a range of calls, and what kernels wrote. A replay
begins from it, and compares launch by launch. The program does not notice.

Usage: capture_part.py BUILD
"""

from job import *  # noqa: F403

REPLAYED, DEVICE = tests_dir / "replayed", tests_dir / "device_data"
RESULTS = ("--capture", "full", "--capture-results")


def recorded(*command, options=(), file="trace.db"):
    """What the program says is what it says by itself."""
    bare = run(*command)
    if bare.code == 77:
        raise Skip("the driver lacks what the program needs")
    outcome = run(GTRACE, "run", *options, "-o", file, "--", *command)
    same((outcome.code, outcome.text), (bare.code, bare.text), f"{command}: what the program says")
    return outcome


def replayed(*options, code=0):
    outcome = run(GTRACE, "replay", "--json", *options)
    same(outcome.code, code, outcome.err_text)
    return json.loads(outcome.text)


def the_same(j, results):
    same((j["compared"]["results"], j["compared"]["differing"]), (results, 0), "results, differing")
    same((j["not_made"], j["ended_otherwise"]), ({}, {}), "not made, otherwise")


def lost(file="trace.db"):
    facts = good(GTRACE, "stats", "--json", file).json["lost"]
    return facts.get("device_contents_before", 0), facts.get("device_contents_after", 0)


def calls(name):
    lines = [json.loads(l) for l in good(GTRACE, "expand", "--json", "trace.db").text.splitlines()]
    return [c for c in lines if c["call"] == name]


def test_one_launch():
    said = recorded(REPLAYED, "every", options=("--capture-kernel", "stir#3")).err_text
    check(re.search(r"kernel stir#3: 3 inputs, [0-9.]+ KiB, and 3 results, .* were read back; .* took the program", said), said)
    launches = calls("clEnqueueNDRangeKernel")
    same([("before" in c["args"], "after" in c["args"]) for c in launches],
         [(i == 2, i == 2) for i in range(len(launches))], "launches that have data")
    the_same(replayed("trace.db"), 3)
    the_same(replayed("trace.db", "--kernel", "stir#3", "--repeat", "4"), 3)
    good(GTRACE, "extract", "trace.db", "--kernel", "stir#3", "-o", "launch")
    build = run("cc", "-std=c11", "main.c", "-lOpenCL", "-lm", "-o", "launch", cwd="launch")
    same(build.code, 0, build.err_text)
    outcome = run("./launch", cwd="launch")
    same((outcome.code, outcome.text.split("\n")[-2]), (0, "the recorded results"), outcome.text + outcome.err_text)
    for command in ("replay", "extract"):
        one_line(run(GTRACE, command, "trace.db", "--kernel", "stir#2"), 2, "stir#2", "the data of kernel stir#3 only")


def test_what_it_had_before_is_what_a_full_recording_has():
    recorded(REPLAYED, "every", options=("--capture-kernel", "stir#4"), file="part.db")
    recorded(REPLAYED, "every", options=("--capture", "full"), file="full.db")
    for name in ("part", "full"):
        good(GTRACE, "extract", f"{name}.db", "--kernel", "stir#4", "-o", name)
    names = sorted(p.name for p in pathlib.Path("full/data").iterdir())
    same(sorted(p.name for p in pathlib.Path("part/data").iterdir()), names, "files")
    for name in names:
        same(pathlib.Path("part/data", name).read_bytes(), pathlib.Path("full/data", name).read_bytes(), name)


def test_a_large_program_gives_a_small_recording():
    recorded(DEVICE, "crowd", options=("--capture-kernel", "advance#60"))
    the_same(replayed("trace.db"), 1)
    check(os.path.getsize("trace.contents") < 2000, "more than two small buffers")


def test_a_range():
    recorded(REPLAYED, "every")
    launches = calls("clEnqueueNDRangeKernel")
    first, last = launches[1]["n"], launches[3]["n"]
    recorded(REPLAYED, "every", options=("--capture-range", f"{first}..{last}"))
    j = replayed("trace.db", "--calls", f"{first}..{last}")
    the_same(j, 9)
    same(j["calls"], last - first + 1, "calls")
    the_same(replayed("trace.db"), 9)
    the_same(replayed("trace.db", "--kernel", "stir#3"), 6)
    outcome = run(GTRACE, "replay", "trace.db", "--kernel", "stir#5")
    check(outcome.code == 2 and "stir#5" in outcome.err_text, outcome.err_text)
    # to the end, with maps, transfers and reads that do not wait
    recorded(REPLAYED, "every", options=("--capture-range", f"{first}..1000"))
    j = replayed("trace.db")
    check(j["compared"]["results"] >= 15 and j["compared"]["differing"] == 0, f"{j['compared']}")


def test_kinds_of_memory():
    for options, results in ((("--capture-kernel", "blend"), 3), (("--capture-kernel", "advance#2"), 1),
                             (("--capture-range", "1..1000"), 7), (RESULTS, 7)):
        recorded(DEVICE, "kinds", options=options)
        if not any(k["name"] == "blend" for k in good(GTRACE, "stats", "--json").json["kernels"]):
            raise Skip("no shared virtual memory")
        same(lost(), (0, 0), "that could not be read")
        j = replayed("trace.db")
        same((j["compared"]["differing"], j["not_made"]), (0, {}), "differing, not made")
        same(j["compared"]["results"], results, f"{options}: results")
    recorded(DEVICE, "kinds", options=("--capture-kernel", "blend"))
    same(len(calls("clEnqueueNDRangeKernel")[2]["args"]["before"]), 2 * 4, "sub-buffer, image, memory, buffer")


def test_a_difference_is_told_by_launch():
    """A kernel that writes where its buffer lies: nothing but its launch says so."""
    recorded(REPLAYED, "address", options=RESULTS)
    text = run(GTRACE, "replay", "trace.db")
    same(text.code, 1, "exit status")
    check(re.search(r"T0 #\d+ clEnqueueNDRangeKernel, argument 0 of where_is, b0: 512 of 2097152 ulongs differ, "
                    r"the first at byte 0: expected \d+, got \d+", text.text), text.text)
    j = json.loads(run(GTRACE, "replay", "trace.db", "--json").text)
    same((j["differences"][0]["function"], j["differences"][0]["object"]),
         ("clEnqueueNDRangeKernel", "argument 0 of where_is, b0"), "the first difference")
    recorded(REPLAYED, "address", options=("--capture", "full"))
    same(replayed("trace.db", code=1)["differences"][0]["function"], "clEnqueueReadBuffer", "without --capture-results")


def test_results_of_every_launch():
    recorded(REPLAYED, "every", options=RESULTS)
    j = replayed("trace.db")
    same(j["compared"]["differing"], 0, "differing")
    check(j["compared"]["results"] >= 6 * 3, f"only {j['compared']}")
    recorded(tests_dir / "random_commands", 1, 6, "plain", options=RESULTS)
    j = replayed("trace.db")
    same((j["compared"]["differing"], j["not_made"]), (0, {}), "differing, not made")


def test_ranges_of_random_programs():
    """Where something could not be read for a user event, what follows from it is not compared."""
    results = 0
    for seed in range(1, 7):
        first = 30 + 40 * seed
        recorded(tests_dir / "random_commands", seed, 3, "plain", options=("--capture-range", f"{first}..{first + 120}"))
        j = replayed("trace.db")
        same(j["compared"]["differing"], 0, f"seed {seed}: differing")
        same([w for w in j["not_made"] if "could not be read" not in w], [], f"seed {seed}: not made")
        results += j["compared"]["results"]
    check(results > 40, f"only {results} results")


def test_a_user_event_is_not_waited_for():
    began = time.monotonic()
    recorded(DEVICE, "gated", options=RESULTS)
    check(time.monotonic() - began < 20, "it waited")
    same(lost()[1], 3, "results that could not be read")
    j = replayed("trace.db")
    same((j["compared"]["results"], j["compared"]["differing"]), (2, 0), "the last launch, and what was read")
    said = recorded(DEVICE, "gated", options=("--capture-kernel", "advance#2")).err_text
    check("2 could not be read" in said, said)
    recorded(DEVICE, "gated", options=("--capture-kernel", "advance#4"))
    same(lost(), (0, 0), "that could not be read")
    the_same(replayed("trace.db"), 1)


def test_an_unordered_queue():
    """Commands that nothing orders behind one that is held up are read; that one is not."""
    recorded(DEVICE, "unordered", options=RESULTS)
    same(lost(), (0, 1), "that could not be read")
    j = replayed("trace.db")
    same((j["compared"]["results"], j["compared"]["differing"]), (6 + 3, 0), "results, differing")
    recorded(DEVICE, "unordered", options=("--capture-kernel", "advance#6"))
    same(lost(), (0, 0), "that could not be read")
    the_same(replayed("trace.db"), 1)


def test_threads():
    recorded(DEVICE, "crowd", options=RESULTS)
    same(lost(), (0, 0), "that could not be read")
    the_same(replayed("trace.db"), 100 + 4)
    recorded(DEVICE, "crowd", options=("--capture-kernel", "advance#77"))
    the_same(replayed("trace.db", "--kernel", "advance#77"), 1)


def test_a_launch_in_a_callback():
    """Nobody waits in a thread of the driver's."""
    recorded(DEVICE, "callback", options=RESULTS)
    same(lost()[1], 1, "results that could not be read")
    the_same(replayed(), 3)


def test_the_limit():
    said = recorded(tests_dir / "random_commands", 1, 6, "plain", options=(*RESULTS, "--max-size", "1M"), file="s.db")
    check(re.search(r"results of kernels: .*; \d+ of them were left out, the first: \d+ bytes after \w+", said.err_text), said)
    check(os.path.getsize("s.contents") <= 768 << 10, "larger than the limit")
    facts = good(GTRACE, "stats", "--json", "s.db").json
    check(facts["lost"]["device_contents_left_out"] > 0, "nothing was left out")
    outcome = run(GTRACE, "replay", "s.db")
    check(outcome.code in (0, 1), outcome.err_text)


def test_what_never_came():
    said = recorded(REPLAYED, "every", options=("--capture-kernel", "nothing")).err_text
    check("nothing was captured: the program has no kernel nothing; it has stir" in said, said)
    said = recorded(REPLAYED, "every", options=("--capture-kernel", "stir#99")).err_text
    check("nothing was captured: stir was launched 6 times, so there is no stir#99" in said, said)
    said = recorded(REPLAYED, "every", options=("--capture-range", "5000..6000")).err_text
    check("nothing was captured: --capture-range 5000..6000 never came" in said, said)
    one_line(run(GTRACE, "replay", "trace.db"), 2, "nothing", "5000..6000")


def test_wrong_words():
    for options, *words in ((["--capture-kernel", "k#0"], "NAME#N"), (["--capture-kernel", "k#x"], "NAME#N"),
                            (["--capture-kernel", "#3"], "NAME#N"), (["--capture-range", "9..2"], "A..B"),
                            (["--capture-range", "0..2"], "A..B"), (["--capture-range", "a"], "A..B"),
                            (["--capture-range", "1..2", "--capture-kernel", "k"], "only one"),
                            (["--capture-kernel", "k" * 300], "300 characters"),
                            (["--capture-kernel", "k", "--capture", "hash"], "hash"),
                            (["--capture-results"], "--capture full")):
        one_line(run(GTRACE, "run", *options, "--", "true"), 2, *words)
        check(not os.path.exists("trace.db"), "it was run")


main(globals())
