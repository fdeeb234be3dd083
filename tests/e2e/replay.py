#!/usr/bin/env python3
"""Recorded programs are replayed: results are compared, threads keep their order, a crash is told, a launch becomes a
program of its own. What cannot be replayed gives one line.

Usage: replay.py BUILD
"""

from job import *  # noqa: F403
from proxy_job import serving

PROGRAM = tests_dir / "replayed"


def recorded(*command, file="trace.db", capture="full", code=0):
    outcome = run(GTRACE, "run", "--capture", capture, "-o", file, "--", *command)
    check(code is None or outcome.code == code, f"{command}: exit status {outcome.code}, {outcome.err_text}")
    return outcome


def replayed(*options, code=0):
    outcome = run(GTRACE, "replay", "--json", *options)
    same(outcome.code, code, "exit status")
    return json.loads(outcome.text)


def everything_compared(j, least):
    check(j["compared"]["results"] >= least, f"only {j['compared']} compared")
    same((j["compared"]["differing"], j["not_made"], j["ended_otherwise"]), (0, {}, {}), "differing, not made, otherwise")


def test_applications():
    for name, options in {"vadd": [], "nw": [], "bfs": [], "sgemm": [], "hotspot": [], "sad": [], "sw": []}.items():
        recorded(app(name), "--iterations", "1", *options, file=f"{name}.db")
        j = replayed(f"{name}.db")
        everything_compared(j, 1)
        same(j["calls"], sum(f["calls"] for f in j["functions"]), f"{name}: calls by function")


def test_every_way_of_moving_data():
    recorded(PROGRAM, "every")
    everything_compared(replayed("trace.db"), 3)
    everything_compared(replayed("trace.db", "--device", "0", "--compare", "ulp:2"), 3)


def test_random_programs():
    """With buffers, sub-buffers, images, maps, out-of-order queues, user events: see random_commands.cc."""
    recorded(tests_dir / "random_commands", 1, 12, "plain")
    everything_compared(replayed("trace.db"), 100)


def test_a_driver_that_reads_late():
    """What a migration was given is there until it has run."""
    recorded(tests_dir / "random_commands", 1, 4, "plain")
    lazy = {"OCL_ICD_VENDORS": str(tests_dir / "lazy_driver")}
    outcome = good(GTRACE, "replay", "--json", "trace.db", env=lazy)
    everything_compared(outcome.json, 30)


def test_images():
    recorded(tests_dir / "images")
    everything_compared(replayed("trace.db"), 500)


def test_a_difference_is_told():
    recorded(PROGRAM, "address")
    j = replayed("trace.db", code=1)
    same(j["compared"]["differing"], 1, "differing results")
    d = j["differences"][0]
    same((d["function"], d["type"], d["differing"]), ("clEnqueueReadBuffer", "ulong", 1), "the difference")
    check(int(d["expected"]) != int(d["got"]), f"{d}")
    text = run(GTRACE, "replay", "trace.db")
    same(text.code, 1, "exit status")
    check(re.search(r"T0 #\d+ clEnqueueReadBuffer: 1 of 1 ulongs differ, the first at byte 0: expected \d+, got \d+", text.text),
          text.text)


def test_threads():
    for capture in ("full", "none"):  # with the times of calls, and by what each call needs
        recorded(PROGRAM, "threads", capture=capture)
        j = replayed("trace.db")
        same(j["not_made"], {}, "not made")
    same(replayed("trace.db", "--free-threads")["calls"] > 0, True, "calls")


def test_a_crash_is_reproduced():
    outcome = recorded(PROGRAM, "crash", code=None)
    if outcome.code == 0:
        raise Skip("the driver survives a wild pointer")
    again = run(GTRACE, "replay", "trace.db")
    same(again.code, outcome.code, "exit status")
    check(re.search(r"ended by signal 11 \(.*\) in call T0 #\d+, cl\w+", again.err_text), again.err_text)


