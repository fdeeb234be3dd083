#!/usr/bin/env python3
"""Every pattern of programs/patterns.c, recorded and analyzed: the bad one gets its finding and no other, the same work
done well gets none.

Usage: findings.py BUILD
"""

import json
import pathlib

from job import *  # noqa: F403

PROGRAM = tests_dir / "patterns"
WITH_CONTENTS = ("repeated-sends", "returned-results")
FAKE = {"OCL_ICD_VENDORS": str(tests_dir / "vendors")}


def found(pattern, variant, *options, analysis=(), env=None):
    outcome = run(GTRACE, "run", "-o", "trace.db", *options, "--", PROGRAM, pattern, variant, env=env or {})
    same(outcome.code, 0, "exit status")
    return good(GANALYZE, "--json", *analysis, "trace.db").json


def judge(pattern, *options, **how):
    bad, well = (found(pattern, variant, *options, **how) for variant in ("bad", "good"))
    same({f["rule"] for f in bad["findings"]}, {pattern}, "findings of the bad one")
    same([f["evidence"] for f in well["findings"]], [], "findings of the good one")
    for f in bad["findings"]:
        check("patterns.c:" in f["place"], f"the place is {f['place']}")
        check(0 < f["saving_s"] < bad["wall_ns"] / 1e9, f"a saving of {f['saving_s']} s")
        check(f["advice"] and f["basis"] and f["evidence"], "empty words")
    check(bad["saving_together_s"] <= sum(f["saving_s"] for f in bad["findings"]) + 1e-9, "the sum of the savings")
    return bad


def test_unread_sends():
    judge("unread-sends")


def test_idle_waits():
    judge("idle-waits")


def test_small_transfers():
    judge("small-transfers")


def test_buffers_in_loop():
    """A few of PoCL's, made in microseconds, are not blamed; the test driver takes as long as drivers of real devices."""
    same(found("few-buffers-in-loop", "bad")["findings"], [], "findings where buffers cost nothing")
    judge("buffers-in-loop", env=FAKE | {"FAKE_CL_DELAY": "clCreateBuffer=300us"})


def test_repeated_builds():
    judge("repeated-builds")


def test_missed_overlap():
    judge("missed-overlap")


def platform_of(device):
    """A machine on which pages cost 1 us each, and no memory is better for transfers than any other."""
    curve = [[4096, 1000], [1 << 30, 262144000]]
    costs = {"allocation": curve, "h2d": curve, "d2h": curve, "max_bytes": 0, "noise": 0}
    return {"format": "gtrace-platform", "version": 1, "quick": True,
            "machine": {"cpu": "", "cpus": 1, "memory_bytes": 1, "drivers": ""},
            "devices": [{"platform": "", "name": device, "driver": "", "policies": {"standard": costs}}]}


def test_allocation_churn():
    device = found("maps", "good")["devices"][0]["device"]
    pathlib.Path("platform.json").write_text(json.dumps(platform_of(device)))
    bad = judge("allocation-churn", analysis=("--platform", "platform.json"))
    expected = 19 * (48 << 20) / 4096 * 1e-6
    check(abs(bad["findings"][0]["saving_s"] / expected - 1) < 0.01, f"a saving of {bad['findings'][0]['saving_s']} s")


def test_copying_maps():
    """PoCL's device works in the host's memory: it never copies. The test driver's takes the time of a copy."""
    for variant in ("bad", "good"):
        same(found("copying-maps", variant)["findings"], [], "findings where a map copies nothing")
    judge("copying-maps", env=FAKE | {"FAKE_CL_DELAY": "clEnqueueMapBuffer=2ms"})


def test_first_touch():
    """Memory of an allocation is received into many times, which is another finding, in both."""
    def rules_of(variant):
        return {f["rule"]: f for f in found("first-touch", variant)["findings"]}
    for _ in range(3):  # on a busy machine later transfers may take as long as the one that makes the pages
        bad = rules_of("bad")
        if "first-touch" in bad:
            break
    well = rules_of("good")
    same((sorted(bad), sorted(well)), (["first-touch", "pageable-transfers"], ["pageable-transfers"]), "findings")
    check("CL_MEM_USE_HOST_PTR" in well["pageable-transfers"]["advice"], "advice for a device that is the processor")
    check(bad["first-touch"]["saving_s"] > 1e-3 and "patterns.c:" in bad["first-touch"]["place"], "the saving, the place")


def test_round_trips():
    judge("round-trips")


def test_what_kernels_do_with_buffers():
    """About right results and spent memory, not about time: no figure."""
    for pattern in "access-flags", "unused-buffers":
        bad, well = (found(pattern, variant) for variant in ("bad", "good"))
        same([(f["rule"], f["saving_s"]) for f in bad["findings"]], [(pattern, None)], "findings of the bad one")
        check("patterns.c:" in bad["findings"][0]["place"], f"the place is {bad['findings'][0]['place']}")
        same([f["evidence"] for f in well["findings"]], [], "findings of the good one")


def test_maps_that_copy_nothing():
    for variant in ("bad", "good"):
        same(found("maps", variant)["findings"], [], "findings")


def test_what_only_contents_tell():
    """Without captured contents: no finding, and a hint what would tell."""
    for pattern in WITH_CONTENTS:
        result = found(pattern, "bad")
        same(result["findings"], [], "findings without contents")
        check("--capture hash" in result["findings_hint"], "no hint")
        check("--capture hash" in good(GANALYZE, "trace.db").text, "no hint in the text")


def needs_capture():
    if "--capture" not in good(GTRACE, "run", "--help").text:
        raise Skip("gtrace run has no --capture")


def test_repeated_sends():
    needs_capture()
    judge("repeated-sends", "--capture", "hash")


def test_returned_results():
    needs_capture()
    judge("returned-results", "--capture", "hash")


main(globals())
