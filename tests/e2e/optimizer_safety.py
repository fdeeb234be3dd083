"""goptimize run: nothing that the program, the system or a driver does to us becomes a crash or another result."""

import json
import os
import pathlib
import resource
import shutil
import sys
from random import Random

from job import INPUT, RUN, Skip, app, bin_dir, check, good, main, one_line, run, same, tests_dir

OWN = tests_dir / "optimizer"
FOREIGN_FREE, DEEP_FREES = OWN / "foreign_free", OWN / "libdeep_frees.so"
FAKE = {"OCL_ICD_VENDORS": str(tests_dir / "vendors")}
MAKE_PROFILE = pathlib.Path(__file__).with_name("make_profile.py")


def profile(binary):
    if not shutil.which("objdump") or not shutil.which("readelf"):
        raise Skip("binutils is not installed")
    good(sys.executable, MAKE_PROFILE, binary, "app.gprofile")


def pinned(*command, stage="never", **options):
    done = run(*RUN, "--profile", "app.gprofile", "--force-policy", "pin", "--stage", stage, "--report",
               "report.json", "--", *command, **options)
    return done, json.loads(pathlib.Path("report.json").read_text())


def allocations(report):
    return sum(site["allocations"] for site in report["sites"])


# --- Pool memory that is released where no preloaded free() is seen ---

def same_as_plain(*command, env_prefix=()):
    plain = good(*command)
    done, report = pinned(*env_prefix, *command)
    same((done.code, done.out), (0, plain.out), "exit status and output")
    return report


def test_deep_bound_library_frees_pool_memory():
    profile(FOREIGN_FREE)
    report = same_as_plain(FOREIGN_FREE, DEEP_FREES)
    check(allocations(report) > 200, f"allocations {allocations(report)}")
    same(report["fallbacks"], {}, "fallbacks")


def test_no_pool_memory_beside_a_deep_bound_library_that_cannot_be_led_to_us():
    profile(FOREIGN_FREE)
    report = same_as_plain(FOREIGN_FREE, DEEP_FREES, "late", env_prefix=("env", "-u", "GTRACE_OPT_LIBC_ENTRIES"))
    same(allocations(report), 0, "allocations")
    same(report["fallbacks"], {"deep_bind": 1}, "fallbacks")


# --- Programs that part while transfers are under way ---

PARTING = OWN / "parting"


def parts(way, env=None):
    plain = run(PARTING, way, env=env or {})
    profile(PARTING)
    done, report = pinned(PARTING, way, stage="always", env=env or {})
    same((done.code, done.out), (plain.code, plain.out), "exit status and output")
    check(b"hung" not in plain.out, "the plain run")
    check(report["staged"]["transfers"] > 0, f"staged {report['staged']}")


def test_fork():
    parts("fork")


def test_fork_and_release_in_the_child():
    # On a driver that takes no lock for it: threads of PoCL may hold some when the program forks, and the child, which does
    # not have these threads, waits for them for ever, with and without us.
    parts("release", FAKE)
    parts("waiting", FAKE)


def test_fork_beside_a_busy_thread():
    parts("threads")


def test_spawn_system_vfork():
    parts("spawn")


def test_ends_with_transfers_under_way():
    for way in ("exit", "quick_exit", "_exit", "abort", "kill"):
        parts(way)


def test_opencl_in_static_destructors():
    parts("static")


# --- A driver that refuses ---

PERSISTENT = OWN / "persistent"
OPENS = OWN / "opens"
# What the program calls, too: it tries again.
SHARED = ("clCreateBuffer", "clCreateCommandQueue", "clEnqueueWriteBuffer", "clEnqueueReadBuffer",
          "clEnqueueWriteBufferRect", "clEnqueueReadBufferRect", "clReleaseMemObject", "clReleaseCommandQueue",
          "clReleaseContext")
# What only staging and pinning call.
OURS = ("clEnqueueMarkerWithWaitList", "clCreateUserEvent", "clSetUserEventStatus", "clFlush", "clWaitForEvents",
        "clReleaseEvent", "clRetainEvent", "clSetEventCallback", "clGetEventInfo", "clGetEventProfilingInfo",
        "clRetainMemObject", "clGetContextInfo", "clGetCommandQueueInfo", "clGetMemObjectInfo", "clEnqueueMapBuffer",
        "clEnqueueUnmapMemObject")


