#!/usr/bin/env python3
"""gmicrobench platform and device: what they write and print, in the time they promise; interrupted, without space,
with a device that breaks off, with little memory to lock, two at once.

Usage: microbench.py BUILD DOCS
"""

import ctypes
import glob
import pathlib
import resource

from job import *  # noqa: F403

GMICROBENCH = str(bin_dir / "gmicrobench")
DOCS = pathlib.Path(arguments[0])
SMALL = ("platform", "--quick", "--max-bytes", "4096")  # about a second
SHARED = 3  # times as long as promised may take what runs beside other tests
OPTIONAL = ("type", "host_unified", "pin", "staged", "launch", "copy", "map", "rect", "duplex")


def platform_file(path="p.json"):
    return json.loads(pathlib.Path(path).read_text())


def follows_the_schema(data):
    try:
        import jsonschema
    except ImportError:
        print("python3-jsonschema is not installed: the schema was not checked")
        return
    schema = json.loads((DOCS / "platform.schema.json").read_text())
    problems = [f"{'/'.join(map(str, e.absolute_path))}: {e.message}"
                for e in jsonschema.Draft202012Validator(schema).iter_errors(data)]
    check(not problems, "\n".join(problems[:5]))


def curves(value):
    """Every curve of a device, as (place, curve)."""
    if isinstance(value, dict):
        if "knots" in value:
            yield value
        else:
            for part in value.values():
                yield from curves(part)


def nothing_left_over():
    same(glob.glob("*.part*"), [], "parts of files")


def test_a_quick_run():
    started = time.monotonic()
    done = good(GMICROBENCH, "platform", "--quick", "-o", "p.json", "--html", "p.html")
    took = time.monotonic() - started
    check(took < 10 * SHARED, f"--quick took {took:.1f} s")
    data = platform_file()
    follows_the_schema(data)
    same((data["version"], data["quick"]), (3, True), "version, quick")
    keys(data["host"], "first_touch", "copy_threads")
    check(data["devices"], "no device")
    for device in data["devices"]:
        keys(device, *OPTIONAL)
        check({"standard", "opencl", "pin"} <= set(device["policies"]), f"policies {list(device['policies'])}")
        check(device["name"] in done.text, "the device's name is not in the table")
        for curve in curves(device):
            low, high = curve["measured"]
            check(64 <= low <= high, f"measured {low} to {high}")
            check(curve["samples"] >= 3, "samples")
        standard = device["policies"]["standard"]
        check(standard["h2d"]["measured"][1] >= 1 << 20, f"only up to {standard['h2d']['measured'][1]}")
        check(min(device["launch"]["sync_ns"], device["launch"]["async_ns"]) > 0, "launches")  # which is less depends on load
    for word in ("standard", "allocation", "pin in place", "Launch of an empty kernel"):
        check(word in done.text, f"no '{word}' in the table")
    page = pathlib.Path("p.html").read_text()
    check(page.count("<figure>") >= 7 and page.count("<svg") == page.count("</svg>"), "pictures")
    for word in ("<script", "http:", "https:", "src=", "href="):
        check(word not in page, f"the page has {word}")
    nothing_left_over()


def test_a_driver_that_takes_all_the_time_to_open():
    """It is measured roughly, in a part of its time."""
    done = good(GMICROBENCH, "platform", "--quick", "--max-bytes", "4096", "-o", "p.json",
                env=dict(with_fake(), FAKE_CL_DELAY="clCreateContext=9000ms"))
    standard = platform_file()["devices"][0]["policies"]["standard"]
    same(standard["h2d"]["measured"], [64, 4096], f"sizes measured: {done.err_text}")


def test_json_on_stdout_is_the_file():
    done = good(GMICROBENCH, *SMALL, "-o", "p.json", "--json")
    same(done.json, platform_file(), "stdout and file")
    high = platform_file()["devices"][0]["policies"]["standard"]["h2d"]["measured"][1]
    same(high, 4096, "largest size of --max-bytes 4096")


def test_the_cache_is_where_goptimize_looks():
    done = good(GMICROBENCH, "platform", "--quick", env=with_cache())
    check(CACHED in done.err_text and "next: goptimize run" in done.err_text, "says where")
    follows_the_schema(platform_file(CACHED))


CACHED = "cache/gtrace/platform.json"


