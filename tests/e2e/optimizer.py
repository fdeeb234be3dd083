"""goptimize run: the same bytes and the same ending under every policy, counted right; plain runs whenever in doubt."""

import json
import pathlib
import re
import resource
import shutil
import sys

from job import (ENVIRONMENT, GOPTIMIZE, INPUT, RUN, USAGE, Skip, app, bin_dir, check, good, main, one_line, run, same,
                 tests_dir)

ONE_SITE = str(tests_dir / "optimizer" / "one_site")
SHAPES = str(tests_dir / "optimizer" / "pool_shapes")
MAKE_PROFILE = pathlib.Path(__file__).with_name("make_profile.py")


def profile(binary, name="app.gprofile", **values):
    if not shutil.which("objdump") or not shutil.which("readelf"):
        raise Skip("binutils is not installed")
    good(sys.executable, MAKE_PROFILE, binary, name, *[f"{k}={v}" for k, v in values.items()])
    return name


def optimized(*command, report="report.json", **options):
    done = run(*RUN, "--profile", "app.gprofile", "--report", report, *command, **options)
    return done, json.loads(pathlib.Path(report).read_text())


def total(report, key):
    return sum(site[key] for site in report["sites"])


def untimed(out):
    return re.sub(rb"time_s=\S+", b"", out)


def every_shape(policy):
    profile(SHAPES)
    plain = good(SHAPES)
    done, report = optimized("--force-policy", policy, "--", SHAPES)
    same(done.code, 0, "exit status")
    same(done.out, plain.out, "output")
    check(report["injected"], "injected")
    check(total(report, "allocations") > 60, f"allocations {total(report, 'allocations')}")
    check(total(report, "hits") > 100, f"hits {total(report, 'hits')}")
    return report


def test_pin():
    report = every_shape("pin")
    check(report["pinned"]["ranges"] > 3, "ranges")
    check(report["pinned"]["ranges"] < 60, "blocks are not pinned anew for each transfer")


def test_objects_made_from_pool_memory_are_staged():
    profile(SHAPES)
    plain = good(SHAPES)
    done, report = optimized("--force-policy", "pin", "--stage", "always", "--reuse", "never", "--", SHAPES)
    same((done.code, done.out), (0, plain.out), "exit status, output")
    check(report["staged"]["bytes"] >= 3 << 20, f"the one that is copied from such memory: {report['staged']}")


def test_opencl():
    report = every_shape("opencl")
    check(report["fallbacks"].get("before_context"), "the first block was made before the context")


def test_locked():
    same(every_shape("locked")["pinned"]["ranges"], 0, "ranges")


def test_hybrid():
    check(every_shape("hybrid")["pinned"]["ranges"] > 3, "ranges")


def test_counts_are_exact():
    profile(app("vadd"), min_bytes=1 << 20)
    done, report = optimized("--force-policy", "pin", "--", app("vadd"), "--elements", "1000000", "--iterations", "7")
    same(done.code, 0, "exit status")
    sites = [s for s in report["sites"] if s["allocations"]]
    same([s["allocations"] for s in sites], [1, 1, 1], "allocations")
    same([s["bytes"] for s in sites], [4000000] * 3, "bytes")
    same([s["hits"] for s in sites], [7, 7, 7], "transfers")
    same([s["hit_bytes"] for s in sites], [28000000] * 3, "transferred bytes")
    same(report["transfers"], {"count": 21, "bytes": 84000000}, "all transfers")
    same(report["pinned"]["ranges"], 3, "ranges")
    same(report["fallbacks"], {}, "fallbacks")


def test_site_in_a_library_that_is_loaded_late():
    library = tests_dir / "optimizer" / "liblate_block.so"
    profile(library)
    command = (tests_dir / "optimizer" / "late_library", library, 5000, 20, 64 << 10)
    plain = good(*command)
    done, report = optimized("--force-policy", "pin", "--", *command)
    same((done.code, done.out), (0, plain.out), "exit status and output")
    same((total(report, "allocations"), total(report, "hits")), (20, 40), "allocations, transfers")


def test_memory_is_reused():
    profile(app("vadd"), min_bytes=1 << 20)
    arguments = ["--elements", "1000000", "--iterations", "50", "--alloc-in-loop"]
    done, report = optimized("--force-policy", "pin", "--", app("vadd"), *arguments)
    same(done.code, 0, "exit status")
    check(total(report, "allocations") >= 100, "allocations")
    check(report["pinned"]["ranges"] <= 6, f"{report['pinned']['ranges']} ranges")


def test_memory_of_a_phase_that_is_over_goes_back():
    profile(ONE_SITE)
    mib = 1 << 20
    phases = ("busy", 1, mib, "again", 1200, 2 * mib)  # 4.7 GiB are moved when the first block lies idle
    plain = good(ONE_SITE, *phases)
    done, report = optimized("--force-policy", "pin", "--", ONE_SITE, *phases)
    same((done.code, done.out), (0, plain.out), "exit status and output")
    same(report["returned"], {"above_cache_bytes": 0, "short_memory_bytes": 0, "idle_bytes": mib}, "given back")
    same((total(report, "allocations"), report["pinned"]["ranges"]), (2, 2), "allocations and pins")


def test_endings():
    profile(SHAPES)
    for argument in ("3", "0", "abort"):
        plain = run(SHAPES, argument)
        done, report = optimized("--force-policy", "pin", "--", SHAPES, argument)
        same(done.code, plain.code, "exit status")
        same(done.out, plain.out, "output")
        check(total(report, "hits") > 100, "counted however it ends")


