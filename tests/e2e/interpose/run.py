#!/usr/bin/env python3
"""Runs the interposition programs with and without the test libraries: run.py BUILD_TESTS_INTERPOSE OPENCL_LOADER"""
import os
import re
import subprocess
import sys

OUT, LOADER = sys.argv[1], sys.argv[2]
COUNTING = f"{OUT}/counting/libOpenCL.so.1"
NOTHING = f"{OUT}/nothing/libOpenCL.so.1"
POOL = f"{OUT}/pool/libOpenCL.so.1"
PAGE = os.sysconf("SC_PAGESIZE")


def run(*command, preload="", stdin="", **variables):
    """Standard output, standard error and exit status."""
    env = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "LD_LIBRARY_PATH")}
    env.update(variables)
    if preload:
        env["LD_PRELOAD"] = preload
    done = subprocess.run(command, env=env, input=stdin, capture_output=True, text=True, timeout=120)
    return done.stdout, done.stderr, done.returncode


def program(name, *arguments, preload=COUNTING, **variables):
    return run(f"{OUT}/bin/{name}", *arguments, preload=preload, **variables)


def equal(got, want, what=""):
    assert got == want, f"{what}\n  got  {got!r}\n  want {want!r}"


def counts(text):
    """{function: (calls, bytes, failed, module)}"""
    table = {}
    for line in text.splitlines():
        name, calls, size, failed, module = line.split()
        table[name] = (int(calls), int(size), int(failed), module)
    return table


def test_every_function_once_with_its_size_and_site():
    out, err, status = program("alloc_all")
    equal((err, status), ("", 0))
    here = "alloc_all"
    want = {
        "malloc": (4, 101 + 1 + 1 + (64 << 20), 0, here), "calloc": (1, 102, 0, here),
        "realloc": (1, 103, 0, here), "reallocarray": (1, 104, 0, here), "free": (1, 0, 0, here),
        "cfree": (1, 0, 0, here), "memalign": (3, 105 + 1 + 1, 0, here), "aligned_alloc": (1, 128, 0, here),
        "posix_memalign": (1, 107, 0, here), "valloc": (1, 108, 0, here), "pvalloc": (1, PAGE, 0, here),
        "New": (1, 110, 0, here), "NewArray": (1, 111, 0, here), "NewNothrow": (1, 112, 0, here),
        "NewArrayNothrow": (1, 113, 0, here), "NewAligned": (1, 114, 0, here), "NewArrayAligned": (1, 115, 0, here),
        "NewAlignedNothrow": (1, 116, 0, here), "NewArrayAlignedNothrow": (1, 117, 0, here),
        "mmap": (1, 4096, 0, here), "mmap64": (1, 8192, 0, here), "mremap": (1, 16384, 0, here),
        "munmap": (2, 0, 0, here),
    }
    for kind in ("", "Array"):
        for form in ("", "Sized", "Aligned", "SizedAligned", "Nothrow", "AlignedNothrow"):
            want[f"Delete{kind}{form}"] = (1, 0, 0, here)
    got = counts(out)
    for name in sorted(set(got) | set(want)):
        equal(got.get(name), want.get(name), name)


def test_standard_semantics():
    for preload in ("", NOTHING, COUNTING, POOL):
        equal(program("alloc_rules", preload=preload), ("ok\n", "", 0), preload)


def test_operators_of_the_program_win():
    bare = program("own_new", preload="")
    equal(bare[2], 0)
    for preload in (NOTHING, COUNTING, POOL):
        equal(program("own_new", preload=preload), bare, preload)


def test_allocators_of_the_program_win():
    for preload in ("", NOTHING, COUNTING, POOL):
        equal(program("own_malloc", preload=preload), ("8 42 words! foreign 0\n", "", 0), preload)


def test_allocators_that_are_loaded_after_us():
    debug = "libc_malloc_debug.so"  # of glibc >= 2.34: refuses what it did not allocate itself
    if run("true", preload=debug)[1]:
        return print("     (no libc_malloc_debug here)")
    for name in ("own_new", "early_user"):
        early = f":{OUT}/early/libearly.so" if name == "early_user" else ""
        bare = program(name, preload=debug + early, MALLOC_CHECK_="3")
        for library in (NOTHING, COUNTING, POOL):
            equal(program(name, preload=f"{library}:{debug}{early}", MALLOC_CHECK_="3"), bare, name)
    script = [sys.executable, "-c", "print(sum(len(str(i)) for i in range(100000)))"]
    equal(run(*script, preload=f"{POOL}:{debug}", MALLOC_CHECK_="3"), run(*script))


def test_allocation_before_our_constructor():
    early = f"{OUT}/early/libearly.so"
    for preload in (f"{COUNTING}:{early}", f"{early}:{COUNTING}", f"{POOL}:{early}"):
        equal(program("early_user", preload=preload), ("intact\n", "", 0), preload)


def test_threads_drivers_keys_signals_forks():
    out, err, status = program("alloc_threads")
    equal((err, status), ("", 0))
    parts = dict(re.findall(r"^(threads|driver|key|signal|child|parent)\n((?:\w+ \d.*\n)*)", out, re.M))
    pairs = 8 * 10000
    here = "alloc_threads"

    def part(name):
        # What libc itself asks of ld.so's allocator for a thread is not the program's loop.
        return {k: v[:3] for k, v in counts(parts[name]).items() if v[3] == here}

    equal(part("threads")["malloc"], (pairs, pairs * 20, 0), "threads")
    assert pairs <= counts(parts["threads"])["free"][0] <= pairs + 3 * 8, "threads"  # and ld.so's for each thread
    equal(part("driver"), {}, "driver")
    equal(part("key").get("malloc"), (1, 30, 0), "key")
    equal(counts(parts["key"])["free"][0], 1, "the key's destructor")
    equal(part("signal"), {"malloc": (1, 40, 0), "free": (1, 0, 0)}, "signal")
    equal(part("child"), {"malloc": (10000, 600000, 0), "free": (10000, 0, 0)}, "child")
    equal(part("parent"), {"malloc": (1, 1, 0), "free": (1, 0, 0)}, "parent")
    assert "vforked" in out


