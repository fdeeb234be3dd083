"""Programs that come to our hooks under somebody's lock, or together with other interposers: they end as without us."""

import pathlib
import subprocess
import sys

from job import *

program = tests_dir / "first_allocation"
OPTIMIZED = (GOPTIMIZE, "run", "--measure-seconds", "0", "--stage", "always", "--reuse", "always", "--")
MODES = {"alone": (), "traced": (GTRACE, "run", "-o", "trace.db", "--"), "optimized": OPTIMIZED}


def ends_as_alone(*command, modes=MODES, timeout=60):
    outcomes = {name: run(*mode, *command, timeout=timeout) for name, mode in modes.items()}
    for name, outcome in outcomes.items():
        same((outcome.code, outcome.text), (outcomes["alone"].code, outcomes["alone"].text), f"{command} {name}")
    return outcomes["alone"]


def test_first_allocations_under_the_c_librarys_locks():
    for name, mode in MODES.items():
        outcome = run(*mode, program, timeout=180)
        failed = [line for line in outcome.err_text.splitlines() if "FAILED" in line]
        same((outcome.code, failed), (0, []), name)


def test_first_allocations_with_a_pool():
    pool = tests_dir / "interpose" / "pool" / "libOpenCL.so.1"
    if not pool.exists():
        raise Skip("no test library")
    same(run(program, timeout=180, env={"LD_PRELOAD": str(pool)}).code, 0, "exit status")


def test_rust():
    needs("rustc")
    pathlib.Path("hello.rs").write_text(
        "use std::thread;\n"
        "fn main() {\n"
        "  let all: Vec<u64> = (0..1000).collect();\n"
        "  let threads: Vec<_> = (0..4).map(|i| { let all = all.clone();\n"
        "    thread::spawn(move || all.iter().sum::<u64>() + i) }).collect();\n"
        "  for t in threads { println!(\"{}\", t.join().unwrap()); }\n"
        "}\n")
    good("rustc", "-O", "hello.rs")
    same(ends_as_alone("./hello").code, 0, "exit status")


def test_heaptrack_around_and_inside():
    needs("heaptrack")
    fake = {"OCL_ICD_VENDORS": str(tests_dir / "vendors"), "OPENCL_LAYERS": ""}
    job, heap = tests_dir / "doors" / "door_job_linked", ("heaptrack", "-o", "heap")
    for command in ((*heap, GTRACE, "run", "-o", "trace.db", "--", job),
                    (*heap, *OPTIMIZED, job),
                    (GTRACE, "run", "-o", "trace.db", "--", *heap, job),
                    (*OPTIMIZED, *heap, job)):
        outcome = run(*command, timeout=60, env=fake)
        same((outcome.code, "7" in outcome.text.splitlines()), (0, True), f"{command}")


def test_what_the_dynamic_linker_says():
    loader = next((line.split()[-1] for line in
                   subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout.splitlines()
                   if line.strip().startswith("libOpenCL.so.1 ")), None)
    if not loader:
        raise Skip("no ICD loader is installed")
    own = tests_dir / "doors" / "own"
    own.mkdir(exist_ok=True)
    (own / "libOpenCL.so.6").write_text("no library\n")
    (own / "libOpenCL.so.7").write_bytes(pathlib.Path(loader).read_bytes())
    for asks in ("asks", "asks_linked", "asks_runpath"):
        names = ("libOpenCL.so.9", "libOpenCL.so.7", "/nonexistent/libOpenCL.so.1", "libOpenCL.so.1")
        ends_as_alone(tests_dir / "doors" / asks, *names)
    for name in ("libOpenCL.so", "libOpenCL.so.6", loader, "$ORIGIN/own/libOpenCL.so.7"):
        ends_as_alone(tests_dir / "doors" / "asks_runpath", name)


main(globals())