def with_cache():
    """Its device has no large buffers: what is kept where does not depend on them, and they take long."""
    return dict(with_fake(), XDG_CACHE_HOME=os.getcwd() + "/cache", FAKE_CL_LARGEST="65536")


def cached(env, **changes):
    """A cached file of this machine with two devices, one of which is not there, and a link."""
    good(GMICROBENCH, *SMALL, "-o", CACHED, env=env)
    data = platform_file(CACHED)
    other = dict(data["devices"][0], name="Other")
    link = {"name": "tcp://node7:7077", "latency_ns": 25000, "command_ns": 900, "put": [[64, 10]], "get": [[64, 10]]}
    data |= {"devices": [data["devices"][0], other], "links": [link]} | changes
    pathlib.Path(CACHED).write_text(json.dumps(data))
    return data


def names(data):
    return [d["name"] for d in data["devices"]]


def test_what_is_partial_is_not_kept_without_a_name():
    env = with_cache()
    for options, says in ((("--max-bytes", "4096"), "its curves end at --max-bytes"),
                          (("--max-bytes", "4096", "--device", "0"), "its curves end at --max-bytes"),
                          (("--device", "0"), "the other devices were never measured")):
        done = good(GMICROBENCH, "platform", "--quick", *options, env=env)
        check(f"not kept: {says} (-o FILE keeps it)" in done.err_text and "next:" not in done.err_text, done.err_text)
        check("Fake device" in done.text and not os.path.exists("cache"), "the table, and no file")
    before = cached(env)
    good(GMICROBENCH, *SMALL, env=env)
    same(platform_file(CACHED), before, "the cached file after --max-bytes")


def test_a_quick_measurement_does_not_replace_a_full_one():
    env = with_cache()
    before = cached(env, quick=False)
    done = good(GMICROBENCH, "platform", "--quick", "--json", env=env)
    check(re.search(r"Fake device: the full measurement in \S*platform.json stays", done.err_text), done.err_text)
    data = platform_file(CACHED)
    same((names(data), data["quick"]), (["Fake device"], False), "the device that is there")
    for key in ("host", "links"):
        same(data[key], before[key], key)
    same(data["devices"][0], before["devices"][0], "the full measurement")
    same(done.json, data, "stdout and file")


def test_one_device_is_measured_into_the_cached_file():
    env = with_cache()
    before = cached(env)
    good(GMICROBENCH, "platform", "--quick", "--device", "0", env=env)
    data = platform_file(CACHED)
    same(sorted(names(data)), ["Fake device", "Other"], "devices")
    check(before["devices"][1] in data["devices"] and before["devices"][0] not in data["devices"], "which were measured")
    same(data["links"], before["links"], "links")


def test_a_failure_costs_nothing_that_was_measured():
    env = with_cache()
    before = cached(env)
    for options in ((), ("--device", "0")):
        failing = dict(env, FAKE_CL_FAIL="clFinish=-36")
        one_line(run(GMICROBENCH, "platform", "--quick", *options, env=failing), ENVIRONMENT, "clFinish", "-36")
        same(platform_file(CACHED), before, "the cached file")


def test_what_is_missing():
    env = with_cache()
    missing = ("platform", "--quick", "--missing", "--max-bytes", "4096", "-o", CACHED)
    one_line(run(GMICROBENCH, *missing, env=dict(env, FAKE_CL_FAIL="clFinish=-36")), ENVIRONMENT, "clFinish")
    failed = platform_file(CACHED)["failed"]
    check("clFinish failed (-36)" in failed[0]["error"] and abs(failed[0]["time_s"] - time.time()) < 3600, f"{failed}")
    follows_the_schema(platform_file(CACHED))
    good(GMICROBENCH, *missing, env=env)
    data = platform_file(CACHED)
    same((names(data), "failed" in data), (["Fake device"], False), "devices, failures")
    done = good(GMICROBENCH, *missing, env=env)
    check("has costs of all devices" in done.err_text, done.err_text)
    same(platform_file(CACHED), data, "the file")
    one_line(run(GMICROBENCH, *missing, "--device", "0", env=env), USAGE, "exclude")


