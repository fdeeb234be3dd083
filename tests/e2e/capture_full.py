#!/usr/bin/env python3
"""What --capture full keeps: the bytes themselves, against the program's own hashes of them.

Usage: capture_full.py BUILD
"""

import sqlite3

from job import *  # noqa: F403

CONTENTS, MOVED, READ = (str(tests_dir / p) for p in ("contents", "moved_data", "read_contents"))
MIB = 1 << 20


def full(*args, options=(), code=0):
    outcome = run(GTRACE, "run", "--capture", "full", *options, "--", *args)
    same(outcome.code, code, "exit status")
    return outcome


def said(outcome):
    """The program's lines: 'HASH BYTES'."""
    return outcome.text.split("\n")[:-1]


def kept(file="trace.contents"):
    """{(process, number): 'HASH BYTES'} of a file."""
    rows = [l.split() for l in good(READ, file).text.splitlines() if not l.startswith("file")]
    return {(int(p), int(n)): f"{h} {b}" for p, n, h, b in rows}


def numbers():
    calls = [json.loads(l) for l in good(GTRACE, "expand", "--json", "trace.db").text.splitlines()]
    return [c["args"]["content"] for c in calls if "content" in c["args"]]


def stats():
    return good(GTRACE, "stats", "--json", "trace.db").json


def test_the_bytes_are_those_that_moved():
    lines = said(full(CONTENTS, "40"))
    there = kept()
    same([there.get((0, n), "?") for n in numbers()], [l for l in lines if not l.startswith("later ")],
         "contents of the calls")
    calls = [json.loads(l) for l in good(GTRACE, "expand", "--json", "trace.db").text.splitlines()]
    waits = [c["args"]["shared"] for c in calls if "shared" in c["args"]]
    same(["later " + there[0, number] for shared in waits for number in shared[1::2]],
         [l for l in lines if l.startswith("later ")], "contents that were waited for")
    facts = stats()
    same(facts["facts"]["capture"], "full", "fact")
    lost = {k: v for k, v in facts["lost"].items() if "content" in k}
    check(len(lost) == 5 and set(lost.values()) == {0}, f"lost: {lost}")


def test_the_same_bytes_are_stored_once():
    outcome = full(MOVED, "same", "1000", MIB)
    same(list(kept().values()), said(outcome), "contents")
    check(os.path.getsize("trace.contents") < 1.1 * MIB, "more than one array")
    same(len(re.findall("holds data of the program", outcome.err_text)), 1, "lines that say so")
    check("1 contents, 1.0 MiB" in outcome.err_text, f"said: {outcome.err_text}")


def test_others_beside_it():
    """The file goes aside with its trace, belongs to it, and is its owner's."""
    full(MOVED, "other", "2", 1000)
    key = stats()["facts"]["contents.key"]
    good(GTRACE, "run", "--", MOVED, "other", "1", 1000)
    check(not os.path.exists("trace.contents"), "it stayed when its trace went")
    good(READ, "trace.1.contents", key)
    one_line(run(READ, "trace.1.contents", "0" * 32), USAGE, "another trace")
    one_line(run(READ, "trace.1.db"), INPUT, "not a file of gtrace's contents")
    same(os.stat("trace.1.contents").st_mode & 0o077, 0, "rights of others")
    one_line(run(GTRACE, "run", "--capture", "full", "-o", "x.contents", "--", MOVED, "other", "1", 1000), USAGE,
             "contents would go")


def test_threads():
    lines = said(full(MOVED, "threads", "50", 100_000))
    same(sorted(kept().values()), sorted(set(lines)), "contents")


def test_a_child_has_contents_of_its_own():
    lines = said(full(MOVED, "fork", "20", 70_000))
    there = kept()
    for process in (0, 1):
        mine = [text for (p, _), text in there.items() if p == process]
        same(sorted(mine), sorted(set(lines)), f"contents of process {process}")
    check(os.path.getsize("trace.contents") < 21 * 70_000, "the bytes are there twice")


def start(count, size):
    """A recording under way, and what its program has said so far."""
    started = subprocess.Popen([GTRACE, "run", "--capture", "full", "--", MOVED, "other", str(count), str(size)],
                               stdout=subprocess.PIPE, stderr=open("err", "w"))
    return started, [started.stdout.readline().decode().strip() for _ in range(300)]


def end(started, lines):
    """All that the program has said."""
    lines = lines + started.stdout.read().decode().split("\n")[:-1]
    started.wait(timeout=100)
    return lines


def number_in_status(started, word):
    return int(re.search(rf"{word} (\d+)", good(GTRACE, "ctl", "--pid", started.pid, "status").text)[1])


def test_the_program_is_killed():
    """All that it has written before is there."""
    started, lines = start(1_000_000, 200_000)
    os.kill(number_in_status(started, "process"), signal.SIGKILL)
    lines = end(started, lines)
    there = list(kept().values())
    same(there, lines[:len(there)], "contents")
    check(len(there) >= len(lines) - 1, f"{len(there)} contents of {len(lines)}")