def test_without_contents():
    recorded(PROGRAM, "every", capture="none")
    j = replayed("trace.db")
    same((j["contents"], j["compared"]["results"]), (False, 0), "contents, compared")
    check("zeros" in run(GTRACE, "replay", "trace.db").text, "it does not say what was sent")


def test_a_part():
    recorded(PROGRAM, "loop", 50)
    everything_compared(replayed("trace.db", "--calls", "30..40"), 0)
    same(replayed("trace.db", "--calls", "30..40")["calls"], 11, "calls 30 to 40")
    outcome = good(GTRACE, "replay", "trace.db", "--kernel", "none#7", "--repeat", "5")
    check("5 launches: " in outcome.text, outcome.text)


def test_a_part_that_ends_before_its_commands_can():
    """They wait for a user event that is set later."""
    recorded(PROGRAM, "gated")
    everything_compared(replayed("trace.db"), 1)
    for part in ("1..12", "11..12", "13..14", "12..99"):
        replayed("trace.db", "--calls", part)
    good(GTRACE, "replay", "trace.db", "--kernel", "none", "--repeat", "2")
    good(GTRACE, "extract", "trace.db", "--kernel", "none", "-o", "launch")


def test_what_nobody_has_written():
    """It is not compared; what was written later is."""
    recorded(PROGRAM, "blank")
    j = replayed("trace.db")
    everything_compared(j, 8)
    same((j["compared"]["results"], j["compared"]["undefined"]), (8, 12), "results, undefined")
    text = good(GTRACE, "replay", "trace.db").text
    check("not compared: 12 results of memory that nothing had written" in text, text)


def test_under_other_choices():
    recorded(PROGRAM, "every")
    for policy in ("staged", "pin", "opencl", "locked", "hybrid"):
        outcome = good(GTRACE, "replay", "trace.db", "--policy", policy)
        check("0 of 3 results differ" in outcome.text, outcome.text)
    recorded(app("vadd"), "--iterations", "1")
    outcome = good(GTRACE, "replay", "--policy=pin", "trace.db", "--json")
    everything_compared(json.loads(outcome.text), 1)
    check(re.search(r"pin, 3 allocations of .*, 3 transfers of 12.0 MiB", outcome.err_text), outcome.err_text)
    outcome = good(GTRACE, "replay", "trace.db", "--policy", "staged")
    check("staged: 3 transfers of 12.0 MiB" in outcome.err_text, outcome.err_text)
    with serving() as proxy:
        env = {**os.environ, **proxy.env}
        outcome = good(GTRACE, "replay", "trace.db", "--remote", proxy.url, env=env)
        check("0 of 1 results differ" in outcome.text and proxy.url in outcome.err_text, outcome.text + outcome.err_text)
    alone = pathlib.Path("alone")
    alone.mkdir()
    shutil.copy(GTRACE, alone / "gtrace")
    one_line(run(alone / "gtrace", "replay", "trace.db", "--policy", "pin"), 4, "goptimize")
    one_line(run(GTRACE, "replay", "trace.db", "--policy", "nailed"), 2, "--policy", "standard")


def test_transfers_that_go_on():
    """The results are the same, and of a program that does nothing in between all transfers go on."""
    recorded(app("vadd"), "--iterations", "1")
    j = replayed("trace.db", "--overlap")
    everything_compared(j, 1)
    same((j["overlap"]["transfers"], len(j["overlap"]["wall_ns"]), len(j["overlap"]["blocking_wall_ns"])), (3, 3, 3), "overlap")
    text = good(GTRACE, "replay", "trace.db", "--overlap").text
    check(re.search(r"^3 transfers that blocked went on: .*; .* without that \(medians of 3\)$", text, re.M), text)
    recorded(tests_dir / "random_commands", 1, 6, "plain")
    j = replayed("trace.db", "--overlap")
    everything_compared(j, 50)
    check(j["overlap"]["transfers"] > 10, f"{j['overlap']}")
    recorded(PROGRAM, "threads")  # of what another thread needs nothing is known
    same(replayed("trace.db", "--overlap")["overlap"]["transfers"], 0, "transfers of two threads")


