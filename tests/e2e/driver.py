"""The OpenCL driver that end-to-end tests run on: PoCL, or the one that GT_TEST_DRIVER names (docs/HACKING.md).

GT_TEST_DRIVERS is the folder that `scripts/deps.sh --drivers` fills: vendors/NAME has NAME's ICD file.
"""

import glob
import os
import pathlib

NAME = os.environ.get("GT_TEST_DRIVER", "pocl")
# What tells a proxy's device from the same device here, where a driver lets itself be told: 4 GiB of memory.
MEMORY = {"pocl": {"POCL_MEMORY_LIMIT": "4"}, "intel": {"CL_CONFIG_CPU_FORCE_GLOBAL_MEM_SIZE": "4GB"}}.get(NAME, {})
_MORE = {"rusticl": {"RUSTICL_ENABLE": "llvmpipe"}}.get(NAME, {})

_VENDORS = pathlib.Path(os.environ.get("GT_TEST_DRIVERS", "/nonexistent")).resolve() / "vendors"
_RANDOM = "random_commands does not come to one end: fills of parts of host memory are refused, or not; its end crashes, or not"
# Mistakes of drivers that show no native run that fails: {file of the test: {test: why}}. What fails natively, too, is
# found out when it fails (job.py), and docs/measurements/programs.md tells of both.
_KNOWN = {
    "intel": {
        "capture_part": dict.fromkeys(
            ("test_results_of_every_launch", "test_ranges_of_random_programs", "test_the_limit"), _RANDOM),
        "replay": {
            **dict.fromkeys(("test_random_programs", "test_transfers_that_go_on"), _RANDOM),
            "test_threads": "a buffer that two threads use for the first time at once is two; the program pauses, a replay does not"},
    },
}.get(NAME, {})


def known(file, test):
    """Why a test says nothing about us on this driver, or nothing."""
    return _KNOWN.get(file, {}).get(test)


def _folder():
    return _VENDORS / NAME


def missing():
    """Why there is no such driver here, or nothing."""
    if NAME == "pocl":
        return None if _pocl() else "PoCL is not installed"
    if not list(_folder().glob("*.icd")):
        return f"no driver {NAME} in {_folder()}: scripts/deps.sh --drivers"
    library = pathlib.Path(library_path())
    return None if library.exists() else f"{library} is gone: scripts/deps.sh --drivers"


def _pocl():
    found = [f for f in glob.glob("/etc/OpenCL/vendors/*.icd") if "pocl" in pathlib.Path(f).read_text()]
    return found[0] if found else None


def environment_of_pocl():
    """In which the loader sees PoCL alone, beside another driver; nothing where it is not installed."""
    return {"OCL_ICD_VENDORS": _pocl()} if _pocl() else None


def environment():
    """In which the loader sees this driver alone."""
    return {"OCL_ICD_VENDORS": _pocl() if NAME == "pocl" else str(_folder()), **_MORE}


def library_path():
    """As GTRACE_REMOTE=local:LIBRARY takes it."""
    if NAME == "pocl":
        return "libpocl.so.2"
    return next((f.read_text().strip() for f in _folder().glob("*.icd")), "")
