"""goptimize run: what it says at the end, and in --report: every documented key, honest numbers, a reason for no gain."""

import json
import pathlib
import re
import shutil
import sys

from job import RUN, Skip, arguments, check, good, main, run, same, tests_dir
from planted_platform import planted_platform

DOCS = pathlib.Path(arguments[0])
SVM_COPIES = str(tests_dir / "optimizer" / "svm_copies")
ONE_SITE = str(tests_dir / "optimizer" / "one_site")
MAKE_PROFILE = pathlib.Path(__file__).with_name("make_profile.py")
BYTES = 64 << 10
PROMISE = dict(allocations=20, transfers_each=2, h2d_bytes=20 * BYTES, d2h_bytes=20 * BYTES, min_bytes=BYTES, max_bytes=BYTES)


def profile(**values):
    if not shutil.which("objdump") or not shutil.which("readelf"):
        raise Skip("binutils is not installed")
    values = dict(PROMISE, **values)
    good(sys.executable, MAKE_PROFILE, ONE_SITE, "one_site.gprofile", *[f"{k}={v}" for k, v in values.items()])


def optimized(*arguments, program=ONE_SITE, options=(), **costs):
    """The report, and what goptimize said."""
    planted_platform("platform.json", **costs)
    command = (program, *arguments)
    plain = good(*command)
    done = run(*RUN, "--platform", "platform.json", "--report", "r.json", *options, "--", *command,
               env={"XDG_DATA_HOME": "/proc/none"})
    same((done.code, done.out), (0, plain.out), "exit status and output")
    return json.loads(pathlib.Path("r.json").read_text()), done.err_text


def documented_keys():
    """`a`, `b{c, d}` and `e[{f}]` of the first paragraph of the report's section: {a: None, b: {c, d}, e: {f}}."""
    section = (DOCS / "goptimize.md").read_text().split("\n## The report\n")[1].split("\n## ")[0]
    keys = {}
    for name, inner in re.findall(r"`(\w+)(?:\[?\{([^}]*)\}\]?)?`", section.split("\n\n")[0]):
        keys.setdefault(name, {k.strip() for k in inner.split(",") if k.strip()} if inner else None)
    return keys


def test_every_documented_key_is_there_and_no_other():
    profile()
    for command in (("busy", 100, BYTES), ("idle", 1, BYTES)):
        report, _ = optimized(*command)
        keys = documented_keys()
        same(set(report), set(keys) | {"remote"}, "keys")
        for name, inner in keys.items():
            if not inner or inner == {"reason: count"} or report[name] == {}:  # remote{}: of other runs
                continue
            values = report[name] if isinstance(report[name], list) else [report[name]]
            check(values, f"{name} is empty")
            for value in values:
                same(set(value), inner, f"keys of {name}")


def test_the_saving_is_that_of_the_costs():
    profile()
    report, text = optimized("busy", 1000, BYTES)  # 2000 transfers, of 0.1 ms each instead of 1 ms
    site = report["sites"][0]
    check(abs(site["saved_s"] + site["paid_s"] - 1.8) < 1e-6, f"saved {site['saved_s']}, paid {site['paid_s']}")
    check(site["pin_s"] <= site["paid_s"] < site["pin_s"] + 1e-3, "paid: pins and blocks")
    same(report["saved_s"], site["saved_s"], "in all")
    check(re.search(r"goptimize: about 1\.\d{3} s saved, by the measured costs: 1\.\d{3} s at allocation sites\n", text), text)


def test_memory_that_could_not_be_pinned_saved_nothing():
    profile()
    env = {"OCL_ICD_VENDORS": str(tests_dir / "vendors")}
    planted_platform("platform.json", env=env)
    good(*RUN, "--profile", "one_site.gprofile", "--platform", "platform.json", "--report", "r.json", "--",
         ONE_SITE, "busy", 50, BYTES, env=dict(env, FAKE_CL_FAIL="clCreateBuffer:2=-4"))
    report = json.loads(pathlib.Path("r.json").read_text())
    site = report["sites"][0]
    same((site["hits"], report["fallbacks"]), (100, {"pin_refused": 1}), "transfers and fallbacks")
    check(site["saved_s"] <= 0, f"saved {site['saved_s']}")


def test_no_profile_and_nothing_to_gain():
    report, text = optimized("busy", 10, BYTES)
    same(report["injected"], False, "injected")
    same(text.splitlines()[0], "goptimize: nothing to gain here: no profile of this program (gtrace run, ganalyze), and no "
         "device of this machine moves memory faster than its driver does by itself", "the reason")


