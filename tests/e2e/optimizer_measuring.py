"""goptimize run measures the machine once: not for ever, not beyond its own end, not for devices that nobody sees, and
what failed then a day later once more."""

import glob
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

from job import GOPTIMIZE, Skip, bin_dir, check, good, main, run, same, tests_dir

KEPT = pathlib.Path("cache/gtrace/platform.json")


def with_driver(kind):
    """The only driver is one of the odd ones of programs/bad_icd.c."""
    vendors = pathlib.Path(kind)
    vendors.mkdir(exist_ok=True)
    (vendors / "driver.icd").write_text(f"{tests_dir}/libbad_icd_{kind}.so\n")
    return {"OCL_ICD_VENDORS": str(vendors.resolve()), "XDG_CACHE_HOME": f"{os.getcwd()}/cache"}


def measuring():
    """The processes that write into this folder's cache."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if f"{os.getcwd()}/{KEPT}".encode() in words and words[0].endswith(b"gmicrobench"):
            found.append(int(entry.parent.name))
    return found


def until(condition, seconds, text):
    for _ in range(seconds * 20):
        if condition():
            return
        time.sleep(0.05)
    check(False, text)


def test_a_driver_that_hangs_is_given_up_once():
    command = (GOPTIMIZE, "run", "--measure-seconds", 2, "--", "echo", "ran")
    for measures in (True, False):
        done = run(*command, env=with_driver("hang"))
        same((done.code, done.out), (0, b"ran\n"), "exit status and output")
        check(re.search(r"this machine could not be measured on \d{4}-\d\d-\d\d: a driver did not come back within 2 s \(given "
                        "up: gmicrobench platform tries it again\\); running the program as it is", done.err_text), done.err_text)
        same("measuring this machine once" in done.err_text, measures, "it is measured")
        same(measuring(), [], "processes left behind")
        aged()  # a driver that hangs is not tried again


def test_a_machine_without_devices_is_measured_once():
    """One that only uses others' devices."""
    os.mkdir("none")
    empty = {"XDG_CACHE_HOME": f"{os.getcwd()}/cache", "OCL_ICD_VENDORS": f"{os.getcwd()}/none", "OCL_ICD_FILENAMES": ""}
    for measures in (True, False):
        done = good(GOPTIMIZE, "run", "--", "echo", "ran", env=empty)
        check(done.out == b"ran\n" and ": no OpenCL driver is installed" in done.err_text, done.err_text)
        same("measuring" in done.err_text.replace("be measured", ""), measures, "it is measured")


FAILS = {"FAKE_CL_FAIL": "clEnqueueReadBuffer=-5"}
SAYS = r"\w.* could not be measured on \d{4}-\d\d-\d\d: clEnqueueReadBuffer failed \(-5\)"


def aged(seconds=2 * 24 * 3600):
    """What failed, failed long ago."""
    data = json.loads(KEPT.read_text())
    for failed in data["failed"]:
        failed["time_s"] -= seconds
    KEPT.write_text(json.dumps(data))


def ran(env, *options):
    done = good(GOPTIMIZE, "run", *options, "--", "echo", "ran", env=env)
    same(done.out, b"ran\n", "output")
    return done.err_text


def with_fake():
    return {"OCL_ICD_VENDORS": str(tests_dir / "vendors"), "OCL_ICD_FILENAMES": "", "XDG_CACHE_HOME": f"{os.getcwd()}/cache"}


def test_a_device_that_failed_is_tried_again_after_a_day():
    env = with_fake()
    for _ in range(2):  # measured once
        text = ran(env | FAILS)
        check(re.search(f"goptimize: {SAYS} \\(tried again after a day", text), text)
    check("measuring" not in text, "it is measured with every run")
    aged()
    text = ran(env, "--measure-seconds", "0")
    check("trying" not in text and re.search(SAYS, text), f"nothing may be measured: {text}")
    text = ran(env | FAILS)
    check(re.search(f"goptimize: {SAYS}; trying it again", text), text)
    check("trying" not in ran(env | FAILS), "a device that always fails is tried with every run")
    aged()
    text = ran(env)
    check("trying it again" in text and "nothing to gain here" in text, text)
    data = json.loads(KEPT.read_text())
    same((len(data["devices"]), "failed" in data), (1, False), "devices, failures")
    check("measured" not in ran(env), "it is measured again although all is there")


