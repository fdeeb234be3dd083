"""Every way in which a program may reach OpenCL: each call is recorded, and once. The driver is the scripted fake."""

import collections
import glob
import os
import pathlib
import shutil
import subprocess
import sys

from job import *

doors = tests_dir / "doors"
injected = str(build / "lib" / "gtrace" / "trace" / "libOpenCL.so.1")
FAKE = {"OCL_ICD_VENDORS": str(tests_dir / "vendors"), "OPENCL_LAYERS": ""}
CALLS = collections.Counter(["clGetPlatformIDs", "clGetDeviceIDs", "clCreateContext", "clCreateBuffer",
                             "clGetMemObjectInfo", "clReleaseMemObject", "clReleaseContext"])


def loader():
    for line in subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout.splitlines():
        if line.strip().startswith("libOpenCL.so.1 "):
            return os.path.realpath(line.split()[-1])
    raise Skip("no ICD loader is installed")


def bundled(name):
    """The loader as a Python wheel has it: a copy under another name, with that name as its soname."""
    soname = name.encode().ljust(14, b"_")[:14]
    pathlib.Path(name).write_bytes(pathlib.Path(loader()).read_bytes().replace(b"libOpenCL.so.1\0", soname + b"\0"))
    return os.path.abspath(name)


def recorded(file="trace.db"):
    lines = good(GTRACE, "expand", "--json", "--no-memory", file).text.splitlines()
    return collections.Counter(json.loads(line)["call"] for line in lines)


def seen_once(*command, **variables):
    outcome = traced(*command, env={**FAKE, **variables})
    same((outcome.code, outcome.text), (0, "7\n"), f"what {command} printed")
    same(recorded(), CALLS, f"calls of {command}")
    return outcome


def unseen(*command, **variables):
    outcome = traced(*command, env={**FAKE, **variables})
    same(outcome.code, 0, "exit status")
    same(recorded(), collections.Counter(), f"calls of {command}")
    return outcome


def test_linked():
    seen_once(doors / "door_job_linked")
    seen_once(doors / "door_job_linked", "default")
    seen_once(doors / "door_job_linked", "next")


def test_opened_by_any_name():
    os.symlink(loader(), "libOpenCL.so")
    for name in ("libOpenCL.so.1", "libOpenCL.so", loader(), "./libOpenCL.so"):
        for door in ("open", "deepbind"):
            seen_once(doors / "door_job", door, name)


def test_rpath_and_runpath():
    own = pathlib.Path("own")
    own.mkdir()
    shutil.copy(loader(), own / "libOpenCL.so.1")
    for kind in ("rpath", "runpath"):
        program = shutil.copy(doors / f"door_job_{kind}", ".")
        seen_once(os.path.abspath(program))
        seen_once(os.path.abspath(program), "open", "libOpenCL.so.1")


def test_bundled_loader():
    path = bundled("libCLxabcd.so1")
    for door in ("open", "deepbind"):
        seen_once(doors / "door_job", door, path)


def test_namespace():
    seen_once(doors / "door_job", "namespace", loader())
    seen_once(doors / "door_job", "namespace", bundled("libCLxabcd.so1"))


def test_layer_by_hand():
    """Without the preload, as a user may do it: only the loader brings us in. The system call itself starts the program,
    for the C library's functions would bring the preload back."""
    by_hand = script("by_hand.py", f"""#!{sys.executable}
import ctypes, os, platform, sys
env = [f"{{k}}={{v}}" for k, v in os.environ.items() if k not in ("LD_PRELOAD", "LD_LIBRARY_PATH", "OPENCL_LAYERS")]
def texts(list):
    return (ctypes.c_char_p * (len(list) + 1))(*[t.encode() for t in list], None)
number = {{"x86_64": 59, "aarch64": 221}}[platform.machine()]
arguments, environment = texts(sys.argv[1:]), texts(env + ["OPENCL_LAYERS={injected}"])
ctypes.CDLL(None).syscall(number, sys.argv[1].encode(), arguments, environment)
""")
    for program in (("door_job", "open", "libOpenCL.so.1"), ("door_job_linked",)):
        seen_once(by_hand, doors / program[0], *program[1:])


def test_opencl_linked_into_the_program():
    """Its entries are patched; the one function that cannot be is named, and the program runs all the same."""
    outcome = seen_once(doors / "door_job_static")
    check("clFinish will not be seen: it is too short" in outcome.err_text, "not said that clFinish is out of reach")
    strict = run(GTRACE, "run", "--strict", "--", doors / "door_job_static")
    same((strict.code, strict.text), (ENVIRONMENT, ""), "with --strict")


def test_allocator_linked_into_the_program():
    program = tests_dir / "interpose" / "bin" / "own_malloc"
    bare = good(program)
    outcome = traced(program)
    same((outcome.code, outcome.out), (bare.code, bare.out), "what it printed")
    lines = good(GTRACE, "expand", "--json").text.splitlines()
    seen = collections.Counter(call["call"] for call in map(json.loads, lines) if "own_malloc" in call["site"])
    check(seen["realloc"] == 2, f"memory calls of the program: {seen}")  # the compiler inlines its malloc and free