def test_killed_program_is_counted():
    profile(app("vadd"), min_bytes=1 << 20)
    arguments = ["--elements", "1000000", "--iterations", "9", "--kill-at", "4"]
    done, report = optimized("--force-policy", "pin", "--", app("vadd"), *arguments)
    same(done.code, 137, "exit status")
    check(total(report, "hits") >= 10, "transfers before the end")


def test_little_address_space():
    profile(SHAPES)
    plain = good(SHAPES)

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))

    done, _ = optimized("--force-policy", "pin", "--", SHAPES, preexec_fn=limit)
    same(done.code, 0, "exit status")
    same(done.out, plain.out, "output")


def test_standard_streams_are_the_programs():
    profile("/bin/cat")
    done = run(*RUN, "--profile", "app.gprofile", "--force-policy", "pin", "--", "cat", "-", input=b"in\0out")
    same(done.code, 0, "exit status")
    same(done.out, b"in\0out", "stdout")


def test_profile_of_another_program():
    profile(app("sgemm"), build_id="00" * 20)
    plain = good(app("vadd"), "--iterations", "2")
    done, report = optimized("--force-policy", "pin", "--", app("vadd"), "--iterations", "2")
    same(done.code, 0, "exit status")
    same(untimed(done.out), untimed(plain.out), "output")
    same(total(report, "allocations"), 0, "allocations")
    check(report["outcome"].startswith("nothing saved: app.gprofile was made for another program or build: " + app("sgemm")),
          report["outcome"])
    profile(app("sgemm"), build_id="00" * 20, eligible="false")
    done, _ = optimized("--", "true")
    check("transfers take 5.000 of the kernels' time: too little; the profile was made for another program or build: "
          + app("sgemm") in done.err_text, done.err_text)


def test_deleted_and_damaged_plan():
    # What the injected library meets when its files are gone or not what they were.
    profile(SHAPES)
    plain = good(SHAPES)
    library = next(bin_dir.parent.glob("lib*/gtrace/opt/libOpenCL.so.1"))
    counters = pathlib.Path("counters")
    for plan in (None, b"", b"gtplan\n\0" + bytes(100), bytes(5000)):
        path = pathlib.Path("plan")
        path.unlink(missing_ok=True)
        if plan is not None:
            path.write_bytes(plan)
        for size in (0, 17, 400000):
            counters.write_bytes(bytes(size))
            done = run(SHAPES, env={"LD_PRELOAD": str(library), "GTRACE_OPT_PLAN": str(path.resolve()),
                                    "GTRACE_OPT_COUNTERS": str(counters.resolve())})
            same(done.code, 0, "exit status")
            same(done.out, plain.out, "output")


def test_nothing_to_gain_runs_plain():
    # Small blocks: no policy can save milliseconds.
    profile(app("vadd"), max_bytes=8192, min_bytes=0, h2d_bytes=100000, d2h_bytes=100000)
    for _ in range(2):  # the first one may have to measure the device
        done, report = optimized("--", app("vadd"), "--elements", "1000", "--iterations", "2", timeout=250)
        same(done.code, 0, "exit status")
    check("nothing to gain here" in done.err_text, "says so")
    check(not report["injected"], "nothing is injected")
    same(done.err_text.count("PASS"), 0, "stderr is ours")


def test_ineligible_runs_plain():
    profile(app("vadd"), eligible="false")
    done, report = optimized("--", app("vadd"), "--iterations", "2")
    same(done.code, 0, "exit status")
    check("nothing to gain here" in done.err_text and not report["injected"], "says so")


def test_no_profile_runs_plain():
    done = run(*RUN, "--", "sh", "-c", "echo out; exit 7")
    same((done.code, done.out), (7, b"out\n"), "as without us")
    check("nothing to gain here" in done.err_text or "no profile" in done.err_text, "says so")


def test_bad_input():
    one_line(run(*RUN), USAGE, "no program")
    one_line(run(*RUN, "--", "./missing"), USAGE, "missing")
    one_line(run(*RUN, "--force-policy", "magic", "--", "true"), USAGE, "magic")
    one_line(run(GOPTIMIZE, "fly"), USAGE, "fly")
    one_line(run(*RUN, "--profile", "missing", "--", "true"), INPUT, "missing")
    pathlib.Path("bad.gprofile").write_text("version = 1\n[program]\nwings = 2\n")
    one_line(run(*RUN, "--profile", "bad.gprofile", "--", "true"), INPUT, "bad.gprofile:3:1")
    profile(app("vadd"))
    for content in ("", "{}", "[1"):
        pathlib.Path("platform.json").write_text(content)
        outcome = run(*RUN, "--profile", "app.gprofile", "--platform", "platform.json", "--", "true")
        one_line(outcome, INPUT, "platform.json")


def test_damaged_implicit_profile_is_passed_over():
    pathlib.Path("true.gprofile").write_text("nonsense")
    done = run(*RUN, "--", "true")
    same(done.code, 0, "exit status")
    check("true.gprofile:1" in done.err_text, "names the place")


def test_devices():
    no_driver = {"OCL_ICD_VENDORS": "/nonexistent", "OCL_ICD_FILENAMES": ""}
    one_line(run(GOPTIMIZE, "devices", env=no_driver), ENVIRONMENT, "device")
    check(good(GOPTIMIZE, "devices").text.startswith("0: "), "a list")


main(globals())
