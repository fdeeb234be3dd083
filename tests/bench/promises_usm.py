"""The part "usm" of promises.py: unified shared memory on a device behind a proxy of our own, beside buffers in the same
run (usm_bench), and what keeping pages in step costs by itself (pages_bench). Where the driver has no such memory, it is
made of its shared virtual memory.
"""
import json
import pathlib

from own_proxy import OwnProxy
from promised import promise, run


def as_buffers(told, what, ours, theirs):
    ratio = told[ours] / told[theirs]
    promise(what, "as with buffers: at most 1.1 times", f"{told[ours]:.2f} / {told[theirs]:.2f} us = {ratio:.2f}",
            ratio <= 1.1)


def beside_buffers(told, by, largest_mib):
    as_buffers(told, f"launch in a chain, device USM, {by}", "launch_device", "launch_buffer")
    for kib in (1024, largest_mib << 10):
        for way in ("write", "read"):
            as_buffers(told, f"{way} of {kib >> 10} MiB, device USM, {by}", f"{way}_device_{kib}k", f"{way}_buffer_{kib}k")


def shared(told, by):
    trips = told["first_touch"] / told["round_trip"]
    promise(f"first page of a run, shared USM, {by}", "at most 1.5 round trips",
            f"{told['first_touch']:.0f} / {told['round_trip']:.0f} us = {trips:.2f}; "
            f"{told['rest_of_run']:.1f} us for the 15 pages behind it", trips <= 1.5)
    for way in ("read", "write"):
        share = told[f"stream_{way}_share"]
        promise(f"shared USM, all of it {way} in order, {by}", "at least 80 % of a buffer's bandwidth",
                f"{100 * share:.0f} %", share >= 0.8)
    added = told["launch_shared"] - told["launch_device"]
    promise(f"a launch on shared USM that nobody touches, {by}", "at most 2 us more", f"{added:+.2f} us", added <= 2)


def pages(build, cwd):
    text = run(build / "tests" / "pages_bench", "--benchmark_repetitions=5", "--benchmark_format=json",
               "--benchmark_report_aggregates_only=true", "--benchmark_filter=launch_|take_dirty", cwd=cwd).stdout
    told = {b["run_name"]: b for b in json.loads(text)["benchmarks"] if b["aggregate_name"] == "median"}
    launch = max(told[name]["cpu_time"] for name in told if "untouched" in name or "clean" in name)
    promise("dirty tracking, a launch that finds nothing new", "at most 2 us", f"{launch / 1000:.2f} us", launch <= 2000)
    page = told["BM_take_dirty/16384"]["ns_a_page"]
    promise("dirty tracking, a dirty page (taken)", "at most 0.1 us", f"{page / 1000:.3f} us", page <= 100)
    written = told["BM_launch_dirty/4096/1"]["ns_a_page"]
    print(f"  with the faults of writing 4096 pages in order: {written / 1000:.3f} us a page")


def usm(build, cwd, rounds):
    largest = 64
    with OwnProxy(build, cwd) as proxy:
        vendors = pathlib.Path(cwd) / "usm_vendors"
        vendors.mkdir(exist_ok=True)
        (vendors / "gtrace.icd").write_text(f"{build}/lib/gtrace/libgtrace-remote.so\n")
        for by, url in (("shm", proxy.shm), ("tcp", proxy.tcp)):
            env = dict(proxy.env, OCL_ICD_VENDORS=str(vendors), GTRACE_REMOTE=url, GTRACE_EMULATE_USM="1")
            done = run(build / "tests" / "usm_bench", 2 * rounds + 1, largest, cwd=cwd, **env)
            told = json.loads(done.stdout)
            print(f"\nUnified shared memory, {by}: " + ", ".join(f"{k} {v:.2f}" for k, v in told.items()))
            beside_buffers(told, by, largest)
            shared(told, by)
    pages(build, cwd)
