#!/usr/bin/env python3
"""The documentation: every link inside it leads somewhere, headings included; and where mkdocs is, it builds as a site whose
pages, links and search are whole.

Usage: site.py ROOT
"""

import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(sys.argv[1])
LINK = re.compile(r"(?<!!)\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")


def anchors(path):
    """Of headings, as GitHub and mkdocs make them; where there are two of a name the second has a number."""
    seen, code = {}, False
    for line in path.read_text().splitlines():
        code ^= line.startswith("```")
        if code or not re.match(r"#{1,6} ", line):
            continue
        text = re.sub(r"[^\w\s-]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line.lstrip("#")).lower()).strip()
        name = re.sub(r"[\s]+", "-", text)
        seen[name] = seen.get(name, 0) + 1
    return set(seen)


def without_code(text):
    return re.sub(r"`[^`\n]*`", "``", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))


def source_problems():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    links = 0
    for page in pages:
        for target in LINK.findall(without_code(page.read_text())):
            if re.match(r"[a-z]+:", target):
                continue
            links += 1
            path, _, heading = target.partition("#")
            file = page if not path else page.parent / urllib.parse.unquote(path)
            if not file.exists():
                yield f"{page.relative_to(ROOT)}: {target} is not there"
            elif heading and file.suffix == ".md" and heading not in anchors(file):
                yield f"{page.relative_to(ROOT)}: {target}: no such heading"
    print(f"{len(pages)} pages, {links} links")
    if links < 100:
        yield f"only {links} links were found"


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if attributes.get("id"):
            self.ids.add(attributes["id"])
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])


def site_problems(site):
    pages = {p.resolve(): Page(p.read_text()) for p in site.rglob("*.html")}
    for path, page in pages.items():
        for link in page.links:
            target, _, part = urllib.parse.unquote(link).partition("#")
            if re.match(r"[a-z]+:|//", link) or target.startswith("/") or path.name == "404.html":
                continue
            file = (path.parent / target).resolve() if target else path
            if not file.exists():
                yield f"{path.relative_to(site.resolve())}: {link} is not there"
            elif part and file in pages and part not in pages[file].ids:
                yield f"{path.relative_to(site.resolve())}: {link}: no such part"
    index = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    if not any("trace.db" in d["text"] for d in index):
        yield "search knows nothing of trace.db"
    print(f"{len(pages)} pages of the site, {len(index)} parts to search")


def main():
    problems = list(source_problems())
    if shutil.which("mkdocs"):
        with tempfile.TemporaryDirectory() as folder:
            built = subprocess.run(["mkdocs", "build", "--strict", "-q", "-f", str(ROOT / "mkdocs.yml"), "-d", folder],
                                   capture_output=True, text=True)
            problems += [built.stderr] if built.returncode else list(site_problems(pathlib.Path(folder)))
    else:
        print("the site itself: skipped: mkdocs is not installed")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
