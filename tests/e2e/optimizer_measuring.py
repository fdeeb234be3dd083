"""goptimize run measures a device when a program opens it: once, not for ever, not beyond its own end, not for programs
that open none, and what failed then a day later once more."""

import glob
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

from job import GOPTIMIZE, RUN, Skip, bin_dir, build, check, good, main, run, same, tests_dir
from planted_platform import planted_platform

KEPT = pathlib.Path("cache/gtrace/platform.json")
OPENS = tests_dir / "optimizer" / "opens"  # opens the devices of a platform
ONE_SITE = tests_dir / "optimizer" / "one_site"
MAKE_PROFILE = pathlib.Path(__file__).with_name("make_profile.py")
FAKE, POCL = "Fake OpenCL", "Portable Computing"
FAILS = {"FAKE_CL_FAIL": "clEnqueueReadBuffer=-5"}
HANGS = {"FAKE_CL_DELAY": "clCreateCommandQueue=100s"}  # which the program does not call
# By what comes first: a step that failed once comes last.
SAYS = r"\w.* could not be measured on \d{4}-\d\d-\d\d: (clEnqueueReadBuffer|a staged transfer) failed \(-5\)"


def with_driver(kind):
    """The only driver is one of the odd ones of tests/fake_cl."""
    vendors = pathlib.Path(kind)
    vendors.mkdir(exist_ok=True)
    (vendors / "driver.icd").write_text(f"{tests_dir}/libbad_icd_{kind}.so\n")
    return {"OCL_ICD_VENDORS": str(vendors.resolve()), "XDG_CACHE_HOME": f"{os.getcwd()}/cache"}


def with_fake(largest=64 << 10):
    """`largest`: buffer, in bytes; who has none larger is soon measured."""
    return {"OCL_ICD_VENDORS": str(tests_dir / "vendors"), "OCL_ICD_FILENAMES": "", "XDG_CACHE_HOME": f"{os.getcwd()}/cache",
            "FAKE_CL_LARGEST": str(largest)}


def with_fake_and_pocl():
    pocl = glob.glob("/etc/OpenCL/vendors/pocl*.icd")
    if not pocl:
        raise Skip("PoCL is not installed")
    shutil.copytree(tests_dir / "vendors", "vendors")
    shutil.copy(pocl[0], "vendors")
    return with_fake() | {"OCL_ICD_VENDORS": f"{os.getcwd()}/vendors"}


def processes(is_one):
    """Those with this folder's cache in their environment: other tests run the same programs beside this one."""
    found = []
    ours = f"XDG_CACHE_HOME={os.getcwd()}/cache".encode()
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            environment = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if is_one(words) and ours in environment:
            found.append(int(entry.name))
    return found


def measuring():
    """The processes that write into this folder's cache."""
    return processes(lambda words: f"{os.getcwd()}/{KEPT}".encode() in words and words[0].endswith(b"gmicrobench"))


def until(condition, seconds, text):
    for _ in range(seconds * 20):
        if condition():
            return
        time.sleep(0.05)
    check(False, text)


def kept():
    return json.loads(KEPT.read_text())


def names(key):
    return [d["name"] for d in kept().get(key, [])]


def aged(seconds=2 * 24 * 3600):
    """What failed, failed long ago."""
    data = kept()
    for failed in data["failed"]:
        failed["time_s"] -= seconds
    KEPT.write_text(json.dumps(data))


def opened(env, *what, options=()):
    """What goptimize says when a program opens devices."""
    done = good(*RUN, *options, "--", OPENS, *what, env=env)
    same(done.text, "".join(f"{w}\n" for w in what), "output")
    return done.err_text


def measures(text):
    return len(re.findall(r"measuring .* once, for about|trying it again|going on with measuring", text))