def refused(fault, plain, *arguments):
    """Whether there was such a call."""
    done, _ = pinned(PERSISTENT, *arguments, stage="always", env=dict(FAKE, FAKE_CL_FAIL=fault, FAKE_CL_SAY="1"))
    same((done.code, done.out), (0, plain.out), f"exit status and output when {fault}")
    return "fake_cl:" in done.err_text


def test_any_call_is_refused_once():
    profile(PERSISTENT)
    plain = good(PERSISTENT, env=FAKE)
    for name in SHARED:
        for k in (1, 2, 3, 6):
            if not refused(f"{name}:{k}=-5", plain):
                break  # there are no more calls


def test_calls_that_only_we_make_are_refused():
    profile(PERSISTENT)
    plain = good(PERSISTENT, "errors", env=FAKE)
    for name in OURS:
        if refused(f"{name}=-5", plain, "errors"):  # each; the program notices nothing
            for k in (":1", ":3"):
                refused(f"{name}{k}=-5", plain, "errors")


# --- Limits and surroundings ---

def limited(*command, preexec_fn=None, env=None):
    """The program's own output and status, under the same limits, with and without us; what goptimize said."""
    profile(command[0])
    plain = run(*command, preexec_fn=preexec_fn, env=env or {})
    done = run(*RUN, "--profile", "app.gprofile", "--force-policy", "pin", "--stage", "always", "--", *command,
               preexec_fn=preexec_fn, env=env or {})
    same((done.code, done.out), (plain.code, plain.out), "exit status and output")
    return done.err_text


def limit(what, value):
    return lambda: resource.setrlimit(what, (value, value))


def test_no_lockable_memory():
    limited(PARTING, "static", preexec_fn=limit(resource.RLIMIT_MEMLOCK, 65536))


def needed_mib(*command, env):
    """The least limit of addresses under which the program works by itself."""
    too_little, enough = 1, 16384
    while enough - too_little > 1:
        mib = (too_little + enough) // 2
        works = run(*command, env=env, preexec_fn=limit(resource.RLIMIT_AS, mib << 20)).code == 0
        too_little, enough = (too_little, mib) if works else (mib, enough)
    return enough


def test_address_space_that_the_program_just_fits_into():
    """Whatever the limit is: from a sixth and 24 MiB above what the program needs by itself."""
    vadd = app("vadd")
    for command, env in (((PERSISTENT,), FAKE), ((vadd, "--elements", "300000"), {})):
        profile(command[0])
        plain = good(*command, env=env)
        least = needed_mib(*command, env=env) * 7 // 6 + 24
        for mib in (*range(least, least + 120, 6), *(least + (64 << i) for i in range(2, 10))):
            for way in (("--profile", "app.gprofile", "--force-policy", "pin"), ()):
                done = run(*RUN, *way, "--stage", "always", "--measure-seconds", "0", "--", *command, env=env,
                           preexec_fn=limit(resource.RLIMIT_AS, mib << 20))
                same((done.code, done.out), (0, plain.out), f"exit status and output within {mib} MiB, {way}")


def test_no_file_may_be_written():
    text = limited(PERSISTENT, preexec_fn=limit(resource.RLIMIT_FSIZE, 0), env=FAKE)
    check("running without optimization" in text, "says so")


def test_few_descriptors():
    limited(PERSISTENT, preexec_fn=limit(resource.RLIMIT_NOFILE, 6), env=FAKE)


def test_no_place_for_our_files():
    text = limited(PERSISTENT, env=dict(FAKE, TMPDIR="/proc/nowhere"))
    check("/proc/nowhere" in text and "running without optimization" in text, "says so")


def test_no_more_threads():
    # A user's limit does not bind root; so as another user, who must be able to read the build.
    if os.getuid() != 0:
        raise Skip("needs root, to become a user without other processes")
    profile(PERSISTENT)
    os.chmod(".", 0o777)

    def become_nobody(processes):
        def become():
            resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
            os.setgid(65534)
            os.setuid(65534)
        return become

    if run("test", "-x", PERSISTENT, preexec_fn=become_nobody(9)).code != 0:
        raise Skip("the build cannot be read by others")
    here = dict(FAKE, TMPDIR=os.getcwd(), XDG_CACHE_HOME=os.getcwd())
    plain = good(PERSISTENT, env=FAKE)
    for processes in (2, 3, 5):  # goptimize, the program, its threads
        done = run(*RUN, "--stage", "always", "--", PERSISTENT, preexec_fn=become_nobody(processes), env=here)
        same((done.code, done.out), (0, plain.out), f"exit status and output with {processes} processes")