def test_one_device_by_its_name():
    env, name = with_cache(), "Fake OpenCL/Fake device"
    for words in (("Fake OpenCL/Other",), (name, "--device", "0"), ("Fake device",)):
        one_line(run(GMICROBENCH, "platform", "--only", *words, env=env), USAGE, "no device|exclude")
    done = good(GMICROBENCH, *SMALL, "--only", name, "-o", "p.json", env=env)
    same((names(platform_file()), platform_file()["unlisted"]), (["Fake device"], True), "a file of one device")
    filling = ("platform", "--quick", "--seconds", "1", "--missing", "--only", name)
    good(GMICROBENCH, *filling, env=env)
    data = platform_file(CACHED)
    follows_the_schema(data)
    same((names(data), "unlisted" in data, "unused" in data), (["Fake device"], False, False), "the cached file")
    done = good(GMICROBENCH, *filling, env=env)
    check("has its costs" in done.err_text, done.err_text)


def test_what_was_measured_before_an_interruption_is_gone_on_with():
    slow = dict(with_cache(), FAKE_CL_DELAY="clEnqueueCopyBuffer=100s")
    filling = (GMICROBENCH, "platform", "--quick", "--missing")
    process = subprocess.Popen(filling, env=dict(os.environ, **slow), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for _ in range(200):
        if os.path.exists(CACHED):
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)  # at once
    process.communicate(timeout=20)
    same(process.returncode, -signal.SIGTERM, "ended by")
    begun = platform_file(CACHED)
    follows_the_schema(begun)
    same((names(begun), begun["unfinished"][0]["steps"], begun["unlisted"]), ([], ["launch"], True), "what is kept")
    good(*filling, env=with_cache())
    data = platform_file(CACHED)
    same((names(data), "unfinished" in data, "unlisted" in data), (["Fake device"], False, False), "the file")
    same((data["devices"][0]["launch"], "copy" in data["devices"][0]), (begun["unfinished"][0]["launch"], True), "costs")