def test_findings_are_tried():
    recorded(app("transpose"), "--iterations", "8")
    report = good(GANALYZE, "trace.db", "--verify", "--json").json
    rules = {f["rule"] for f in report["findings"]}
    tried = {v["choice"]: v for v in report["verified"]}
    if "pageable-transfers" in rules:
        pinned = tried["policy pin"]
        same((pinned["turns"], pinned["predicted_s"]), (6, None), "turns, predicted without a platform file")
        check(pinned["least_s"] <= pinned["saved_s"] <= pinned["most_s"] and pinned["as_recorded_s"] > 0, f"{pinned}")
        check("with the program's data" in pinned["note"], pinned["note"])
    check(tried["overlap"]["turns"] in (1, 3), f"{tried['overlap']}")
    text = good(GANALYZE, "trace.db", "--verify").text
    check("Tried by replays" in text and "pairs of replays" in text, text)
    pathlib.Path("trace.contents").unlink()
    report = good(GANALYZE, "trace.db", "--verify", "--json").json
    same({v["turns"] for v in report["verified"]}, {0}, "turns without the contents that the trace has")
    check(all("trace.contents" in v["note"] for v in report["verified"]), f"{report['verified']}")
    one_line(run(GANALYZE, "trace.db", "--verify", "--query", "kernels"), 2, "--verify")


