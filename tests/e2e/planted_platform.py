"""A platform file of this machine whose costs are made up: what goptimize decides by it is known beforehand."""

import json
import os
import pathlib

from job import bin_dir, good

GMICROBENCH = bin_dir / "gmicrobench"
MIB = 1 << 20
_measured = {}  # by what decides which devices there are


def curve(ns):
    """A constant up to 1 MiB, then in proportion to the size."""
    return {"knots": [[64.0, ns], [float(MIB), ns]], "measured": [64.0, float(MIB)], "samples": 100, "outliers": 0,
            "worst_error": 0.0, "noisy": []}


def measured(name, env):
    """This machine's platform file, measured once for all tests of a file."""
    seen = dict(os.environ, **env)
    which = tuple(seen.get(v) for v in ("OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "POCL_DEVICES", "POCL_MEMORY_LIMIT"))
    if which not in _measured:
        good(GMICROBENCH, "platform", "--quick", "--max-bytes", "4096", "-o", name, env=env)
        _measured[which] = pathlib.Path(name).read_text()
    return json.loads(_measured[which])


def planted_platform(name, standard=1e6, pin=1e5, pinning=1000.0, staged=None, svm=None, pin_knots=None, env=None):
    """Transfers of up to 1 MiB take `standard` ns from ordinary memory and `pin` ns from pinned; to pin takes
    `pinning`. `svm`: what copies to and from shared virtual memory take, of ordinary, pinned and staged memory.
    `pin_knots`: pairs of bytes and ns, in place of `pin`. Every device of the machine is given these costs."""
    platform = measured(name, env or {})
    for device in platform["devices"]:
        for policy in ("opencl", "locked", "hybrid"):
            device["policies"].pop(policy, None)
        for policy, ns in (("standard", standard), ("pin", pin)):
            costs = device["policies"][policy]
            costs.update(allocation=curve(1000.0), h2d=curve(ns), d2h=curve(ns), max_bytes=0, noise=0)
            costs.pop("window", None)
        if pin_knots:
            device["policies"]["pin"].update({way: dict(curve(pin), knots=pin_knots) for way in ("h2d", "d2h")})
        device["pin"] = curve(pinning)
        device.pop("staged", None)
        device.pop("svm", None)
        device.update(type="gpu", host_unified=False)
        if staged:
            device["staged"] = {"h2d": curve(staged), "d2h": curve(staged), "threads": 2, "chunk_bytes": 4 * MIB}
        if svm:
            device["svm"] = {kind: {"h2d": curve(ns), "d2h": curve(ns)}
                             for kind, ns in zip(("standard", "pinned", "staged"), svm)}
    pathlib.Path(name).write_text(json.dumps(platform))
    return name