def test_interrupted():
    for how in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen([GMICROBENCH, "platform", "-o", "p.json", "--html", "p.html"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1)
        process.send_signal(how)
        out, err = process.communicate(timeout=20)
        same(process.returncode, -how, "ended by")
        same((out, err), (b"", b""), "output")
        same(os.listdir("."), [], "files")


def test_two_at_once():
    both = [subprocess.Popen([GMICROBENCH, *SMALL, "-o", "p.json"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            for _ in range(2)]
    for process in both:
        _, err = process.communicate(timeout=100)
        same(process.returncode, 0, err.decode())
    follows_the_schema(platform_file())
    nothing_left_over()


def test_a_terminal_shows_how_far_it_is():
    needs("script")
    done = good("script", "-qec", f"{GMICROBENCH} {' '.join(SMALL)} -o p.json", "typescript", stdin=subprocess.DEVNULL)
    parts = [int(n) for n in re.findall(r"measuring [^\r]*\[[#.]{30}\] +(\d+)%", done.text)]
    check(len(parts) >= 2 and parts == sorted(parts) and parts[-1] > 50, f"the bar: {parts}")
    plain = good(GMICROBENCH, *SMALL, "-o", "p.json")
    same(len(plain.err_text.splitlines()), 1, "lines on a standard error that is no terminal")


def test_a_standard_output_that_fails():
    outcome = run("sh", "-c", f"{GMICROBENCH} {' '.join(SMALL)} -o p.json >/dev/full")
    same(outcome.code, ENVIRONMENT, "exit status")
    check("standard output" in outcome.err_text and "No space" in outcome.err_text, outcome.err_text)
    follows_the_schema(platform_file())
    os.remove("p.json")
    run("bash", "-c", f"{GMICROBENCH} {' '.join(SMALL)} -o p.json | true")
    follows_the_schema(platform_file())


def test_bad_arguments():
    one_line(run(GMICROBENCH, "platform", "--device", "99"), USAGE, "99")
    one_line(run(GMICROBENCH, "device", "--device", "99"), USAGE, "99")
    one_line(run(GMICROBENCH, "platform", "--max-bytes", "much"), USAGE, "much")
    one_line(run(GMICROBENCH, "platform", "--device", "-1"), USAGE, "whole number")
    one_line(run(GMICROBENCH, "fly"), USAGE, "fly")
    no_driver = {"OCL_ICD_VENDORS": "/nonexistent", "OCL_ICD_FILENAMES": ""}
    for command in ("platform", "device"):
        one_line(run(GMICROBENCH, command, env=no_driver), ENVIRONMENT, "driver")
        no_device = dict(with_fake(), FAKE_CL_FAIL="clGetDeviceIDs=-1")
        one_line(run(GMICROBENCH, command, env=no_device), ENVIRONMENT, "no device")


def test_places_that_cannot_be_written():
    os.mkdir("folder")
    pathlib.Path("file").write_text("old")
    started = time.monotonic()
    one_line(run(GMICROBENCH, "platform", "-o", "folder"), ENVIRONMENT, "folder", "directory")
    one_line(run(GMICROBENCH, "platform", "-o", "file/p.json"), ENVIRONMENT, "file")
    one_line(run(GMICROBENCH, "platform", "-o", "p.json", "--html", "no/such/p.html"), ENVIRONMENT, "no/such")
    one_line(run(GMICROBENCH, "device", "--html", "folder"), ENVIRONMENT, "folder")
    check(time.monotonic() - started < 8 * SHARED, "this is known before anything is measured")
    one_line(run(GMICROBENCH, *SMALL, "-o", "/dev/full"), ENVIRONMENT, "/dev/full", "no space")
    check(pathlib.Path("/dev/full").is_char_device(), "/dev/full was replaced")
    good("cp", GMICROBENCH, "program")
    one_line(run(GMICROBENCH, *SMALL, "-o", "program"), USAGE, "program", "not replaced")
    same(pathlib.Path("file").read_text(), "old", "a file in the way")


def test_a_full_disk():
    if os.geteuid() != 0:
        raise Skip("only root can mount a small file system")
    os.mkdir("small")
    if run("mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", "small").code != 0:
        raise Skip("mounting is not permitted here")
    try:
        outcome = run(GMICROBENCH, *SMALL, "-o", "small/p.json")
        one_line(outcome, ENVIRONMENT, "small/p.json", "no space")
        check("standard" in outcome.text, "the table is there all the same")
        same(os.listdir("small"), [], "left on the full disk")
    finally:
        run("umount", "small")


def with_fake(*others):
    """A folder of ICDs: the scripted driver, and others of this system."""
    os.makedirs("vendors", exist_ok=True)
    shutil.copy(tests_dir / "vendors" / "fake_cl.icd", "vendors/a_fake.icd")
    for path in others:
        shutil.copy(path, "vendors")
    return {"OCL_ICD_VENDORS": os.getcwd() + "/vendors", "OCL_ICD_FILENAMES": ""}


def test_a_device_that_breaks_off():
    pocl = glob.glob("/etc/OpenCL/vendors/pocl*.icd")
    if not pocl:
        raise Skip("PoCL is not installed")
    env = dict(with_fake(*pocl), FAKE_CL_FAIL="clEnqueueReadBuffer:20=-5")
    done = good(GMICROBENCH, *SMALL, "-o", "p.json", env=env)
    data = platform_file()
    follows_the_schema(data)
    same(len(data["devices"]), 1, "devices that were measured")
    same(len(data["failed"]), 1, "devices that failed")
    check("clEnqueueReadBuffer failed (-5)" in data["failed"][0]["error"], data["failed"][0]["error"])
    check(data["failed"][0]["name"] in done.err_text and "clEnqueueReadBuffer" in done.err_text, "named on stderr")
    check("clEnqueueReadBuffer" in done.text, "named in the table")


def test_only_a_device_that_breaks_off():
    for call in ("clCreateContext", "clCreateCommandQueue", "clEnqueueWriteBuffer", "clFinish", "clEnqueueMapBuffer"):
        env = dict(with_fake(), FAKE_CL_FAIL=f"{call}=-36")
        one_line(run(GMICROBENCH, *SMALL, "-o", "p.json", env=env), ENVIRONMENT, call, "-36")
        check(not os.path.exists("p.json"), "something was written")


def test_a_device_that_cannot_do_everything():
    """Where memory is not mapped and no kernel runs, the rest is measured."""
    env = dict(with_fake(), FAKE_CL_FAIL="clEnqueueMapBuffer=-59,clBuildProgram=-3,clEnqueueCopyBuffer=-59")
    good(GMICROBENCH, *SMALL, "-o", "p.json", env=env)
    device = platform_file()["devices"][0]
    for key in ("map", "launch", "copy", "duplex"):
        check(key not in device, f"{key} was measured")
    check("opencl" not in device["policies"] and "standard" in device["policies"], f"{list(device['policies'])}")
    keys(device, "pin", "rect")


def test_little_memory_to_lock():
    def limited():
        ctypes.CDLL(None).prctl(24, 14, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_IPC_LOCK: root is above the limit otherwise
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (16 << 10, 16 << 10))

    good(GMICROBENCH, "platform", "--quick", "--max-bytes", "64K", "-o", "p.json", preexec_fn=limited)
    policies = platform_file()["devices"][0]["policies"]
    check(0 < policies["locked"]["max_bytes"] <= 16 << 10, f"locked: {policies['locked']['max_bytes']}")
    same(policies["standard"]["max_bytes"], 0, "standard memory is not refused")
    same(policies["standard"]["h2d"]["measured"][1], 64 << 10, "the largest size")


def test_little_address_space():
    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))

    done = run(GMICROBENCH, *SMALL, "-o", "p.json", preexec_fn=limited)
    if done.code == 0:
        follows_the_schema(platform_file())
    else:
        one_line(done, ENVIRONMENT, ".")


def test_hardly_any_memory():
    for most in ("64", "127"):
        good(GMICROBENCH, "platform", "--quick", "--max-bytes", most, "-o", "p.json")
        follows_the_schema(platform_file())
    for most in ("0", "1", "63", "-1", "1e30", "", "4096 bytes"):
        one_line(run(GMICROBENCH, "platform", "--quick", f"--max-bytes={most}", "-o", "q.json"), USAGE, "--max-bytes")
    check(not os.path.exists("q.json"), "something was written")


def test_device_limits():
    started = time.monotonic()
    data = good(GMICROBENCH, "device", "--quick", "--json", "--html", "d.html").json
    check(time.monotonic() - started < 10 * SHARED, "--quick takes too long")
    same((data["format"], data["version"]), ("gtrace-device", 1), "format")
    for device in data["devices"]:
        same(sorted(device["limits"]), ["DtoD", "DtoH", "HtoD", "kernel"], "rows")
        for name, limit in device["limits"].items():
            for how in ("sync", "async"):
                check(10 < limit[how]["latency_ns"] < 1e9, f"{name} {how}: {limit[how]}")
                check(1e6 < limit[how]["bytes_per_s"] < 1e14, f"{name} {how}: {limit[how]}")
        roofline = device["roofline"]
        same([p["fma_per_float"] for p in roofline["points"]], [2 ** i for i in range(12)], "intensities")
        for p in roofline["points"]:
            roof = min(roofline["flops_per_s"], roofline["bytes_per_s"] * p["fma_per_float"] * 2 / 4)
            check(abs(p["predicted_flops_per_s"] / roof - 1) < 1e-9, f"prediction {p}")
            check(abs((p["error"] + 1) * p["measured_flops_per_s"] / roof - 1) < 1e-9, f"error {p}")
            check(p["low"] <= p["measured_flops_per_s"] <= p["high"], f"interval {p}")
        first, last = roofline["points"][0], roofline["points"][-1]
        check(last["measured_flops_per_s"] > 2 * first["measured_flops_per_s"], "more work a byte, more work a second")
    check("<figure>" in pathlib.Path("d.html").read_text(), "a picture")


def test_device_limits_of_one_that_breaks_off():
    env = dict(with_fake(), FAKE_CL_FAIL="clEnqueueCopyBuffer:3=-5")
    one_line(run(GMICROBENCH, "device", "--quick", env=env), ENVIRONMENT, "clEnqueueCopyBuffer")


def test_call_costs():
    started = time.monotonic()
    data = good(GMICROBENCH, "calls", "--quick", "--json").json
    check(time.monotonic() - started < 30 * SHARED, "--quick takes too long")
    same((data["format"], data["version"]), ("gtrace-calls", 1), "format")
    for device in data["devices"]:
        check(len(device["calls"]) == 18, f"{len(device['calls'])} calls")
        for name, cost in device["calls"].items():
            check(cost["low"] <= cost["ns"] <= cost["high"], f"{name}: {cost}")
            check(0 < cost["ns"] < 1e10, f"{name}: {cost}")
        check(device["calls"]["clBuildProgram"]["ns"] > device["calls"]["clSetKernelArg, number"]["ns"], "a build is work")
    table = good(GMICROBENCH, "calls", "--quick").out
    check(b"launch in a chain" in table, table)


def test_call_costs_of_one_that_breaks_off():
    env = dict(with_fake(), FAKE_CL_FAIL="clEnqueueMarkerWithWaitList:3=-5")
    one_line(run(GMICROBENCH, "calls", "--quick", env=env), ENVIRONMENT, "clEnqueueMarkerWithWaitList")


main(globals())