def test_opencl_that_was_loaded_and_not_called():
    outcome = unseen(doors / "door_job", "none", bundled("libCLxabcd.so1"))
    check("libCLxabcd.so1" in outcome.err_text, "the library is not named")
    outcome = unseen("/bin/true")
    check("loaded no OpenCL library" in outcome.err_text, "not said that there was none")


def script(name, text):
    pathlib.Path(name).write_text(text)
    os.chmod(name, 0o755)
    return os.path.abspath(name)


def test_scripts_their_children_and_environments():
    seen_once(script("child.sh", f"#!/bin/sh\n{doors / 'door_job_linked'}; exit $?\n"))
    seen_once(script("env.sh", f"#!/usr/bin/env -S sh -e\n{doors / 'door_job'} open {loader()}\n"))
    by_path = script("by_path.py", f"#!{sys.executable}\nimport ctypes, subprocess\n"
                     f"ctypes.CDLL('{bundled('libCLxabcd.so1')}')\n"
                     f"subprocess.run(['{doors / 'door_job_linked'}'], check=True)\n")
    seen_once(by_path)


def test_programs_out_of_reach():
    """One line before it runs, --strict refuses, and doctor says the same."""
    cases = [(tests_dir / "interpose" / "bin" / "door_static", "statically linked")]
    if os.geteuid() == 0:
        setuid = shutil.copy("/bin/true", "setuid")
        os.chown(setuid, 65534, 65534)
        os.chmod(setuid, 0o4755)
        cases.append((os.path.abspath(setuid), "gains privileges"))
    for program, words in cases:
        outcome = traced(program)
        same(outcome.code, 0, "exit status")
        check(words in outcome.err_text, f"no '{words}'")
        same(run(GTRACE, "run", "--strict", "--", program).code, ENVIRONMENT, "with --strict")
        same(run(GTRACE, "doctor", "--", program).code, 1, "doctor's exit status")


def test_a_sanitizer_stays_first():
    made = subprocess.run(["cc", "-fsanitize=address", f"-DDOOR_LINKED", "-o", "sanitized",
                           str(pathlib.Path(__file__).parent / "clients" / "door_job.c"), loader(), "-ldl"],
                          capture_output=True)
    if made.returncode != 0:
        raise Skip("no address sanitizer here")
    seen_once("./sanitized", ASAN_OPTIONS="detect_leaks=0")


def diagnosis(*command, code=0, **variables):
    outcome = run(GTRACE, "doctor", "--json", "--", *command, env={**FAKE, **variables})
    same(outcome.code, code, "doctor's exit status")
    return json.loads(outcome.text)


def kinds(report):
    return {(door["kind"], door["caught_by"]) for door in report["doors"]}


def test_doctor_names_other_interposers():
    report = diagnosis(doors / "door_job_linked", LD_PRELOAD=f"libnot_there.so {injected}")
    same(report["beside"], ["libnot_there.so (preloaded)"], "beside")
    same(diagnosis(doors / "door_job_linked")["beside"], [], "beside")


def test_doctor():
    linked = diagnosis(doors / "door_job_linked")
    same(kinds(linked), {("linked", "preload")}, "linked")
    same(os.path.realpath(linked["opencl_library"]), loader(), "the library")
    check(any(d["found"] and d["library"].endswith("libfake_cl.so") for d in linked["drivers"]), "no driver")
    opening = app("vadd_dl")
    check(("opened", "dlopen") in kinds(diagnosis(opening)), "opened by name")
    static = diagnosis(doors / "door_job_static", code=1)
    check(("linked in", "entry patch") in kinds(static), "linked in")
    check("clFinish" in static["missed"][0], "what is missed")
    same(kinds(diagnosis("/bin/true")), set(), "no door")
    missing = diagnosis(doors / "door_job_linked", code=ENVIRONMENT, OCL_ICD_VENDORS="/no/such/folder")
    check("driver" in missing["advice"][0], "advice")
    one_line(run(GTRACE, "doctor", "--", "no-such-program"), USAGE, "no-such-program")
    one_line(run(GTRACE, "doctor"), USAGE, "no program given")
    text = good(GTRACE, "doctor", "--", doors / "door_job_linked", env=FAKE).text
    check("door      linked" in text and "caught by preload" in text, "text")


def test_doctor_looks_into_scripts_and_packages():
    python = pathlib.Path("venv/bin/python3")
    packages = pathlib.Path("venv/lib/python3.11/site-packages")
    python.parent.mkdir(parents=True)
    python.symlink_to(os.path.realpath(sys.executable))
    pathlib.Path("venv/pyvenv.cfg").write_text("home = /usr/bin\n")
    (packages / "pyopencl" / ".libs").mkdir(parents=True)
    (packages / "pyopencl" / ".libs" / "libOpenCL-5519dec5.so.1.0.0").write_text("")
    report = diagnosis(script("job.py", f"#!{python.absolute()}\n"))
    check({("python package", "preload"), ("bundled", "preload, layer")} <= kinds(report), "the package's loader")
    same(report["binary"], str(python.absolute()), "what runs it")


if __name__ == "__main__":
    main(globals())
