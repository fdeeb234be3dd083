#!/usr/bin/env python3
"""`ganalyze --html`, without a browser: one well-formed page that loads nothing, whose data are those of --json, and
in which hostile names stay text.

Usage: html_page.py BUILD
"""

import html.parser
import pathlib

from job import *  # noqa: F403

VOID = {"meta", "link", "img", "br", "hr", "input", "area", "base", "col", "embed", "source", "track", "wbr"}
LOADS = {"src", "href", "action", "data", "poster", "srcset", "formaction", "background", "cite", "ping", "manifest"}


class Page(html.parser.HTMLParser):
    """What a page consists of; `problems` when its elements do not nest."""

    def __init__(self, text):
        super().__init__()
        self.open, self.problems, self.elements, self.texts = [], [], [], {}
        self.feed(text)
        self.close()
        self.problems += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes nothing at {self.getpos()}")

    def handle_data(self, data):
        if self.open and self.open[-1] in ("script", "style", "title"):
            key = dict(self.elements[-1][1]).get("id", self.open[-1]) if self.open[-1] == "script" else self.open[-1]
            self.texts[key] = self.texts.get(key, "") + data


def page_of(trace):
    done = good(GANALYZE, trace, "--html", "page.html", "-o", "p.gprofile")
    check("page.html" in done.err_text, "does not say where the page is")
    text = pathlib.Path("page.html").read_text(encoding="utf-8")
    page = Page(text)
    check(not page.problems, f"not well-formed: {page.problems[:3]}")
    return text, page, json.loads(page.texts["data"])


def loads_nothing(text, page):
    for tag, attributes in page.elements:
        for name, value in attributes.items():
            check(name not in LOADS or value.startswith("#"), f"<{tag} {name}={value!r}> loads something")
            check(not name.startswith("on"), f"<{tag} {name}=...> runs something")
    tags = [tag for tag, _ in page.elements]
    same([t for t in tags if t in ("img", "iframe", "link", "object", "embed")], [], "elements that load")
    same(tags.count("script"), 2, "scripts")
    check("url(" not in page.texts["style"] and "@import" not in page.texts["style"], "the style loads something")
    for word in ("fetch(", "XMLHttpRequest", "WebSocket", "import(", "innerHTML", "eval(", "document.write"):
        check(word not in page.texts["script"], f"the script uses {word}")
    check("default-src 'none'" in text, "no policy that forbids loads")
    check("@@" not in text, "a mark was not filled in")


def counted(flows, kind, what=None):
    return sum(n["bytes"] for n in flows["nodes"] if n["kind"] == kind and what in (None, n["what"]))


def test_the_page_of_a_program():
    good(GTRACE, "run", "--", app("vadd"))
    text, page, data = page_of("trace.db")
    loads_nothing(text, page)
    report = good(GANALYZE, "trace.db", "--json", "-o", "p.gprofile").json
    same(data["report"], report, "data of the page and --json")
    moved = sum(a["bytes"] for a in report["allocations"] + report["other_sources"])
    same(counted(report["flows"], "host_memory"), moved, "bytes of host memory")
    same(counted(report["flows"], "transfer", "h2d"), sum(a["h2d"] for a in report["allocations"]), "bytes sent")
    check("get_global_id" in data["sources"]["texts"][data["sources"]["of"][0]]["text"], "no source of the kernel")


def test_the_timeline_has_every_call():
    good(GTRACE, "run", "--", app("nbody"))
    _, _, data = page_of("trace.db")
    calls = {f["name"]: f["calls"] for f in data["report"]["functions"]}
    drawn = {}
    shapes = data["timeline"]["shapes"]
    for track in data["timeline"]["tracks"]:
        for kind, ref, times in zip(track["kind"], track["ref"], track["times"]):
            if kind == 0:
                drawn[shapes[ref]["function"]] = drawn.get(shapes[ref]["function"], 0) + times
    for stretch in data["timeline"]["stretches"]:
        for shape, _, times in stretch["calls"]:
            drawn[shapes[shape]["function"]] = drawn.get(shapes[shape]["function"], 0) + times
    same(drawn, {name: calls[name] for name in drawn}, "calls in the timeline")
    same(sum(drawn.values()), data["report"]["opencl_calls"], "OpenCL calls in the timeline")


def test_hostile_names_stay_text():
    good(tests_dir / "large_trace", "large.db", 600)
    text, page, data = page_of("large.db")
    loads_nothing(text, page)
    name = "</script><img src=x onerror=alert(1)><!--"
    same(data["report"]["kernels"][0]["name"], name, "the kernel's name")
    check(name.rpartition("/")[2] in page.texts["title"], "the program's name is not in the title")
    check(name not in text, "a name is in the page as it is")


def test_many_nodes_are_bounded_and_counted():
    good(tests_dir / "large_trace", "large.db", 240_000)
    _, _, data = page_of("large.db")
    timeline = data["timeline"]
    blocks = sum(len(t["depth"]) for t in timeline["tracks"])
    check(blocks <= 250_000, f"{blocks} blocks")  # 100,000, and what stands for the rest between them
    rest = sum(s["blocks"] for s in timeline["stretches"])
    check(timeline["left_out"] == rest > 0, f"{timeline['left_out']} left out, {rest} counted")
    check(os.path.getsize("page.html") < 20 << 20, "the page is too large")


def test_bad_places():
    good(tests_dir / "large_trace", "large.db", 60)
    one_line(run(GANALYZE, "large.db", "--html", "no/such/folder/page.html"), ENVIRONMENT, "page", "no/such/folder")
    os.mkdir("folder")
    one_line(run(GANALYZE, "large.db", "--html", "folder"), ENVIRONMENT, "folder")
    check(not [f for f in os.listdir() if ".part" in f], "a part of a page was left")


if __name__ == "__main__":
    main(globals())
