"""A control group that limits the memory of what runs in it: there the kernel's out-of-memory killer is at work."""

import contextlib
import os
import pathlib
import time

from job import Skip

ROOT = pathlib.Path("/sys/fs/cgroup")


def _own_group():
    """This process's memory group, and the file of a group that holds the limit: version 1 or 2."""
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return (ROOT / "memory" / path.lstrip("/"), ROOT / "memory"), "memory.limit_in_bytes"
    return (ROOT,), "memory.max"


def _remove(group):
    """A group goes when its last process has; one that stays behind harms nobody."""
    for _ in range(200):
        with contextlib.suppress(OSError):
            return group.rmdir()
        time.sleep(0.01)


@contextlib.contextmanager
def memory_cgroup(limit_bytes):
    """Yields a function for preexec_fn that moves the process there. Skips the test where groups cannot be made."""
    parents, limit = _own_group()
    for parent in parents:
        group = parent / f"gtrace-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text(str(limit_bytes))
        except OSError:
            group.rmdir()
            continue
        try:
            yield lambda: (group / "cgroup.procs").write_text(str(os.getpid()))
        finally:
            _remove(group)
        return
    raise Skip("no control group can be made here")
