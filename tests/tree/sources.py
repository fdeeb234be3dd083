"""The source files of the tree, for the tests beside this file."""

import pathlib

FOLDERS = ("traces", "transport", "tracer", "analyzer", "optimizer-rt", "microbench", "tests")
CODE = (".h", ".cc", ".c", ".inc", ".cl")


def files(root, suffixes=CODE, folders=FOLDERS):
    """Paths relative to `root`, sorted."""
    root = pathlib.Path(root)
    found = []
    for folder in folders:
        found += [p.relative_to(root) for p in (root / folder).rglob("*")
                  if p.is_file() and p.suffix in suffixes and "__pycache__" not in p.parts]
    return sorted(found)


def report(name, problems, checked):
    """Prints what is wrong, or what was checked; gives the exit status."""
    for p in problems:
        print(p)
    print(f"{name}: {checked} files, {len(problems)} problems")
    return 1 if problems or checked == 0 else 0
