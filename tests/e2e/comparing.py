#!/usr/bin/env python3
"""Several traces: one profile for all of them, what differs, ganalyze diff; and --check of profiles.

Usage: comparing.py BUILD
"""

import pathlib

from job import *  # noqa: F403


def record(file, name="vadd", *flags):
    flags = flags or ("--elements", 65536, "--iterations", 20)
    same(traced(app(name), *flags, file=file).code, 0, "exit status of the traced program")
    return file


def profile_sites(path):
    """The sections of a profile as dictionaries, by their names."""
    sections, out = None, {}
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith("["):
            sections = out.setdefault(line[1:-1], [])
            sections.append({})
        elif " = " in line and not line.startswith("#") and sections:
            key, value = line.split(" = ", 1)
            sections[-1][key] = value
    return out


def difference(result, about, aspect=""):
    return [d for d in result["differences"] if d["about"] == about and d["aspect"] == aspect]


def test_one_profile_for_several_inputs():
    record("a.db")
    record("b.db", "vadd", "--elements", 262144, "--iterations", 60)
    alone = good(GANALYZE, "--json", "-o", "a.gprofile", "a.db").json
    result = good(GANALYZE, "--json", "-o", "all.gprofile", "a.db", "b.db").json
    keys(result, "dispatch_ratio", "eligible", "allocations", "kernels", "findings", "remote", "inputs", "differences")
    same([i["trace"] for i in result["inputs"]], ["a.db", "b.db"], "inputs")
    keys(result["inputs"][0], *alone)
    same(result["inputs"][0]["allocations"][0].keys(), alone["allocations"][0].keys(), "an input is a whole report")
    same(len(result["allocations"]), 3, "allocations")
    for row in result["allocations"]:
        each = [next(a for a in i["allocations"] if a["site"]["offset"] == row["site"]["offset"]) for i in result["inputs"]]
        for key in "count", "bytes", "h2d", "d2h", "transfers", "time_ns":
            same(row[key], sum(e[key] for e in each), f"{key} of {row['site']['function']}")
    times = [i["time"] for i in result["inputs"]]
    ratio = sum(t["transfer_ns"] for t in times) / sum(t["kernel_ns"] for t in times)
    check(abs(result["dispatch_ratio"] / ratio - 1) < 1e-9, "the ratio of both")
    sizes = difference(result, "site", "allocated")
    same([d["values"] for d in sizes], [["256.0 KiB", "1.0 MiB"]] * 3, "sizes that differ")
    same([d["values"] for d in difference(result, "kernel", "launches")], [["20", "60"]], "launches that differ")
    check(difference(result, "loop", "iterations"), "trip counts that differ")

    one, both = profile_sites("a.gprofile"), profile_sites("all.gprofile")
    same(both["program"][0]["traces"], "2", "traces")
    same(len(both["site"]), len(one["site"]), "sites")
    for site in both["site"]:
        before = next(s for s in one["site"] if s["offset"] == site["offset"])
        same((site["min_bytes"], int(site["max_bytes"])), (before["min_bytes"], 4 * int(before["max_bytes"])), "range")
        same((site["seen_in"], site["transfers_each"]), ("2", "40"), "seen in, transfers for each allocation")
        same(site["sizes"], "262144:1 1048576:1", "sizes")
    good(GANALYZE, "--check", "all.gprofile")
    text = good(GANALYZE, "-o", "all.gprofile", "a.db", "b.db").text
    for word in ("2 traces of", "What differs", "2 of 2", "all.gprofile"):
        check(word in text, f"no '{word}' in the report")


def test_memory_that_no_call_made_is_listed():
    """Its transfers differ between the inputs, so the table has it, too."""
    for file, variant in ("a.db", "bad"), ("b.db", "good"):
        good(GTRACE, "run", "-o", file, "--", tests_dir / "patterns", "unread-sends", variant)
    text = " ".join(good(GANALYZE, "--width", 200, "a.db", "b.db").text.split())
    (row,) = re.findall(r"static data of patterns - - - ([0-9.]+ GiB) .*? 2 of 2", text)
    same(row, f"{450 * 8 / 1024:.1f} GiB", "sent in both")


def test_the_same_input_twice_changes_nothing():
    record("a.db")
    record("b.db")
    text = good(GANALYZE, "a.db", "b.db").text
    result = good(GANALYZE, "--json", "a.db", "b.db").json
    same([d for d in result["differences"] if d["structural"]], [], "differences of structure")
    check("app_vadd.gprofile" in text, "the default name")
    check(list(pathlib.Path(".data").rglob("*.gprofile")), "no copy under XDG_DATA_HOME")


