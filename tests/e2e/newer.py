#!/usr/bin/env python3
"""OpenCL 3.1 and the extensions that programs ask for, on devices that are elsewhere: each row of the table in
docs/virtual.md, natively and over every kind of link. On PoCL, which has almost none of it, the answers are the same; on
the fake, which says that it has all of it, what passes is the same and what does not is as if it were not there.

Usage: newer.py BUILD
"""

import collections
import json

from virtual_job import *  # noqa: F401,F403

NEWER = tests_dir / "newer"
FAKE = {"FAKE_CL_NEWER": "1"}
DOT_PRODUCTS = 0x1073  # CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES

# PoCL makes a context for another API of which it knows nothing, and has another code for a device without any IL.
POCL_OTHERWISE = {"context of OpenGL's": "-64", "program of nonsense": "-59"}

# What the fake lets pass, or does not have, where OpenCL has a code for it.
FAKE_OTHERWISE = {
    "queue of no such priority": "-30", "queue of an unknown property": "-30", "buffer with half an address": "-64",
    "constant of a program with a source": "-44",
}

# What a device that has it says natively is left out or refused elsewhere: as a device without it does.
NOT_ELSEWHERE = {
    "LUID valid": "00000000", "LUID": "0000000000000000", "node mask": "00000000",
    "cl_khr_pci_bus_info": "not listed", "PCI bus": "-30", "PCI bus of NVIDIA": "-30", "PCI slot of NVIDIA": "-30",
    "PCI domain of NVIDIA": "-30", "topology of AMD": "-30",
    "cl_khr_external_memory": "not listed", "cl_khr_external_semaphore": "not listed",
    "cl_khr_gl_sharing": "not listed", "cl_khr_egl_image": "not listed", "cl_intel_va_api_media_sharing": "not listed",
    "handles of memory that can be imported": "-30", "buffer of external memory": "-64", "context of OpenGL's": "-64",
    "external memory acquired": "-59", "handle of a semaphore": "-59",
    "cl_khr_unified_svm": "not listed", "unified memory freed": "-59",
    "cl_khr_terminate_context": "not listed", "contexts that can be ended": "-30", "context ended": "-59",
    "callback of a program": "-59",
}


def rows(*command, env):
    lines = good(*command, env=env).text.splitlines()
    return dict(line.split(": ", 1) for line in lines)


def everywhere(drivers=None, **more):
    """The environments in which the devices are elsewhere."""
    for url in elsewhere():
        with server(url, drivers=drivers, **more) as (env, _):
            yield url, env


def test_a_driver_that_has_little_of_it():
    expected = {**rows(NEWER, env=native()), **POCL_OTHERWISE}
    same(rows(NEWER, env=virtual()), expected, "in the process")
    for url, env in everywhere():
        same(rows(NEWER, env=env), expected, url)


def test_a_driver_that_says_that_it_has_all_of_it():
    fake = {"OCL_ICD_VENDORS": str(tests_dir / "vendors"), **FAKE}
    here = rows(NEWER, "all", env=fake)
    missing = sorted((NOT_ELSEWHERE.keys() | FAKE_OTHERWISE.keys()) - here.keys())
    same(missing, [], "rows that the program does not have")
    expected = {**here, **NOT_ELSEWHERE, **FAKE_OTHERWISE}
    for url, env in everywhere(drivers=tests_dir / "vendors", **FAKE):
        same(rows(NEWER, "all", env=env), expected, url)
    same(rows(NEWER, "all", env=virtual(GTRACE_REMOTE=f"local:{tests_dir}/libfake_cl.so", **FAKE)), expected,
         "in the process")


def test_what_passes_is_what_the_driver_says():
    """The fake's own numbers, so that an answer of nothing here and nothing there does not pass."""
    with server("tcp://127.0.0.1:0", drivers=tests_dir / "vendors", **FAKE) as (env, _):
        told = rows(NEWER, "all", env=env)
    expected = {
        "device UUID": "0102030405060708090a0b0c0d0e0f10", "suggested size, in one dimension": "32 0 0",
        "suggested size, in two dimensions": "64 1 0", "suggested size, no arguments": "-52",
        "suggested size, no range": "-63", "suggested size, four dimensions": "-53",
        "items of a sub-group": "16", "sub-groups of a group, KHR": "5", "dot products": "0300000000000000",
        "queue of high priority": "a queue that tells them", "queue of no such priority": "-30",
        "SPIR-V instruction sets": "names: OpenCL.std", "local memory of no bytes": "0",
        "address of a buffer": "told", "argument that is an address": "0", "argument that is none": "-49",
        "addresses that are reached": "0", "launch with an address": "0", "finished": "0", "callbacks of a context, in order": "21",
    }
    same({name: told.get(name) for name in expected}, expected, "answers")


def test_recorded_and_replayed():
    """The extension's functions are in the trace, and addresses of buffers are those that they have now."""
    fake = {"OCL_ICD_VENDORS": str(tests_dir / "vendors"), **FAKE}
    bare = good(NEWER, "all", env=fake).text
    same(good(GTRACE, "run", "--", NEWER, "all", env=fake).text, bare, "output")
    lines = [json.loads(l) for l in good(GTRACE, "expand", "--json", "trace.db").text.splitlines()]
    calls = collections.Counter(l["call"] for l in lines)
    same({name: calls[name] for name in ("clGetKernelSuggestedLocalWorkSizeKHR", "clSetKernelArgDevicePointerEXT",
                                         "clSVMFreeWithPropertiesKHR")},
         {"clGetKernelSuggestedLocalWorkSizeKHR": 7, "clSetKernelArgDevicePointerEXT": 2,
          "clSVMFreeWithPropertiesKHR": 1}, "calls in the trace")
    names = {l["args"].get("param_name") for l in lines if l["call"] == "clGetDeviceInfo"}
    check(DOT_PRODUCTS in names, f"queries: {names}")
    replayed = run(GTRACE, "replay", "--no-sandbox", "trace.db", env=fake)
    same(replayed.code, 0, f"replay: {replayed.text} {replayed.err_text}")
    check("clSetKernelArgDevicePointerEXT" not in replayed.text + replayed.err_text, replayed.text + replayed.err_text)


main(dict(globals()))
