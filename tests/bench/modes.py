"""The modes in which a program can run under our tools, and the command that each puts before the program's."""

COMMANDS = {"trace": ("gtrace", "run", "-o", "trace.db"),
            "full": ("gtrace", "run", "-o", "full.db", "--capture", "hash", "--timeline", "--timing", "all"),
            "run": ("goptimize", "run"), "profile": ("goptimize", "run"),
            "always": ("goptimize", "run", "--stage", "always", "--reuse", "always"),
            "forced": ("goptimize", "run", "--force-policy", "pin", "--stage", "always", "--reuse", "always"),
            "shm": ("goptimize", "run", "--only", "remote"), "tcp": ("goptimize", "run", "--only", "remote")}
MODES = ("run", "always", "trace", "full", "profile", "forced", "shm", "tcp")  # without a profile first
REMOTE = ("shm", "tcp")

NATIVE = "native"
TIMED = ("run", "profile", "tunable", "tunable+run")  # what is held against native runs
TUNABLE = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}  # the C library itself asks for huge pages


def launcher(mode, build, out, proxy):
    """`out`: where traces and reports go. `proxy`: an OwnProxy, for remote modes; started again if it has ended."""
    tool, *arguments = COMMANDS[mode]
    if tool == "gtrace":
        arguments[2] = out / arguments[2]
    else:
        arguments += ["--report", out / f"{mode}.json"]
    if mode in REMOTE:
        if not proxy.alive():
            proxy.start()
        arguments += ["--remote", proxy.tcp if mode == "tcp" else proxy.shm]
    return [build / "bin" / tool, *arguments, "--"]


def timed_launcher(mode, build, profile, *options):
    """As a user would start it: without a report, unless `options` ask for one. Nothing for modes without our tools."""
    if mode in (NATIVE, "tunable"):
        return []
    named = ["--profile", profile] if mode == "profile" else []
    return [build / "bin" / "goptimize", "run", *named, *options, "--"]


def environment(mode):
    return TUNABLE if mode.startswith("tunable") else {}


def order(modes):
    """Of a list that a user gave: in the order in which they run."""
    return sorted(modes.split(","), key=MODES.index)