def test_different_programs_have_no_common_profile():
    record("a.db")
    record("t.db", "transpose", "--width", 64, "--height", 64)
    one_line(run(GANALYZE, "a.db", "t.db"), USAGE, "a.db", "t.db", "app_vadd", "app_transpose", "ganalyze diff")
    check(not list(pathlib.Path(".").glob("*.gprofile")), "a profile of two programs")


def test_the_united_profile_optimizes():
    record("a.db")
    record("b.db", "vadd", "--elements", 262144)
    good(GANALYZE, "-o", "all.gprofile", "a.db", "b.db")
    command = (app("vadd"), "--elements", 65536, "--iterations", 20)
    bare = good(*command)
    outcome = run(GOPTIMIZE, "run", "--profile", "all.gprofile", "--force-policy", "pin", "--report", "r.json", "--",
                  *command)
    same((outcome.code, outcome.out), (0, bare.out), "status and stdout")
    report = json.loads(pathlib.Path("r.json").read_text())
    same(sum(s["allocations"] for s in report["sites"]), 3, "allocations served")


def test_diff_of_two_runs_is_the_same():
    record("a.db")
    record("b.db")
    same(run(GANALYZE, "diff", "a.db", "b.db").code, 0, "exit status")
    result = good(GANALYZE, "diff", "--json", "a.db", "b.db").json
    same(result["same"], True, "same")
    same(len(result["sources"]), 3, "sources")
    check(all(s["a"]["bytes"] == s["b"]["bytes"] > 0 for s in result["sources"]), "bytes of two runs")
    same(good(GANALYZE, "diff", "a.db", "a.db").text.count("Nothing but times"), 1, "a trace and itself")


def test_diff_tells_what_changed():
    record("a.db")
    record("b.db", "vadd", "--elements", 131072, "--iterations", 40)
    outcome = run(GANALYZE, "diff", "a.db", "b.db")
    same(outcome.code, 1, "exit status")
    for word in ("allocate_first", "512.0 KiB", "launches", "20", "40", "What differs"):
        check(word in outcome.text, f"no '{word}'")
    outcome = run(GANALYZE, "diff", "--json", "a.db", "b.db")
    same(outcome.code, 1, "exit status with --json")
    result = json.loads(outcome.out)
    same(result["same"], False, "same")
    row = next(s for s in result["sources"] if "allocate_first" in s["name"])
    same((row["a"]["transfers"], row["b"]["transfers"]), (20, 40), "transfers")
    same((row["a"]["h2d"], row["b"]["h2d"]), (20 * 4 * 65536, 40 * 4 * 131072), "bytes")


def test_diff_of_two_programs():
    record("a.db")
    record("t.db", "transpose", "--width", 64, "--height", 64)
    outcome = run(GANALYZE, "diff", "--json", "a.db", "t.db")
    same(outcome.code, 1, "exit status")
    result = json.loads(outcome.out)
    check(any(r["b"] is None for r in result["kernels"]) and any(r["a"] is None for r in result["kernels"]),
          "kernels that only one has")
    keys(result["findings"], "appeared", "went", "stayed")


def test_check_warns_and_accepts():
    record("a.db")
    good(GANALYZE, "a.db")
    profile = pathlib.Path("app_vadd.gprofile")
    outcome = good(GANALYZE, "--check", profile)
    same(outcome.err_text, "", "warnings about what ganalyze wrote")
    for word in ("valid profile", "version 2", "3 sites", "may run on remote devices"):
        check(word in outcome.text, f"no '{word}'")
    text = profile.read_text()
    for change, words in (((r"max_bytes = \d+", "max_bytes = 200000"), "typical_bytes"),
                          ((r"eligible = true", "eligible = false"), "not eligible"),
                          ((r'build_id = "[0-9a-f]+"', 'build_id = "00ff"'), "build-id"),
                          ((r"transfers_each = \d+", "transfers_each = 0"), "transfers")):
        profile.write_text(re.sub(*change, text))
        outcome = good(GANALYZE, "--check", profile)
        check(re.search("warning: .*" + words, outcome.err_text), f"no warning about {words}")


def test_check_names_line_and_column():
    pathlib.Path("p").write_text('version = 2\n[program]\npath = "/bin/app"\nwings = 2\n')
    one_line(run(GANALYZE, "--check", "p"), INPUT, "p:4:1: unknown key")
    pathlib.Path("p").write_text('version = 9\n[program]\n')
    one_line(run(GANALYZE, "--check", "p"), ENVIRONMENT, "p:1:11: .*later")
    one_line(run(GANALYZE, "--check", "none"), ENVIRONMENT, "none")
    one_line(run(GANALYZE, "--check", "."), INPUT, "folder")
    pathlib.Path("old").write_text('version = 1\n[program]\npath = "/bin/app"\n[site]\nmodule = "app"\noffset = 0x10\n')
    check("version 1" in good(GANALYZE, "--check", "old").text, "a profile of version 1")


main(globals())
