#!/usr/bin/env python3
"""Which devices gproxy serves: all, some, those of drivers that work beside those that do not; and its refusals.

Usage: proxy_devices.py BUILD
"""

import os
import pathlib

from proxy_job import *  # noqa: F403


def vendors(*libraries, real=True):
    """A folder of .icd files: for the tests' odd drivers, and for the machine's own."""
    folder = pathlib.Path("vendors")
    folder.mkdir(exist_ok=True)
    for library in libraries:
        (folder / f"{library}.icd").write_text(f"{tests_dir}/lib{library}.so\n")
    for icd in pathlib.Path("/etc/OpenCL/vendors").glob("*.icd") if real else []:
        (folder / icd.name).write_text(icd.read_text())
    return {"OCL_ICD_VENDORS": str(folder.resolve())}


def served(proxy):
    return [d["name"] for d in proxy.status()["devices"]]


def test_selections():
    env = vendors("fake_cl")
    with serving(env=env) as proxy:
        every = proxy.status()["devices"]
    check(len(every) >= 2, "the fake driver and another one are needed")
    fake = next(d for d in every if "fake" in (d["name"] + d["platform"]).lower())
    for selection in (str(fake["number"]), fake["name"], f"*{fake['name'][1:]}", f"{fake['number']},{fake['number']}"):
        with serving("--devices", selection, env=env) as proxy:
            same(served(proxy), [fake["name"]], f"--devices {selection}")
            survey = good(CLIENT, proxy.url, proxy.token, "survey", env=proxy.env).text.splitlines()
            same(survey, [fake["name"]], f"what a client sees of --devices {selection}")
    cpus = [d["name"] for d in every if d["type"] == "cpu"]
    with serving("--devices", "cpu", env=env) as proxy:
        same(served(proxy), cpus, "--devices cpu")


def test_selections_of_nothing():
    for selection in ("99", "nosuchdevice", "gpu,nosuch", ","):
        one_line(refused_start("--devices", selection), USAGE, "--devices")


def test_no_driver():
    one_line(refused_start(env={"OCL_ICD_VENDORS": "/nonexistent"}), ENVIRONMENT, "no OpenCL device")


def test_no_driver_that_works():
    one_line_at_the_end(refused_start(env=vendors("bad_icd_crash", real=False)), ENVIRONMENT, "no OpenCL device")


def one_line_at_the_end(outcome, code, words):
    same(outcome.code, code, "exit status")
    check(words in outcome.err_text.splitlines()[-1], f"the last line: {outcome.err_text}")


def test_a_platform_without_devices():
    with serving(env=vendors("bad_icd_empty")) as proxy:
        check("has no devices" in proxy.log, "it does not say which platform has none")
        same(proxy.client("survey").code, 0, "a client")


def test_a_driver_that_crashes():
    with serving(env=vendors("bad_icd_crash")) as proxy:
        check(re.search(r"left out: .*bad_icd_crash.icd crashes", proxy.log), "it does not say what was left out")
        same(proxy.client("survey").code, 0, "a client of the others")
        folder = [f for f in pathlib.Path("run").glob("gproxy-*") if f.suffix != ".lock"]
        same(len(folder), 1, "folders of drivers that work")
        same(proxy.stop(), 0, "exit status")
        check(not folder[0].exists(), "its folder is left behind")


def test_a_driver_that_hangs():
    with serving("--probe-seconds", 2, env=vendors("bad_icd_hang", "bad_icd_crash")) as proxy:
        check(re.search(r"left out: .*bad_icd_hang.icd does not answer", proxy.log), "it does not say what was left out")
        same(proxy.client("survey").code, 0, "a client of the others")


def test_drivers_that_the_environment_names():
    named = {"OCL_ICD_FILENAMES": f"{tests_dir}/libbad_icd_hang.so"}
    with serving("--probe-seconds", 2, env=dict(vendors("bad_icd_crash"), **named)) as proxy:
        for library in ("bad_icd_crash.icd crashes", "libbad_icd_hang.so does not answer"):
            check(library in proxy.log, f"it does not say: {library}")
        same(proxy.client("survey").code, 0, "a client of the others")


def test_does_not_serve_what_others_serve():
    with serving(env={"GTRACE_REMOTE": "tcp://127.0.0.1:1"}) as proxy:
        same(proxy.client("survey").code, 0, "a client")


def test_wrong_command_lines():
    for arguments, word in (((), "COMMAND"), (("frob",), "frob")):
        outcome = run(GPROXY, *arguments)
        check(outcome.code == USAGE and word in outcome.err_text, f"gproxy {arguments}")
    for wrong in (("--frob",), ("--max-clients", "0"), ("--max-clients", "x"), ("--listen", "gopher://x"), ("--listen", ","),
                  ("--listen", "tcp://0.0.0.0:0"), ("--listen", "tcp://[::]:0"), ("--listen", "tls://127.0.0.1:0"),
                  ("--cert", "x"), ("--metrics", "nowhere:x"), ("--memory", "much"), ("--probe-seconds", "0"), ("left over",)):
        one_line(refused_start(*wrong), USAGE)
    one_line(refused_start("--listen", "tls://127.0.0.1:0", "--cert", "x", "--key", "x", "--ca", "x"), ENVIRONMENT, "x")
    one_line(refused_start("--listen", "tcp://192.0.2.1:0", "--insecure"), ENVIRONMENT, "192.0.2.1")
    one_line(run(GPROXY, "status", "gopher://x"), USAGE)
    one_line(run(GPROXY, "worker"), USAGE, "gproxy serve")


def test_beyond_loopback_needs_a_word():
    with serving("--insecure", listen="tcp://0.0.0.0:0") as proxy:
        same(proxy.client("survey", url=f"tcp://127.0.0.1:{proxy.port}").code, 0, "a client with the token")


if __name__ == "__main__":
    main(globals())
