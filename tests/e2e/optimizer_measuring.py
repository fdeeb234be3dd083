"""goptimize run measures the machine once: not for ever, not beyond its own end, and not for devices that nobody sees."""

import json
import os
import pathlib
import signal
import subprocess
import time

from job import GOPTIMIZE, bin_dir, check, good, main, run, same, tests_dir

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
    for says in ("given up: a driver did not come back within 2 s", "given up before"):
        done = run(*command, env=with_driver("hang"))
        same((done.code, done.out), (0, b"ran\n"), "exit status and output")
        check(says in done.err_text and "running the program as it is" in done.err_text, f"it does not say {says}")
        same(measuring(), [], "processes left behind")
    check(json.loads(KEPT.read_text())["failed"][0]["error"].startswith("a driver"), "the platform file does not say why")


def test_a_machine_without_devices_is_measured_once():
    """One that only uses others' devices."""
    os.mkdir("none")
    empty = {"XDG_CACHE_HOME": f"{os.getcwd()}/cache", "OCL_ICD_VENDORS": f"{os.getcwd()}/none", "OCL_ICD_FILENAMES": ""}
    for says in ("measuring this machine once", "no OpenCL device of its own"):
        done = good(GOPTIMIZE, "run", "--", "echo", "ran", env=empty)
        check(done.out == b"ran\n" and says in done.err_text, f"it does not say {says}: {done.err_text}")
    check("measuring this machine once" not in done.err_text, "it was measured again")


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
