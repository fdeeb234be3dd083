#!/usr/bin/env python3
"""Two devices are compared launch by launch, a recording is reduced to what shows a difference or a crash, and what
another device cannot do is bridged or named.

Usage: against.py BUILD
"""

from job import *  # noqa: F403

PROGRAM = tests_dir / "differing"
TWO = {"POCL_DEVICES": "pthread basic"}
TWINS = {"POCL_DEVICES": "pthread pthread"}  # for threads that wait for each other: `basic` has none of its own
# A driver whose device `basic` forgets the last work-item of one kernel.
FORGETFUL = {**TWO, "OCL_ICD_VENDORS": str(tests_dir / "forgetful_driver"), "FORGET": "mark"}
SMALL = {"OCL_ICD_VENDORS": str(tests_dir / "small_driver")}
PAIR = ("--against", "pthread*", "basic*")


def recorded(*what, file="trace.db", capture="full", code=0, program=PROGRAM):
    outcome = run(GTRACE, "run", "--capture", capture, "-o", file, "--", program, *what)
    check(code is None or outcome.code == code, f"{what}: exit status {outcome.code}, {outcome.err_text}")
    return outcome


def replayed(*options, code=0, env=FORGETFUL):
    outcome = run(GTRACE, "replay", "--json", *options, env=env)
    same(outcome.code, code, f"exit status; {outcome.err_text}")
    return json.loads(outcome.text)


def test_two_devices_that_do_the_same():
    recorded("mark")
    j = replayed("trace.db", *PAIR, env=TWO)
    same((j["result"], j["launches"], j["contents"]), ("same", 42, True), "result")
    same([s["devices"][0].split("-")[0] for s in j["sides"]], ["pthread", "basic"], "devices")
    check("42 launches, and no difference" in run(GTRACE, "replay", *PAIR, env=TWO).text, "text")


def test_a_difference():
    recorded("mark")
    j = replayed("trace.db", *PAIR, code=1)
    same((j["result"], j["launches"]), ("differs", 21), "result")
    same((j["launch"]["kernel"], j["launch"]["number"], j["launch"]["thread"]), ("mark", 1, 0), "launch")
    d = j["difference"]
    same((d["argument"], d["name"], d["offset"], d["element"], d["type"]), (1, "out", 68, 17, "int"), "place")
    same((d["differing"], d["elements"], d["values"]), (1, 1024, ["18", "0"]), "values")
    text = run(GTRACE, "replay", *PAIR, env=FORGETFUL)
    same(text.code, 1, "exit status")
    check(re.search(r"launch 1 of mark \(call T0 #\d+\) differs: argument 1 \(out\), buffer b\d+: 1 of 1024 ints, "
                    r"the first at byte 68 \(element 17\): 18 on A, 0 on B\n21 launches before it", text.text), text.text)
    same(replayed("trace.db", *PAIR, "--compare", "abs:18", env=FORGETFUL)["result"], "same", "within a tolerance")
    before = j["launch"]["call"] - 1
    same(replayed("trace.db", *PAIR, "--calls", f"..{before}")["result"], "same", "the calls before it")


def test_memory_that_nobody_wrote_is_the_same():
    recorded("half")
    same(replayed("trace.db", *PAIR, env=TWO)["result"], "same", "result")


def test_svm_memory():
    if recorded("svm", code=None).code != 0:
        raise Skip("no SVM here")
    same(replayed("trace.db", *PAIR, env=TWO)["result"], "same", "result")
    j = replayed("trace.db", *PAIR, env={**FORGETFUL, "FORGET": "count"}, code=1)
    same((j["difference"]["argument"], j["difference"]["element"], j["difference"]["values"]), (0, 1023, ["1023", "0"]), "place")
    check("svm" in j["difference"]["object"].lower(), f"{j}")


def test_without_contents():
    recorded("mark", capture="none")
    j = replayed("trace.db", *PAIR, code=1)
    same((j["contents"], j["launch"]["kernel"]), (False, "mark"), "contents, kernel")
    check("no contents were recorded" in run(GTRACE, "replay", *PAIR, env=FORGETFUL).text, "it does not say so")