def test_no_profile_and_a_gain():
    report, text = optimized("again", 100, 4 << 20, standard=1e7, staged=1e5)  # 40 ms a transfer: no machine is that slow
    check(text.startswith("goptimize: no profile of this program: transfers of other memory are staged"), text)
    check(report["saved_s"] > 0.5 and re.search(r"about \d\.\d{3} s saved.* by staging", text), text)


def test_staging_that_takes_longer_than_the_costs_promise():
    # Of 16 MiB: 16 us by staging, 64 us by the driver, which no machine can do.
    report, text = optimized("again", 250, 16 << 20, standard=4e3, staged=1e3)
    staged = report["staged"]
    same(staged["transfers"] >= staged["measured"] > 15, True, f"transfers that were measured: {staged}")
    check(staged["measured_s"] > staged["driver_s"], f"what they took: {staged}")
    check(staged["saved_s"] < -0.05 and report["saved_s"] == staged["saved_s"], f"a loss: {staged}")
    same((staged["suspensions"], staged["left"] > 50), (2, True), f"suspended, both ways: {staged}")
    check(re.search(r"staging took longer than the driver was measured to: suspended 2 times, \d+ transfers left", text), text)
    check(re.search(r"about \d\.\d{3} s lost: staging took longer than it was measured to", text), text)


def test_shared_virtual_memory_has_costs_of_its_own():
    def copies(**costs):
        return optimized(program=SVM_COPIES, **costs)[0]

    same(copies(standard=1e8, staged=1e4)["staged"]["transfers"], 0, "buffers alone gain by staging")
    report = copies(standard=1e6, staged=1e6, svm=(1e8, 1e8, 1e4))
    same((report["staged"]["transfers"], report["reused"]["transfers"]), (114, 0), "only staging gains")
    check(report["staged"]["saved_s"] > 5, f"what it saved: {report['staged']}")
    report = copies(standard=1e6, pin=1e6, svm=(1e8, 1e4, 5e7))
    check(report["reused"]["transfers"] > 20, f"pins gain more: {report['reused']}")


def test_ineligible_profile():
    profile(eligible="false")
    report, text = optimized("busy", 10, BYTES)
    check("nothing to gain here: by one_site.gprofile transfers take 5.000 of the kernels' time: too little" in text, text)
    same(report["injected"], False, "injected")


def test_profile_without_a_gain():
    profile()
    report, text = optimized("busy", 10, BYTES, pin=1e6)
    check("nothing to gain here: on this platform other memory would save 0.0 ms at most" in text, text)
    same([s["why"] for s in report["sites"]], ["no policy beats the standard one here"], "the reason")


def test_program_that_transfers_nothing():
    profile()
    _, text = optimized("idle", 10, BYTES)
    check("goptimize: nothing saved: the program transferred nothing\n" in text, text)


def test_program_whose_memory_is_of_other_sizes():
    profile()
    _, text = optimized("busy", 10, 2 << 10)
    check("nothing saved: its 20 transfers (40.0 KiB) are of other memory than the profile names, or too small" in text, text)


def test_machine_that_was_not_measured():
    profile()
    done = good(*RUN, "--force-policy", "pin", "--", ONE_SITE, "busy", 10, BYTES,
                env={"XDG_CACHE_HOME": str(pathlib.Path.cwd())})  # which is empty
    check("what that saved is not known: this machine was not measured (gmicrobench platform)" in done.err_text, done.err_text)


def test_platform_file_without_the_programs_devices():
    profile()
    platform = pathlib.Path(planted_platform("platform.json"))
    data = json.loads(platform.read_text())
    for device in data["devices"]:
        device["name"] = "Another GPU"
    for failed in ([], [{"platform": "p", "name": "This GPU", "driver": "1", "error": "clFinish failed (-36)"}]):
        platform.write_text(json.dumps(data | {"failed": failed}))
        done = good(*RUN, "--profile", "one_site.gprofile", "--platform", platform, "--", ONE_SITE, "busy", 50, BYTES)
        last = done.err_text.splitlines()[-1]
        check(last.startswith("goptimize: the platform file has no costs of the program's devices: what was saved is not known"), last)
        same("This GPU could not be measured: clFinish failed (-36)" in last, bool(failed), "the reason")


main(globals())
