#!/usr/bin/env python3
"""Programs made from SPIR-V: on devices elsewhere they do what they do on the driver itself, over both kinds of link, with
specialization constants; and what ganalyze reads of them in a trace.

On every driver here that takes SPIR-V: the test's own, and those of the folder GT_TEST_DRIVERS (scripts/deps.sh --drivers).
Usage: intermediate.py BUILD
"""

import os
import pathlib

from virtual_job import *  # noqa: F401,F403

PROGRAM = tests_dir / "intermediate"


def drivers():
    """The environments of those that take SPIR-V."""
    folder = pathlib.Path(os.environ.get("GT_TEST_DRIVERS", "/nonexistent"), "vendors")
    found = [native()] + [{"OCL_ICD_VENDORS": str(f)} for f in sorted(folder.glob("*"))]
    taken = []
    for env in found:
        outcome = run(PROGRAM, env=dict(env, RUSTICL_ENABLE="llvmpipe"))
        if outcome.code == 0 and "SPIR-V" in outcome.text.splitlines()[0]:
            taken.append(env)
    if not taken:
        raise Skip("no driver here takes SPIR-V")
    return taken


def test_programs_elsewhere():
    for env in drivers():
        here = good(PROGRAM, env=env).text
        check("scaled: 0 5 ... 315" in here and "scaled: 0 9 ... 567" in here, here)
        for url in elsewhere():
            with server(url, drivers=env["OCL_ICD_VENDORS"]) as (client, _):
                same(good(PROGRAM, env=client).text.splitlines(), here.splitlines(), f"{url}, {env}")


def test_a_damaged_module_elsewhere():
    """Drivers end their process at one, here the executor's: the program goes on, or says what failed."""
    for env in drivers():
        for url in elsewhere():
            with server(url, drivers=env["OCL_ICD_VENDORS"]) as (client, _):
                outcome = run(PROGRAM, "damaged", env=client)
                check(outcome.code in (0, 1), f"{url}: {outcome.code} {outcome.text}")
                check("scaled: 0 9 ... 567" in outcome.text, outcome.text)


def accesses(report):
    return {k["name"]: [a["access"] for a in k["args"]] for k in report["kernels"]}


def test_ganalyze():
    for env in drivers():
        check(traced(PROGRAM, file="il.db", env=env).code == 0, "recording")
        report = good(GANALYZE, "--json", "il.db").json
        found = accesses(report)
        same(found, {"sum": ["read", "read", "write"], "scaled": ["read", "write"]}, "accesses")
        check(all(k["exact"] for k in report["kernels"]), report["kernels"])
        same([a["name"] for a in report["kernels"][0]["args"]], ["a", "b", "c"], "names")
        text = good(GANALYZE, "il.db").text
        check("a: read, b: read, c: written" in text, text)


main(globals())