def answer(name, mode, *arguments, **variables):
    out, err, status = program(name, mode, *arguments, **variables)
    equal((err, status), ("", 0), f"{name} {mode} {arguments}")
    return out.strip()


def test_doors():
    directory = os.path.dirname(COUNTING)
    equal(answer("door_linked", "linked"), "interposer")
    equal(answer("door_linked", "linked", preload=""), "real")
    real = os.path.realpath(LOADER)
    plugins = f"{OUT}/plugins"
    for name in ("libOpenCL.so", "libOpenCL.so.1"):
        link = f"{plugins}/{name}"
        if not os.path.lexists(link):
            os.symlink(real, link)
    for door in ("door", "door_rpath", "door_runpath"):
        for mode in ("plain", "deepbind", "global", "noload"):
            for name in ("libOpenCL.so.1", "libOpenCL.so", real, f"{plugins}/libOpenCL.so.1", "./libOpenCL.so"):
                bare = program(door, mode, name, preload="")
                natively = ("interposer\n", "", 0) if bare == ("real\n", "", 0) else bare
                equal(program(door, mode, name), natively, f"{door} {mode} {name}")
    equal(answer("door_linked", "noload", "libOpenCL.so.1"), "interposer", "loaded, and so found")
    for name in (real, f"{plugins}/libOpenCL.so.1"):
        equal(answer("door", "driver", name), "real", f"driver {name}")
        equal(answer("door", "plain", name, preload=""), "real", f"bare {name}")
    equal(answer("door", "plain", "libOpenCL.so", preload="", LD_LIBRARY_PATH=directory), "interposer")


def test_other_libraries_load_as_ever():
    for door in ("door_runpath", "door_rpath"):
        for preload in ("", COUNTING):
            equal(program(door, "plugin", "libdoor_plugin.so", preload=preload), ("plugin 42\n", "", 0), door)
    bare = program("door", "plugin", "libdoor_plugin.so", preload="")
    equal(bare[2], 1)
    equal(program("door", "plugin", "libdoor_plugin.so"), bare)
    missing = program("door", "plain", "/no/libNothing.so", preload="")
    equal(program("door", "plain", "/no/libNothing.so"), missing)


def test_real_library():
    out, err, status = program("inside")
    equal((err, status), ("", 0))
    path, found = out.splitlines()
    assert os.path.realpath(path) == os.path.realpath(LOADER), path
    equal(found, "found none")
    given = f"{OUT}/plugins/libOpenCL.so"
    equal(program("inside", GTRACE_OPENCL_LIBRARY=given)[0].splitlines()[0], given)
    for useless in ("/no/such/libOpenCL.so.1", "/etc/passwd", COUNTING, NOTHING):
        out, err, status = program("inside", GTRACE_OPENCL_LIBRARY=useless)
        equal((err, status), ("", 0), useless)
        assert os.path.realpath(out.splitlines()[0]) == os.path.realpath(LOADER), useless


def test_modules():
    out, err, status = program("inside", "modules")
    equal((err, status), ("", 0))
    modules = {}
    for line in out.splitlines():
        base, end, bias, build_id, path = line.split(" ", 4)
        assert int(base, 16) < int(end, 16) and int(bias, 16) <= int(base, 16)
        modules[os.path.basename(path)] = (build_id, path)
    equal(modules["inside"][1], f"{OUT}/bin/inside")
    assert "libOpenCL.so.1" in modules and "libc.so.6" in modules and "libutil.so.1" in modules
    notes = run("readelf", "-n", modules["libc.so.6"][1])[0]
    equal(modules["libc.so.6"][0], re.search(r"Build ID: ([0-9a-f]+)", notes).group(1))


def test_other_programs_do_not_notice():
    for command, stdin in (
        (["/bin/bash", "-c", "echo $((6*7)); for i in 1 2 3; do (echo $i | cat); done; exit 7"], ""),
        ([sys.executable, "-c", "import json,threading,subprocess,ctypes\n"
          "print(json.dumps({'a': sum(range(1000))}), subprocess.run(['echo','x']).returncode)"], ""),
        (["/usr/bin/sort"], "b\na\nc\n"),
        (["/bin/sh", "-c", "kill -TERM $$"], ""),
    ):
        for library in (NOTHING, COUNTING, POOL):
            equal(run(*command, preload=library, stdin=stdin), run(*command, stdin=stdin), command)
    lines = lambda text: set(re.sub(r"\(0x[0-9a-f]+\)", "", text).splitlines())
    for library in (NOTHING, COUNTING, POOL):
        out, err, status = run("ldd", "/bin/bash", preload=library)
        equal((err, status), ("", 0), library)
        missing = lines(run("ldd", "/bin/bash")[0]) - lines(out)
        assert not missing, missing


def main():
    failed = 0
    wanted = sys.argv[3:]
    for name, test in list(globals().items()):
        if not name.startswith("test_") or (wanted and name not in wanted):
            continue
        try:
            test()
            print(f"ok   {name}")
        except (AssertionError, OSError, subprocess.TimeoutExpired, KeyError, ValueError) as e:
            failed += 1
            print(f"FAIL {name}: {type(e).__name__} {e}")
    return 1 if failed else 0


sys.exit(main())