def test_threads_in_step():
    recorded("threads", program=tests_dir / "replayed")
    same(replayed("trace.db", "--against", "0", "1", env=TWINS)["result"], "same", "result")
    recorded(1, 12, "plain", program=tests_dir / "random_commands")
    j = replayed("trace.db", "--against", "0", "1", env=TWINS)
    check(j["result"] == "same" and j["launches"] > 0, f"{j}")


def test_a_crash_on_one_side():
    if recorded("crash", code=None).code == 0:
        raise Skip("the driver survives a wild pointer")
    outcome = run(GTRACE, "replay", "trace.db", *PAIR, env=TWO)
    same(outcome.code, 139, "exit status")
    check("after 20 launches" in outcome.err_text, outcome.err_text)


def reduced(*options, code=0, env=FORGETFUL):
    j = replayed("--reduce", "-o", "small.db", *options, code=code, env=env)
    check(j["shown_again"], f"the smaller trace does not show it: {j}")
    return j


def test_reducing_a_difference_of_two_devices():
    recorded("mark")
    j = reduced("trace.db", *PAIR)
    same((j["kind"], j["what"]), ("difference", "kernel mark, argument 1"), "what stayed")
    check(j["calls"] <= 12 < j["of_calls"], f"{j['calls']} of {j['of_calls']} calls left")
    same(j["ended"], "no call can be left out", "end")
    again = replayed("small.db", *PAIR, code=1)
    same((again["launch"]["kernel"], again["launches"]), ("mark", 0), "the smaller trace")
    check("clCreateKernel" in good(GTRACE, "show", "small.db").text, "it is not shown")
    good(GTRACE, "run", "--capture", "none", "-o", "other.db", "--", PROGRAM, "mark")
    j = reduced("other.db", *PAIR)
    check(j["calls"] <= 12, f"without contents: {j}")
    check(pathlib.Path("small.1.db").exists() and pathlib.Path("small.1.contents").exists(), "the older one was not kept")


def test_reducing_a_result_that_differs():
    recorded("mark")
    replayed("trace.db", "--device", "basic*", code=0)
    forgets = {**FORGETFUL, "FORGET": "count"}  # an input of mark: the last of 1024, which mark does not read
    one_line(run(GTRACE, "replay", "--reduce", "--device", "basic*", env=forgets), USAGE, "nothing differs")
    recorded("address", program=tests_dir / "replayed")
    j = reduced("trace.db", env={})
    same(j["kind"], "difference", "what stayed")
    check("clEnqueueReadBuffer: 1 of 1 ulongs differ" in j["what"] and j["calls"] < j["of_calls"], f"{j}")


def test_reducing_a_crash():
    if recorded("crash", code=None).code == 0:
        raise Skip("the driver survives a wild pointer")
    j = reduced("trace.db", env={})
    same(j["kind"], "crash", "what stayed")
    check(j["calls"] <= 10 < j["of_calls"], f"{j}")
    same(run(GTRACE, "replay", "small.db").code, 139, "the smaller trace")


def test_reducing_a_failure():
    recorded("group", "fixed")
    j = reduced("trace.db", env=SMALL)
    same(j["kind"], "failure", "what stayed")
    check("CL_INVALID_WORK_GROUP_SIZE" in j["what"], j["what"])


def test_bounds_of_a_reduction():
    recorded("mark")
    j = reduced("trace.db", *PAIR, "--tries", "2")
    same((j["tries"], j["ended"]), (2, "stopped after --tries 2"), "bounds")
    job = subprocess.Popen([GTRACE, "replay", "--reduce", "-o", "cut.db", "--json", *PAIR, "trace.db"],
                           env={**os.environ, **FORGETFUL}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1.5)
    job.send_signal(signal.SIGINT)
    out, err = job.communicate(timeout=60)
    if job.returncode == 0:  # else it had not begun to search
        check(json.loads(out)["calls"] > 0 and pathlib.Path("cut.db").exists(), out.decode())
    else:
        check(err, "no line")
    one_line(run(GTRACE, "replay", "--reduce", *PAIR, "-o", "trace.db", "trace.db", env=FORGETFUL), USAGE, "being reduced")