def test_the_collector_is_killed():
    """What was there when the last snapshot was taken is there."""
    started, lines = start(15_000, 20_000)
    good(GTRACE, "ctl", "--pid", started.pid, "snapshot")
    os.kill(number_in_status(started, "collector"), signal.SIGKILL)
    lines = end(started, lines)
    outcome = run(READ, "trace.contents")
    one_line(outcome, INPUT, "was cut short, or its recording did not end")
    there = [" ".join(l.split()[2:]) for l in outcome.text.splitlines()]
    same(there, lines[:len(there)], "contents")
    check(len(there) >= 299, f"{len(there)} contents")
    spool = re.search(r"gtrace recover (\S+)", pathlib.Path("err").read_text())[1]
    said_so = good(GTRACE, "recover", "-o", "rest.db", spool).err_text
    check("rest.contents holds data of the program" in said_so, f"said: {said_so}")
    good(READ, "rest.contents")


def test_sources_are_whole():
    source = "kernel void k(global int* p) { *p = 1; }\n" + "".join(f"// line {i}\n" for i in range(10_000))
    full(MOVED, "build", source, "")
    with sqlite3.connect("trace.db") as db:
        same(db.execute("SELECT max(full_size), max(size) FROM blobs").fetchone(), (len(source), len(source)), "bytes")


def test_files_that_are_included():
    os.makedirs("inc/deep")
    os.makedirs("more")
    texts = {"inc/a.h": '#include "deep/b.h"\n', "inc/deep/b.h": '# include <c.h>\n#include "missing.h"\n',
             "more/c.h": "#define C 1\n", "inc/unused.h": "no\n"}
    for name, text in texts.items():
        pathlib.Path(name).write_text(text.replace('#include "missing.h"\n', '#if 0\n#include "missing.h"\n#endif\n'))
    source = '#include "a.h"\nkernel void k(global int* p) { *p = C; }\n'
    full(MOVED, "build", source, f"-I inc -I{os.getcwd()}/more -cl-std=CL1.2")
    rows = [l.split(" ", 3) for l in good(READ, "trace.contents").text.splitlines() if l.startswith("file")]
    here = os.getcwd()
    same(sorted(row[3] for row in rows), sorted(f"{here}/{n}" for n in texts if n != "inc/unused.h"), "files")
    sizes = {n: int(text.split()[1]) for (_, n), text in kept().items()}
    same([sizes[int(row[2])] for row in rows], [os.path.getsize(row[3]) for row in rows], "sizes")
    same(stats()["lost"]["included_files"], 1, "names that are nowhere")


def test_memory_that_is_written_unseen():
    """What was in it at each launch, as far as it had changed; nothing while a kernel may be writing it."""
    outcome = run(GTRACE, "run", "--capture", "full", "--", MOVED, "shared", "12", "5000")
    if outcome.code == 77:
        raise Skip("no fine-grained SVM")
    same(outcome.code, 0, "exit status")
    lines, there = said(outcome), kept()
    calls = [json.loads(l) for l in good(GTRACE, "expand", "--json", "trace.db").text.splitlines()]
    launches = [c["args"].get("shared", []) for c in calls if c["call"] == "clEnqueueNDRangeKernel"]
    same(len(launches), 14, "launches")
    held = {}
    for i, shared in enumerate(launches[:12]):
        for place, number in zip(shared[::2], shared[1::2]):
            held[json.dumps(place)] = there[0, number]
        same(sorted(held.values()), sorted(lines[1 + 2 * i:3 + 2 * i]), f"before launch {i}")
    same(len(held), 2, "places")
    check(sum(len(s) for s in launches[:12]) < 12 * 4, "what had not changed was kept again")
    same(launches[13], [], "seen while a kernel may be writing")
    same(stats()["lost"]["shared_memory_unseen"], 1, "launches that saw nothing")


def test_the_limit():
    outcome = full(MOVED, "other", "100", MIB // 4, options=("--max-size", "4M"))
    check(os.path.getsize("trace.contents") + os.path.getsize("trace.db") <= 4 * MIB, "larger than the limit")
    text = re.search(r"; (\d+) contents, .* were left out \(--max-size\)", outcome.err_text)
    check(text, f"said: {outcome.err_text}")
    same(len(kept()) + int(text[1]), len(set(said(outcome))), "contents and those left out")
    same(stats()["lost"]["contents_left_out"], int(text[1]), "counted")


def test_a_full_disk():
    if os.geteuid() != 0:
        raise Skip("only root can mount a small file system")
    os.mkdir("small")
    if run("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", "small").code != 0:
        raise Skip("mounting is not permitted here")
    try:
        outcome = full(MOVED, "other", "40", MIB // 4, options=("-o", "small/trace.db"))
        check("were left out (cannot write: No space" in outcome.err_text, f"said: {outcome.err_text}")
        there = [" ".join(l.split()[2:]) for l in run(READ, "small/trace.contents").text.splitlines()]
        same(there, said(outcome)[:len(there)], "contents")
        check(len(there) >= 1, "nothing was kept")
    finally:
        run("umount", "small")


main(globals())