def test_who_opens_no_device_has_none_measured():
    env = with_fake()
    for command in (("echo", "ran"), (OPENS, "list"), ("sh", "-c", "echo ran; exit 7")):
        done = run(*RUN, "--", *command, env=env)
        same((done.code, done.out), (7 if "sh" in command else 0, b"list\n" if OPENS in command else b"ran\n"), "the program")
        check("the program opened no device that could be measured" in done.err_text, done.err_text)
    good(*RUN, "--", OPENS, f"fork={FAKE}", env=env)  # nothing is optimized in a forked child
    check(not KEPT.exists(), "something was measured")


def test_a_device_is_measured_once_by_whoever_opens_it():
    env = with_fake()
    command = f"{OPENS} 'type={FAKE}' 'threads={FAKE}' && {OPENS} '{FAKE}'"
    done = good(*RUN, "--report", "r.json", "--", "sh", "-c", command, env=env)
    same(done.text, f"type={FAKE}\nthreads={FAKE}\n{FAKE}\n", "output")
    same(measures(done.err_text), 1, "measurements")
    report = json.loads(pathlib.Path("r.json").read_text())
    gains = "are staged where it pays" in report["decision"]  # on a busy machine it may look so
    check(gains or report["decision"].startswith("nothing to gain here: no profile of this program"), report["decision"])
    check(gains or report["outcome"] == report["decision"], f"{report}")
    check(f"goptimize: {report['decision']}\n" in done.err_text, done.err_text)
    same((names("devices"), "unused" in kept(), "unlisted" in kept()), (["Fake device"], False, False), "what is kept")
    before = KEPT.read_bytes()
    done = good(*RUN, "--report", "r.json", "--", OPENS, f"type={FAKE}", env=env)
    same((measures(done.err_text), KEPT.read_bytes()), (0, before), "it is measured again")
    same(json.loads(pathlib.Path("r.json").read_text())["injected"], gains, "injected although all is known")


def test_of_two_drivers_only_that_which_is_opened():
    env = with_fake_and_pocl()
    same(measures(opened(env, "list", FAKE)), 1, "measurements")
    same((names("devices"), len(names("unused"))), (["Fake device"], 1), "devices, unused ones")
    before = kept()["devices"][0]
    same(measures(opened(env, FAKE)), 0, "measurements of what is known")
    same(measures(opened(env, FAKE, POCL)), 1, "measurements of the other one")
    same((len(names("devices")), "unused" in kept()), (2, False), "devices")
    check(before in kept()["devices"], "what was measured first has changed")


def test_a_driver_that_hangs_is_given_up_once():
    env = with_fake() | HANGS
    for measured in (1, 0, 0):
        start = time.monotonic()
        text = opened(env, FAKE, options=("--measure-seconds", 2))
        check(re.search(r"Fake device could not be measured on \d{4}-\d\d-\d\d: a driver did not come back within 2 s \(given "
                        "up: gmicrobench platform tries it again\\)", text), text)
        check(time.monotonic() - start < 8, "it took longer than the limit")
        same((measures(text), measuring()), (measured, []), "measurements, processes left behind")
        aged()  # a driver that hangs is not tried again


def test_what_was_measured_within_the_limit_is_kept_and_gone_on_with():
    env, limit = with_fake(), ("--measure-seconds", 6)
    slow = {"FAKE_CL_DELAY": "clEnqueueCopyBuffer=100s"}  # the second step
    start = time.monotonic()
    text = opened(env | slow, FAKE, options=limit)
    check(time.monotonic() - start < 12, "it took longer than the limit")
    check("Fake device is not measured within 6 s: the next run goes on with it" in text, text)
    same((names("devices"), names("unfinished"), kept()["unfinished"][0]["steps"]), ([], ["Fake device"], ["launch"]), "kept")
    begun_, before = kept()["unfinished"][0], KEPT.read_bytes()
    text = opened(env, FAKE)
    check("going on with measuring Fake device" in text, text)
    same((names("devices"), "unfinished" in kept(), "failed" in kept()), (["Fake device"], False, False), "what is kept")
    same(kept()["devices"][0]["launch"], begun_["launch"], "what was measured first")
    KEPT.write_bytes(before)
    slower = {"FAKE_CL_DELAY": "clEnqueueCopyBuffer=100s,clEnqueueMapBuffer=100s"}
    for measured in (1, 0):  # it comes no further
        text = opened(env | slower, FAKE, options=("--measure-seconds", 2))
        check("a driver did not come back within 2 s (given up" in text and measures(text) == measured, text)
    KEPT.write_bytes(before)
    for _ in range(4):  # all but that step can be measured; on a busy machine that takes several runs
        text = opened(env | slow, FAKE, options=("--measure-seconds", 10))
        if names("devices"):
            break
    same((names("devices"), "copy" in kept()["devices"][0], "failed" in kept()), (["Fake device"], False, False), "kept")


