"""goptimize run: programs with several platforms, several devices in a context, and contexts that come and go."""

import json
import pathlib
import shutil
import sys

from job import GOPTIMIZE, Skip, check, good, main, run, same, tests_dir

PLACES = str(tests_dir / "optimizer" / "places")
MAKE_PROFILE = pathlib.Path(__file__).with_name("make_profile.py")


def optimized(*command, policy="pin", stage="never", env=None):
    if not shutil.which("objdump") or not shutil.which("readelf"):
        raise Skip("binutils is not installed")
    good(sys.executable, MAKE_PROFILE, PLACES, "app.gprofile")
    plain = good(PLACES, *command, env=env or {})
    done = run(GOPTIMIZE, "run", "--profile", "app.gprofile", "--force-policy", policy, "--stage", stage, "--reuse", "never",
               "--report", "r.json", "--", PLACES, *command, env=env or {})
    same((done.code, done.out), (0, plain.out), "exit status and output")
    return plain.text, json.loads(pathlib.Path("r.json").read_text())


def two_platforms():
    """PoCL's and the scripted driver's, in one process."""
    folder = pathlib.Path("vendors")
    folder.mkdir(exist_ok=True)
    installed = list(pathlib.Path("/etc/OpenCL/vendors").glob("*.icd"))
    if not installed:
        raise Skip("no driver is installed where vendors are")
    for icd in installed + [tests_dir / "vendors" / "fake_cl.icd"]:
        shutil.copy(icd, folder)
    return {"OCL_ICD_VENDORS": str(folder.resolve())}


def test_two_platforms_take_turns_with_one_block():
    for policy in ("pin", "hybrid", "opencl", "locked"):
        for stage in ("never", "always"):
            text, report = optimized("platforms", policy=policy, stage=stage, env=two_platforms())
            check("2 platforms" in text, text)
            same(sum(site["hits"] for site in report["sites"]), 240, "transfers of the block")
            pins = {"pin": 2, "hybrid": 2}.get(policy)  # by the first context, and by the other when that is gone
            if pins:
                same(report["pinned"]["ranges"], pins, f"{policy}: pins")
            if stage == "always" and pins:
                # 50 rounds on the platform that has no pin, both ways.
                same(report["staged"]["transfers"], 100, f"{policy}: staged")


def test_several_devices_in_a_context():
    for stage in ("never", "always"):
        text, report = optimized("devices", stage=stage, env={"POCL_DEVICES": "pthread basic"})
        check("2 devices" in text, text)
        same((report["pinned"]["ranges"], report["fallbacks"]), (3, {}), "pins and fallbacks")


def test_more_contexts_than_we_keep_count_of():
    _, report = optimized("crowd")
    same(report["fallbacks"], {"unknown_context": 2 * 36}, "fallbacks")  # 64 are known
    same(report["pinned"]["ranges"], 64 + 100, "pins")


def test_a_thousand_contexts():
    rounds = 1000
    for stage in ("never", "always"):
        plain = good(PLACES, "loop", rounds)
        grown = int(pathlib.Path("grown").read_text())
        _, report = optimized("loop", rounds, stage=stage)
        ours = int(pathlib.Path("grown").read_text())
        check(ours < grown + 8192, f"grew by {ours} KiB, without us by {grown}")
        same(report["fallbacks"], {}, "fallbacks")
        same(report["pinned"]["ranges"], 2 * rounds, "each context pins both blocks")
        check(b"done" in plain.out, "the plain run")


main(globals())