def test_what_was_measured_stays_while_a_device_is_tried_again():
    pocl = glob.glob("/etc/OpenCL/vendors/pocl*.icd")
    if not pocl:
        raise Skip("PoCL is not installed")
    shutil.copytree(tests_dir / "vendors", "vendors")
    shutil.copy(pocl[0], "vendors")
    env = with_fake() | {"OCL_ICD_VENDORS": f"{os.getcwd()}/vendors"}
    small = (bin_dir / "gmicrobench", "platform", "--quick", "--missing", "--max-bytes", "4096", "-o", KEPT)
    good(*small, env=env | FAILS)
    before = json.loads(KEPT.read_text())
    same((len(before["devices"]), len(before["failed"])), (1, 1), "devices, failures")
    text = ran(env)
    check("trying" not in text and re.search("nothing to gain here: .*" + SAYS, text), text)
    aged()
    ran(env)
    after = json.loads(KEPT.read_text())
    same((len(after["devices"]), "failed" in after), (2, False), "devices, failures")
    check(before["devices"][0] in after["devices"], "the other device was measured again")


def test_a_failure_that_cannot_be_written_down_is_not_tried_again():
    env = with_fake()
    ran(env | FAILS)
    aged()
    before = KEPT.read_bytes()
    text = good("sh", "-c", f"ulimit -f 0; exec {GOPTIMIZE} run -- echo ran", env=env).err_text
    check(re.search(SAYS, text), text)
    same(KEPT.read_bytes(), before, "the file")


def test_a_driver_that_crashes_is_tried_once_a_day():
    env = with_driver("crash")
    for measures in (True, False):
        text = ran(env)
        check("this machine could not be measured on" in text and "gmicrobench ended by signal 11" in text, text)
        same("measuring this machine once" in text, measures, "it is measured")
    aged()
    check("trying it again" in ran(env), "it is not tried again")
    check("trying" not in ran(env), "it is tried with every run")


def test_a_pipe_that_nobody_writes_is_not_waited_for():
    os.mkfifo("pipe")
    os.mkfifo("echo.gprofile")
    pathlib.Path("cache/gtrace").mkdir(parents=True)
    os.mkfifo(KEPT)
    env = with_driver("empty") | {"XDG_CACHE_HOME": f"{os.getcwd()}/cache"}
    run(GOPTIMIZE, "run", "--measure-seconds", 0, "--", "echo", "ran", env=env, timeout=20)
    for option in ("--profile", "--platform"):
        run(GOPTIMIZE, "run", "--measure-seconds", 0, option, "pipe", "--", "echo", "ran", env=env, timeout=20)


def test_a_new_driver_is_measured_although_another_one_was_given_up():
    run(GOPTIMIZE, "run", "--measure-seconds", 1, "--", "true", env=with_driver("hang"))
    done = run(GOPTIMIZE, "run", "--measure-seconds", 1, "--", "echo", "ran", env=with_driver("empty"))
    same((done.code, done.out), (0, b"ran\n"), "exit status and output")
    check("another OpenCL driver" in done.err_text and "measuring this machine" in done.err_text, "it is not measured anew")


def test_no_measurement_is_wanted():
    done = run(GOPTIMIZE, "run", "--measure-seconds", 0, "--", "echo", "ran", env=with_driver("hang"))
    same((done.code, done.out), (0, b"ran\n"), "exit status and output")
    check("never measured" in done.err_text and not KEPT.exists(), "it does not say that nothing was measured")


def test_the_measurement_ends_with_goptimize():
    for sent in (signal.SIGKILL, signal.SIGTERM):
        run_ = subprocess.Popen([GOPTIMIZE, "run", "--", "echo", "ran"], env=dict(os.environ, **with_driver("hang")),
                                stderr=subprocess.DEVNULL)
        until(measuring, 20, "nothing is measured")
        run_.send_signal(sent)
        same(run_.wait(20), -sent, "exit status")
        until(lambda: not measuring(), 20, "the measurement goes on")


def test_gmicrobench_can_be_interrupted_although_a_driver_hangs():
    path = f"{os.getcwd()}/{KEPT}"
    child = subprocess.Popen([bin_dir / "gmicrobench", "platform", "--quick", "-o", path], stderr=subprocess.DEVNULL,
                             env=dict(os.environ, **with_driver("hang")))
    until(measuring, 20, "nothing is measured")
    child.send_signal(signal.SIGTERM)
    same(child.wait(60), -signal.SIGTERM, "exit status")


def test_local_devices_that_the_program_does_not_see_are_not_measured():
    empty = {"XDG_CACHE_HOME": f"{os.getcwd()}/cache", "GTRACE_TOKEN_FILE": f"{os.getcwd()}/token"}
    pathlib.Path("token").write_text("0" * 64 + "\n")
    done = good(GOPTIMIZE, "run", "--remote", "shm:nobody-listens-here", "--only", "remote", "--", "echo", "ran", env=empty)
    check(done.out == b"ran\n" and "measuring" not in done.err_text and not KEPT.exists(), "this machine was measured")


main(globals())