def test_no_device():
    limited(PERSISTENT, env={"OCL_ICD_VENDORS": "/nonexistent", "OCL_ICD_FILENAMES": ""})


# --- Files that are not what they should be ---

GMICROBENCH = bin_dir / "gmicrobench"
MEASURE = (GMICROBENCH, "platform", "--quick", "--max-bytes", "4096", "-o")  # about a second


def test_platform_file_of_another_machine():
    good(*MEASURE, "here.json")
    text = pathlib.Path("here.json").read_text()
    other = json.loads(text)
    other["machine"]["cpu"] = "Zuse Z3"
    pathlib.Path("other.json").write_text(json.dumps(other))
    profile(PERSISTENT)
    for forced in ((), ("--force-policy", "pin"), ("--stage", "always")):
        one_line(run(*RUN, "--profile", "app.gprofile", *forced, "--platform", "other.json", "--", "true"),
                 INPUT, "other.json: measured with another processor")
    # The cached one is measured anew, and the program runs.
    cache = pathlib.Path("cache/gtrace")
    cache.mkdir(parents=True)
    for content in (json.dumps(other), text[:len(text) // 2]):
        for path in cache.parent.rglob("*.json"):
            path.write_text(content)
        done = run(*RUN, "--profile", "app.gprofile", "--", OPENS, "",
                   env=FAKE | {"XDG_CACHE_HOME": str(cache.parent.resolve()), "FAKE_CL_LARGEST": "65536"})
        same((done.code, done.out), (0, b"\n"), "exit status and output")
        check("measuring Fake device once" in done.err_text, "says so")


def test_no_cache():
    # The folder beside temporary files has a name that others can guess: used only if it is ours alone.
    profile(PERSISTENT)
    own = pathlib.Path(f"gtrace-{os.geteuid()}")
    own.mkdir(0o700)
    good(*MEASURE, own / "platform.json")
    for mode, says in ((0o700, "nothing to gain here"), (0o777, "is open to other users; running the program as it is")):
        own.chmod(mode)
        done = run(*RUN, "--profile", "app.gprofile", "--", "echo", "ran",
                   env={"XDG_CACHE_HOME": "/proc/none", "TMPDIR": os.getcwd()})
        same((done.code, done.out), (0, b"ran\n"), "exit status and output")
        check(says in done.err_text and "measuring" not in done.err_text, "says so")


def test_damaged_files():
    """Whatever a file holds: refused in one line, or the program runs and prints what it prints."""
    good(*MEASURE, "p.json", env=FAKE)
    profile(PERSISTENT)
    expected = good(PERSISTENT, env=FAKE).out
    random = Random(5)
    for name in ("p.json", "app.gprofile"):
        whole = pathlib.Path(name).read_bytes()
        for i in range(30):
            data = bytearray(whole)
            for _ in range(random.randrange(1, 4)):
                at = random.randrange(len(data))
                data[at:at + random.randrange(4)] = random.choice((b"", b"-", b"9" * 30, b"1e308", b"nan", b"\xff\0", b"[", b'"'))
            if i % 5 == 0:
                del data[random.randrange(len(data)):]
            pathlib.Path(name).write_bytes(data)
            done = run(*RUN, "--profile", "app.gprofile", "--platform", "p.json", "--force-policy", "pin", "--",
                       PERSISTENT, env=FAKE)
            if done.code == INPUT:
                one_line(done, INPUT, name)
            else:
                same((done.code, done.out), (0, expected), "exit status and output")
        pathlib.Path(name).write_bytes(whole)


# --- Programs of other kinds ---

def test_python_with_numpy():
    if run("/usr/bin/python3", "-c", "import pyopencl, numpy").code != 0:
        raise Skip("python3-pyopencl is not installed")
    for name in ("pyopencl_job", "numpy_arrays"):
        program = ("/usr/bin/python3", pathlib.Path(__file__).parent / "clients" / f"{name}.py")
        plain = good(*program)
        done = run(*RUN, "--stage", "always", "--report", "report.json", "--", *program)
        same((done.code, done.out), (0, plain.out), "exit status and output")
        check(json.loads(pathlib.Path("report.json").read_text())["staged"]["transfers"] > 0, "staged")


main(globals())