def test_a_launch_as_a_program():
    recorded(PROGRAM, "every")
    good(GTRACE, "extract", "trace.db", "--kernel", "stir#3", "-o", "launch")
    build = run("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "main.c", "-lOpenCL", "-lm", "-o", "launch", cwd="launch")
    same(build.code, 0, build.err_text)
    outcome = run("./launch", "--repeat", "3", cwd="launch")
    same((outcome.code, outcome.text.split("\n")[-2]), (0, "the recorded results"), outcome.text + outcome.err_text)
    if subprocess.run(["/usr/bin/python3", "-c", "import numpy, pyopencl"], capture_output=True).returncode == 0:
        outcome = run("/usr/bin/python3", "launch.py", cwd="launch")
        same((outcome.code, outcome.text.split("\n")[-2]), (0, "the recorded results"), outcome.text + outcome.err_text)
    after = pathlib.Path("launch/data/buffer0.after")
    data = bytearray(after.read_bytes())
    data[100] ^= 0x40
    after.write_bytes(data)
    outcome = run("./launch", cwd="launch")
    same(outcome.code, 1, "exit status after its data was changed")
    check("1 of 1200 elements differ, the first at byte 100" in outcome.text, outcome.text)
    one_line(run(GTRACE, "extract", "trace.db", "--kernel", "stir#3", "-o", "launch"), 2, "launch", "there already")
    one_line(run(GTRACE, "extract", "trace.db", "--kernel", "stir#99", "-o", "more"), 2, "less than 99 times")


def test_memory_that_the_host_writes_before_a_copy():
    outcome = recorded(tests_dir / "shared_copies", code=None)
    if outcome.code == 77:
        raise Skip("no fine-grained shared virtual memory")
    same((outcome.code, outcome.text), (0, "499500\n3496500\n"), outcome.err_text)
    everything_compared(replayed("trace.db"), 2)


def test_a_launch_with_images():
    """With a sampler, too, and a pointer into shared virtual memory, which becomes a buffer."""
    outcome = recorded(PROGRAM, "picture", code=None)
    if outcome.code == 77:
        raise Skip("this driver lacks images or shared virtual memory")
    same(outcome.code, 0, outcome.err_text)
    everything_compared(replayed("trace.db"), 1)
    good(GTRACE, "extract", "trace.db", "--kernel", "show", "-o", "launch")
    good("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "main.c", "-lOpenCL", "-lm", "-o", "launch", cwd="launch")
    same(good("./launch", "--repeat", "2", cwd="launch").text.split("\n")[-2], "the recorded results", "main.c")
    if subprocess.run(["/usr/bin/python3", "-c", "import numpy, pyopencl"], capture_output=True).returncode == 0:
        same(good("/usr/bin/python3", "launch/launch.py").text.split("\n")[-2], "the recorded results", "launch.py")
    for name in ("buffer1.after", "buffer2.after"):
        after = pathlib.Path("launch/data") / name
        data = bytearray(after.read_bytes())
        data[33] ^= 0x40
        after.write_bytes(data)
        outcome = run("./launch", cwd="launch")
        check(outcome.code == 1 and f"{name[:7]}: 1 of" in outcome.text, outcome.text)


def test_what_sources_include():
    """The files are no more; the recording has them. Programs ask for binaries through pointers that a replay lacks."""
    headers = pathlib.Path("headers")
    (headers / "part").mkdir(parents=True)
    (headers / "part/kernel.h").write_text('#include "../value.h"\n'
                                           "kernel void add(global int* a) { a[get_global_id(0)] += STEP + VALUE; }\n")
    (headers / "value.h").write_text("#define VALUE 100\n")
    recorded(PROGRAM, "includes")
    shutil.rmtree(headers)
    temporary = pathlib.Path("temporary").resolve()
    temporary.mkdir()
    outcome = good(GTRACE, "replay", "trace.db", env={**os.environ, "TMPDIR": str(temporary)})
    check("0 of 1 results differ" in outcome.text, outcome.text)
    same(list(temporary.glob("gtrace-replay-*")), [], "what is left")
    good(GTRACE, "extract", "trace.db", "--kernel", "add", "-o", "launch")
    good("cc", "-std=c11", "main.c", "-lOpenCL", "-lm", "-o", "launch", cwd="launch")
    good("./launch", cwd="launch")


def test_bad_input():
    recorded(PROGRAM, "every")
    one_line(run(GTRACE, "replay", "trace.db", "--device", "*no such*"), 2, "no such device")
    one_line(run(GTRACE, "replay", "trace.db", "--kernel", "absent"), 2, "no such kernel", "stir")
    one_line(run(GTRACE, "replay", "trace.db", "--kernel", "stir#0"), 2, "NAME#N")
    one_line(run(GTRACE, "replay", "trace.db", "--calls", "9..2"), 2, "A..B")
    one_line(run(GTRACE, "replay", "trace.db", "--compare", "nearly"), 2, "exact, ulp:N or abs:X")
    one_line(run(GTRACE, "replay", "trace.db", "--repeat", "2"), 2, "--kernel")
    one_line(run(GTRACE, "replay", "trace.db", "--kernel", "stir", "--overlap"), 2, "--overlap")
    one_line(run(GTRACE, "extract", "trace.db"), 2, "--kernel")
    one_line(run(GTRACE, "replay", "trace.db", env={**os.environ, "OCL_ICD_VENDORS": "/nonexistent"}), 4, "no OpenCL device")
    contents = pathlib.Path("trace.contents")
    whole = contents.read_bytes()
    contents.unlink()
    one_line(run(GTRACE, "replay", "trace.db"), 4, "trace.contents")
    contents.write_bytes(b"not at all" * 100)
    one_line(run(GTRACE, "replay", "trace.db"), 3, "trace.contents")
    for size in (60, len(whole) // 2, len(whole) - 1):
        contents.write_bytes(whole[:size])
        outcome = run(GTRACE, "replay", "trace.db")
        check(outcome.code in (0, 1) and "trace.contents" in outcome.err_text, f"{size}: {outcome.code} {outcome.err_text}")
    recorded("true", file="nothing.db")
    one_line(run(GTRACE, "replay", "nothing.db"), 2, "nothing to replay")


main(globals())
