#!/usr/bin/env python3
"""One kernel launch, as it was recorded: the same as main.c, with pyopencl and numpy.

Usage: launch.py [--device NUMBER|PATTERN] [--repeat N] [--tolerance X]
Exit status: 0 the results are the recorded ones, 1 they differ, 2 it could not be run.
"""

import argparse
import json
import os
import pathlib
import sys
import time

import numpy as np
import pyopencl as cl

HERE = pathlib.Path(__file__).resolve().parent
TYPES = {"byte": np.uint8, "char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32,
         "uint": np.uint32, "long": np.int64, "ulong": np.uint64, "half": np.float16, "float": np.float32,
         "double": np.float64}


def find_device(wanted):
    devices = [d for p in cl.get_platforms() for d in p.get_devices()]
    for number, device in enumerate(devices):
        if wanted is None or (str(number) == wanted if wanted.isdigit() else wanted in device.name):
            print("device:", device.name)
            return device
    sys.exit(f"no such device; here are {[d.name for d in devices]}")


def same(expected, got, tolerance):
    with np.errstate(invalid="ignore", over="ignore"):
        equal = expected == got
        if np.issubdtype(expected.dtype, np.floating):
            equal |= np.isnan(expected) & np.isnan(got)
        if tolerance > 0:
            equal |= np.abs(expected.astype(np.float64) - got.astype(np.float64)) <= tolerance
    return equal


def make_memory(context, b):
    if "image" not in b:
        return cl.Buffer(context, cl.mem_flags.READ_WRITE, b["bytes"])
    i, kinds = b["image"], cl.mem_object_type
    sides = {kinds.IMAGE1D: 1, kinds.IMAGE1D_ARRAY: 2, kinds.IMAGE2D: 2}.get(i["type"], 3)
    return cl.Image(context, cl.mem_flags.READ_WRITE, cl.ImageFormat(i["order"], i["channel"]),
                    shape=tuple(i["region"][:sides]), is_array=i["type"] in (kinds.IMAGE1D_ARRAY, kinds.IMAGE2D_ARRAY))


def copy(queue, to, source, b):
    where = {"origin": (0, 0, 0), "region": tuple(b["image"]["region"])} if "image" in b else {}
    cl.enqueue_copy(queue, to, source, **where)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--tolerance", type=float, default=0)
    options = parser.parse_args()
    os.chdir(HERE)  # what the source includes lies in include
    launch = json.loads((HERE / "launch.json").read_text())

    device = find_device(options.device)
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    program = cl.Program(context, (HERE / "kernel.cl").read_bytes().decode("utf-8", "surrogateescape"))
    kernel = cl.Kernel(program.build(options=launch["options"]), launch["kernel"])
    data = lambda b, when: np.fromfile(HERE / "data" / f"{b['name']}.{when}", dtype=np.uint8)
    before = [data(b, "before") for b in launch["buffers"]]
    memory = [make_memory(context, b) for b in launch["buffers"]]
    for a in launch["arguments"]:
        if a["kind"] == "buffer":
            kernel.set_arg(a["index"], memory[a["buffer"]])
        elif a["kind"] == "sampler":
            normalized, addressing, filtering = a["sampler"]
            kernel.set_arg(a["index"], cl.Sampler(context, bool(normalized), addressing, filtering))
        elif a["kind"] == "local":
            kernel.set_arg(a["index"], cl.LocalMemory(a["bytes"]))
        else:
            kernel.set_arg(a["index"], np.frombuffer(bytes(a["value"]), dtype=np.uint8))
    best = None
    for _ in range(max(options.repeat, 1)):
        for m, data_before, b in zip(memory, before, launch["buffers"]):
            copy(queue, m, data_before, b)
        queue.finish()
        began = time.perf_counter()
        cl.enqueue_nd_range_kernel(queue, kernel, launch["global"], launch["local"], launch["offset"]).wait()
        took = time.perf_counter() - began
        best = took if best is None else min(best, took)
    differs = False
    for m, b in zip(memory, launch["buffers"]):
        got, expected = np.empty(b["bytes"], dtype=np.uint8), data(b, "after")
        copy(queue, got, m, b)
        kind = TYPES[b["element"]] if b["bytes"] % np.dtype(TYPES[b["element"]]).itemsize == 0 else np.uint8
        got, expected = got.view(kind), expected.view(kind)
        wrong = np.flatnonzero(~same(expected, got, options.tolerance))
        if wrong.size:
            differs = True
            first = wrong[0]
            print(f"{b['name']}: {wrong.size} of {got.size} elements differ, the first at byte "
                  f"{first * got.itemsize}: expected {expected[first]}, got {got[first]}")
    print(f"{launch['kernel']}: {1e3 * best:.3f} ms")
    print("DIFFERS" if differs else "the recorded results")
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
