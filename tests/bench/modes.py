"""The modes in which a program can run under our tools, and the command that each puts before the program's."""

COMMANDS = {"trace": ("gtrace", "run", "-o", "trace.db"),
            "full": ("gtrace", "run", "-o", "full.db", "--capture", "hash", "--timeline", "--timing", "all"),
            "run": ("goptimize", "run"), "profile": ("goptimize", "run"),
            "always": ("goptimize", "run", "--stage", "always", "--reuse", "always"),
            "forced": ("goptimize", "run", "--force-policy", "pin", "--stage", "always", "--reuse", "always"),
            "shm": ("goptimize", "run", "--only", "remote"), "tcp": ("goptimize", "run", "--only", "remote")}
MODES = ("run", "always", "trace", "full", "profile", "forced", "shm", "tcp")  # without a profile first
REMOTE = ("shm", "tcp")


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


def order(modes):
    """Of a list that a user gave: in the order in which they run."""
    return sorted(modes.split(","), key=MODES.index)