def test_a_machine_without_devices():
    """One that only uses others' devices."""
    os.mkdir("none")
    empty = {"XDG_CACHE_HOME": f"{os.getcwd()}/cache", "OCL_ICD_VENDORS": f"{os.getcwd()}/none", "OCL_ICD_FILENAMES": ""}
    done = run(*RUN, "--", OPENS, "list", env=empty)
    same((done.code, done.out, KEPT.exists()), (1, b"clGetPlatformIDs failed\n", False), "status, output, cache")


def test_a_device_that_failed_is_tried_again_after_a_day():
    env = with_fake()
    for _ in range(2):  # measured once
        text = opened(env | FAILS, FAKE)
        check(re.search(f"goptimize: {SAYS} \\(tried again after a day", text), text)
    same(measures(text), 0, "it is measured with every run")
    aged()
    text = opened(env, FAKE, options=("--measure-seconds", "0"))
    check(measures(text) == 0 and re.search(SAYS, text), f"nothing may be measured: {text}")
    same(measures(good(*RUN, "--", "echo", "ran", env=env).err_text), 0, "measurements for one that opens nothing")
    text = opened(env | FAILS, FAKE)
    check(re.search(f"goptimize: {SAYS}; trying it again", text), text)
    same(measures(opened(env | FAILS, FAKE)), 0, "a device that always fails is tried with every run")
    aged()
    text = opened(env, FAKE)
    check("trying it again" in text, text)
    same((names("devices"), "failed" in kept()), (["Fake device"], False), "devices, failures")
    same(measures(opened(env, FAKE)), 0, "it is measured again although all is there")


def test_what_was_measured_stays_while_a_device_is_tried_again():
    env = with_fake_and_pocl()
    small = (bin_dir / "gmicrobench", "platform", "--quick", "--missing", "--max-bytes", "4096", "-o", KEPT)
    good(*small, env=env | FAILS)
    before = kept()
    same((len(before["devices"]), len(before["failed"])), (1, 1), "devices, failures")
    text = opened(env, FAKE)
    check(measures(text) == 0 and ("staged where it pays" in text or re.search("nothing to gain here: .*" + SAYS, text)), text)
    aged()
    same(measures(opened(env, POCL)), 0, "measurements for who opens the other one")
    opened(env, FAKE)
    same((len(names("devices")), "failed" in kept()), (2, False), "devices, failures")
    check(before["devices"][0] in kept()["devices"], "the other device was measured again")


def test_where_nothing_can_be_written_nothing_is_tried_again():
    env = with_fake()
    opened(env | FAILS, FAKE)
    aged()
    before = KEPT.read_bytes()
    done = good("sh", "-c", f"ulimit -f 0; exec {GOPTIMIZE} run --pages never -- {OPENS} '{FAKE}'", env=env)
    same((done.text, measures(done.err_text)), (f"{FAKE}\n", 0), "output, measurements")
    check("running without optimization" in done.err_text, done.err_text)
    same(KEPT.read_bytes(), before, "the file")


