#!/usr/bin/env python3
"""The page of `ganalyze --html` in headless Chromium: it opens from file://, says nothing on the console, its tables
sort, its lanes zoom and fold, its colours change; with 10^5 blocks too. The page tries itself out (self_test.js).

Usage: html_browser.py BUILD
"""

import html
import pathlib

from job import *  # noqa: F403

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def open_page(name, *options):
    """What the page wrote down about itself."""
    browser = next((b for b in BROWSERS if shutil.which(b)), None)
    if browser is None:
        raise Skip("no Chromium is installed")
    address = pathlib.Path(name).resolve().as_uri() + "#selftest"
    done = good(browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--disable-background-networking", f"--user-data-dir={os.getcwd()}/browser", "--enable-logging=stderr",
                "--timeout=90000", *options, "--dump-dom", address)
    said = [line for line in done.err_text.splitlines() if "CONSOLE" in line]
    check(not said, f"the console says: {said[:3]}")
    found = re.search(r'<pre id="selftest">(.*?)</pre>', done.text, re.S)
    check(found, "the page did not come to its end")
    result = json.loads(html.unescape(found.group(1)))
    check(result["ok"], f"{result['failures']} {result['errors']}")
    return result


def test_a_program():
    good(GTRACE, "run", "--", app("vadd"))
    good(GANALYZE, "trace.db", "--html", "page.html")
    for options in ((), ("--window-size=420,900",), ("--blink-settings=preferredColorScheme=0",)):
        page = open_page("page.html", *options)
        tables = dict(page["tables"])
        keys(tables, "Flows", "Memory that feeds transfers", "Kernels", "Functions", "Devices")
        check(tables["Flows"] >= 9, f"{tables['Flows']} flows")
        check(page["boxes"] == 10, f"{page['boxes']} boxes")
        check(page["marks"] >= 6, f"{page['marks']} arguments are marked in the source")
        check(len(page["lanes"]) == 2, f"lanes: {page['lanes']}")


def test_many_blocks():
    good(tests_dir / "large_trace", "large.db", 100_000)
    good(GANALYZE, "large.db", "--html", "page.html")
    page = open_page("page.html")
    check(page["blocks"] > 80_000, f"{page['blocks']} blocks")
    check(page["ready_ms"] < 30_000, f"ready after {page['ready_ms']:.0f} ms")
    check(page["slowest_draw_ms"] < 3_000, f"a lane takes {page['slowest_draw_ms']:.0f} ms to draw")
    same(page["heading"], "/opt/</script><img src=x onerror=alert(1)><!--", "the program's name")


def test_a_program_without_kernels():
    needs("clinfo")
    traced("clinfo")
    good(GANALYZE, "trace.db", "--html", "page.html")
    page = open_page("page.html")
    same(page["boxes"], 0, "boxes")
    check(dict(page["tables"])["Functions"] > 3, f"tables: {page['tables']}")


if __name__ == "__main__":
    main(globals())