def bridged(*what, code=0, program=PROGRAM):
    recorded(*what, program=program)
    outcome = run(GTRACE, "replay", "--json", env=SMALL)
    same(outcome.code, code, f"{what}: exit status; {outcome.err_text}")
    return list(json.loads(outcome.text)["bridged"]) if code == 0 else outcome.err_text


def test_what_a_small_device_cannot_do():
    same(bridged("group"), ["kernel count: its work-group size is too large here; the driver chose one"], "bridged")
    same(bridged("queue"),
         ["a queue has properties that this device does not have: it got one that keeps its order"], "bridged")
    same(bridged("binary", program=tests_dir / "kernel_origins"),
         ["the binary is another device's: built from the recorded source of copy instead"], "bridged")
    for what, told in {("group", "fixed"): "the kernel asks for 64 x 1 x 1", ("group", "local"): "local memory as an argument",
                       ("large",): "it has 1.0 MiB, and this device allows 64.0 KiB", ("svm",): "this device has no SVM",
                       ("image",): "this device has no images of CL_RGBA CL_UNORM_INT8",
                       ("doubles",): "this device has no cl_khr_fp64"}.items():
        text = bridged(*what, code=ENVIRONMENT)
        check(told in text and text.count("\n") == 1, f"{what}: {text}")


def test_the_tutorial():
    """Of docs/replay.md, with its example: one of the drivers contracts a multiplication and an addition."""
    source = pathlib.Path(__file__).parents[2] / "docs/examples/turns.c"
    same(run("cc", source, "-o", "turns", "-lOpenCL").code, 0, "compiling it")
    os.mkdir("drivers")
    pathlib.Path("drivers/pocl.icd").write_text("libpocl.so.2\n")
    pathlib.Path("drivers/rusticl.icd").write_text("libRusticlOpenCL.so.1\n")
    both = {"OCL_ICD_VENDORS": os.path.abspath("drivers"), "RUSTICL_ENABLE": "llvmpipe"}
    good(GTRACE, "run", "--capture", "full", "./turns", env={})
    outcome = run(GTRACE, "replay", "--against", "pthread*", "llvmpipe*", "--json", env=both)
    if outcome.code == USAGE:
        raise Skip("there is no rusticl here")
    if outcome.code == 0:
        raise Skip("both drivers do the same: no fused multiplication and addition here")
    j = json.loads(outcome.text)
    same((j["launch"]["kernel"], j["difference"]["name"], j["launches"]), ("turn", "left", 4), "launch")
    good(GTRACE, "replay", "--reduce", "--against", "pthread*", "llvmpipe*", env=both)
    again = json.loads(run(GTRACE, "replay", "--against", "pthread*", "llvmpipe*", "--json", "reduced.db", env=both).text)
    same((again["launch"]["kernel"], again["launches"]), ("turn", 0), "the smaller trace")


def test_usage():
    recorded("mark")
    one_line(run(GTRACE, "replay", "--against", "0", "77", "trace.db", env=TWO), USAGE, "on 77", "no such device")
    one_line(run(GTRACE, "replay", "--against", "0"), USAGE, "--against")
    one_line(run(GTRACE, "replay", *PAIR, "--device", "0", env=TWO), USAGE, "without --device")
    one_line(run(GTRACE, "replay", *PAIR, "--kernel", "mark", env=TWO), USAGE, "without --kernel")
    one_line(run(GTRACE, "replay", "--reduce", "--calls", "1..3"), USAGE, "without --calls")
    one_line(run(GTRACE, "replay", "--reduce"), USAGE, "nothing to reduce")


main(globals())