def begun(env, *options, what=(FAKE,)):
    """goptimize, while a device is measured."""
    run_ = subprocess.Popen([*RUN, *options, "--", OPENS, *what], env=dict(os.environ, **env),
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until(measuring, 20, "nothing is measured")
    return run_


def test_a_driver_that_crashes_is_tried_once_a_day():
    env = with_fake()
    for again in (False, True):
        run_ = begun(env | HANGS)
        os.kill(measuring()[0], signal.SIGSEGV)
        out, err = run_.communicate(timeout=30)
        same((run_.returncode, out.decode()), (0, f"{FAKE}\n"), "exit status and output")
        check(b"Fake device could not be measured on" in err and b"gmicrobench ended by signal 11" in err, err.decode())
        same(b"trying it again" in err, again, "it is tried again")
        same(measures(opened(env | HANGS, FAKE)), 0, "it is tried with every run")
        aged()


def test_a_pipe_that_nobody_writes_is_not_waited_for():
    os.mkfifo("pipe")
    os.mkfifo("echo.gprofile")
    pathlib.Path("cache/gtrace").mkdir(parents=True)
    os.mkfifo(KEPT)
    env = with_driver("empty") | {"XDG_CACHE_HOME": f"{os.getcwd()}/cache"}
    run(*RUN, "--measure-seconds", 0, "--", "echo", "ran", env=env, timeout=20)
    for option in ("--profile", "--platform"):
        run(*RUN, "--measure-seconds", 0, option, "pipe", "--", "echo", "ran", env=env, timeout=20)


def test_with_another_driver_what_was_given_up_is_tried():
    opened(with_fake() | HANGS, FAKE, options=("--measure-seconds", 1))
    same(kept()["failed"][0]["given_up"], True, "given up")
    shutil.copytree(tests_dir / "vendors", "vendors")
    pathlib.Path("vendors/another.icd").write_text(f"{tests_dir}/libbad_icd_empty.so\n")
    text = opened(with_fake() | HANGS | {"OCL_ICD_VENDORS": f"{os.getcwd()}/vendors"}, FAKE, options=("--measure-seconds", 1))
    check("another OpenCL driver" in text and measures(text) == 1, f"it is not measured anew: {text}")


def test_no_measurement_is_wanted():
    done = run(*RUN, "--measure-seconds", 0, "--", OPENS, FAKE, env=with_fake())
    same((done.code, done.text), (0, f"{FAKE}\n"), "exit status and output")
    check("never measured" in done.err_text and not KEPT.exists(), "it does not say that nothing was measured")


def test_the_program_ends_while_it_waits():
    for sent, code in ((signal.SIGKILL, 137), (signal.SIGTERM, 143)):
        run_ = begun(with_fake() | HANGS)
        program = processes(lambda words: words[0] == str(OPENS).encode())
        os.kill(program[0], sent)
        same(run_.wait(20), code, "exit status")
        same(measuring(), [], "the measurement goes on")


def test_a_signal_to_goptimize_is_the_programs():
    run_ = begun(with_fake() | HANGS)
    run_.send_signal(signal.SIGTERM)
    same(run_.wait(20), 143, "exit status")
    same(measuring(), [], "the measurement goes on")


def test_goptimize_ends_while_the_program_waits():
    run_ = begun(with_fake() | HANGS)
    run_.kill()
    until(lambda: not measuring(), 20, "the measurement goes on")
    out, _ = run_.communicate(timeout=20)  # its output ends with the program
    same(out.decode(), f"{FAKE}\n", "what the program did")


def test_a_process_that_is_left_over_does_not_wait():
    program = f"{OPENS} sleep=1500 '{FAKE}' > out & sleep 0.5"
    same(measures(good(*RUN, "--", "sh", "-c", program, env=with_fake() | HANGS).err_text), 0, "measurements")
    start = time.monotonic()
    until(lambda: FAKE in pathlib.Path("out").read_text(), 20, "it does not go on")
    check(time.monotonic() - start < 3, "it waited for nobody")


def test_gmicrobench_can_be_interrupted_although_a_driver_hangs():
    path = f"{os.getcwd()}/{KEPT}"
    child = subprocess.Popen([bin_dir / "gmicrobench", "platform", "--quick", "-o", path], stderr=subprocess.DEVNULL,
                             env=dict(os.environ, **with_driver("hang")))
    until(measuring, 20, "nothing is measured")
    child.send_signal(signal.SIGTERM)
    same(child.wait(60), -signal.SIGTERM, "exit status")


def test_a_gmicrobench_that_cannot_be_executed_is_nothing_to_the_program():
    """The child that failed to become it still handles signals as goptimize does, which passes them on to the program."""
    os.mkdir("bin")
    shutil.copy(GOPTIMIZE, "bin/goptimize")
    os.symlink(build / "lib", "lib")
    signals = "trap 'echo asked to end' TERM HUP INT"
    for _ in range(20):
        done = good("bin/goptimize", "run", "--", "sh", "-c", f"{signals}; {OPENS} '{FAKE}'", env=with_fake())
        same(done.text, f"{FAKE}\n", "what the program did")
        check("cannot start" in done.err_text and "gmicrobench: No such file" in done.err_text, done.err_text)


def test_local_devices_that_the_program_does_not_see_are_not_measured():
    empty = {"XDG_CACHE_HOME": f"{os.getcwd()}/cache", "GTRACE_TOKEN_FILE": f"{os.getcwd()}/token"}
    pathlib.Path("token").write_text("0" * 64 + "\n")
    done = good(*RUN, "--remote", "shm:nobody-listens-here", "--only", "remote", "--", "echo", "ran", env=empty)
    check(done.out == b"ran\n" and "measuring" not in done.err_text and not KEPT.exists(), "this machine was measured")


# --- What comes of a measurement while the program runs: goptimize beside a gmicrobench of ours, which knows the answer ---


def with_planted(**costs):
    """A goptimize whose measurement gives these costs at once."""
    planted_platform("planted.json", env=with_fake(), **costs)
    os.mkdir("bin")
    shutil.copy(GOPTIMIZE, "bin/goptimize")
    os.symlink(build / "lib", "lib")
    pathlib.Path("bin/gmicrobench").write_text(f"#!/bin/sh\nfor last; do :; done\ncp {os.getcwd()}/planted.json \"$last\"\n")
    os.chmod("bin/gmicrobench", 0o755)


def one_site(*command):
    env = with_fake(largest=1 << 30)
    done = good("bin/goptimize", "run", "--report", "r.json", "--", ONE_SITE, *command, env=env)
    same(done.out, good(ONE_SITE, *command, env=env).out, "output")
    same(measures(done.err_text), 1, "measurements")
    return json.loads(pathlib.Path("r.json").read_text()), done.err_text


def test_staging_begins_when_the_device_was_measured():
    with_planted(standard=1e7, staged=1e5)
    report, text = one_site("again", 100, 4 << 20)
    check(re.search(r"goptimize: about \d\.\d{3} s saved, by the measured costs: .* by staging\n", text), text)
    check(report["staged"]["transfers"] > 50, f"staged: {report['staged']}")
    check(report["decision"].startswith("no profile of this program: transfers of other memory are staged"), report["decision"])


def test_sites_are_served_when_the_device_was_measured():
    if not shutil.which("objdump") or not shutil.which("readelf"):
        raise Skip("binutils is not installed")
    with_planted(standard=1e6, pin=1e5)
    size = 64 << 10
    promise = dict(allocations=20, transfers_each=2, h2d_bytes=20 * size, d2h_bytes=20 * size, min_bytes=size, max_bytes=size)
    good(sys.executable, MAKE_PROFILE, ONE_SITE, "one_site.gprofile", *[f"{k}={v}" for k, v in promise.items()])
    report, text = one_site("busy", 1000, size)
    site = report["sites"][0]
    same((site["policy"], site["allocations"], site["hits"]), ("pin", 1000, 2000), f"the site: {text}")
    check(report["saved_s"] > 1, f"saved {report['saved_s']}")
    check(report["decision"].startswith("1 of 1 allocation sites optimized by"), report["decision"])


main(globals())
