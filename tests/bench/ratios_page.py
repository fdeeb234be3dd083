"""A page of a timed run of a list: for each program and mode a dot and its interval, and the numbers. One file, no scripts."""
import html
import math

from ratios import NEVER_SLOWER
from timed_summary import MEANT, native_median, ratio_of, seconds, summary

COLOURS = ("#1b6ca8", "#c8553d", "#4c8c4a", "#8e5ea2", "#b8860b", "#5a6470")
TICKS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.2, 1.5, 2, 3, 4)
STYLE = """
:root { --ink: #1d2329; --quiet: #67717b; --line: #dfe3e6; --paper: #fff }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e6e8; --quiet: #98a2ab; --line: #363d44; --paper: #15191d } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto; max-width: 64rem;
       padding: 0 1rem }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2.5rem } .quiet { color: var(--quiet) }
svg { width: 100%; height: auto } svg text { font: 12px system-ui, sans-serif; fill: var(--ink) }
svg .quiet { fill: var(--quiet) } .tick { stroke: var(--line) } .even { stroke: var(--quiet) }
.allowed { stroke: var(--quiet); stroke-dasharray: 3 3 }
.wide { overflow-x: auto } table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 13px }
th, td { text-align: left; padding: .15rem .7rem .15rem 0; border-bottom: 1px solid var(--line); white-space: nowrap }
.bad { color: #c8303d; font-weight: 600 }
"""
LEFT, WIDTH, ROW, GAP, TOP = 220, 960, 13, 8, 26


def escaped(value):
    return html.escape(str(value))


class Scale:
    """Ratios on a logarithmic axis; what is beyond it is drawn at its edge."""

    def __init__(self, ratios):
        ends = [v for r in ratios for v in (r.low, r.median, r.high) if v]
        low, high = (max(0.5, min([0.95, *ends]) * 0.99), min(4, max([1.05, *ends]) * 1.01))
        self.low, self.high = math.log(low), math.log(high)

    def __call__(self, ratio):
        part = (min(max(math.log(ratio), self.low), self.high) - self.low) / (self.high - self.low)
        return LEFT + part * (WIDTH - LEFT - 20)

    def ticks(self):
        return [t for t in TICKS if self.low <= math.log(t) <= self.high]


def mark(ratio, scale, y, colour, title):
    low, high = (scale(v) for v in (ratio.low or ratio.median, ratio.high or ratio.median))
    return (f'<g stroke="{colour}" fill="{colour}"><title>{escaped(title)}</title>'
            f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}" stroke-width="2"/>'
            f'<circle cx="{scale(ratio.median):.1f}" cy="{y}" r="{3.5 if ratio.low else 2}"/></g>')


def axis(scale, height):
    lines = []
    for tick in scale.ticks():
        x = f"{scale(tick):.1f}"
        lines.append(f'<line class="{"even" if tick == 1 else "tick"}" x1="{x}" x2="{x}" y1="{TOP - 6}" y2="{height}"/>'
                     f'<text class="quiet" x="{x}" y="{TOP - 11}" text-anchor="middle">{tick:g}</text>')
    x = f"{scale(NEVER_SLOWER):.1f}"
    return [*lines, f'<line class="allowed" x1="{x}" x2="{x}" y1="{TOP - 6}" y2="{height}"/>']


def chart(results, modes, kind):
    """None where no program has that ratio."""
    rows = [(result, [(m, r) for m in modes if (r := ratio_of(result, m, kind))]) for result in results]
    rows = [(result, ratios) for result, ratios in rows if ratios]
    if not rows:
        return None
    scale = Scale([r for _, ratios in rows for _, r in ratios])
    y, marks = TOP, []
    for result, ratios in rows:
        name = f"{result['suite']}/{result['name']}"
        marks.append(f'<text x="{LEFT - 12}" y="{y + len(ratios) * ROW / 2 + 4:.1f}" text-anchor="end">{escaped(name)}</text>')
        for mode, ratio in ratios:
            colour = COLOURS[modes.index(mode) % len(COLOURS)]
            marks.append(mark(ratio, scale, y + ROW / 2, colour, f"{name}, {mode}: {ratio}, {ratio.rounds} rounds"))
            y += ROW
        y += GAP
    return (f'<svg viewBox="0 0 {WIDTH} {y}" role="img" aria-label="{escaped(MEANT[kind])}">'
            + "".join([*axis(scale, y - GAP), *marks]) + "</svg>")


def legend(modes):
    parts = [f'<span style="color:{COLOURS[i % len(COLOURS)]}">&#9679;</span> {escaped(m)}' for i, m in enumerate(modes)]
    return "<p>" + " &nbsp; ".join(parts) + "</p>"


def cell(ratio):
    bad = ' class="bad"' if ratio and ratio.slower else ""
    return f"<td{bad}>{ratio or '-'}</td>"


def table(results):
    head = "".join(f"<th>{t}</th>" for t in ("program", "natively", "rounds", "mode", *MEANT.values(), "processor time added", "output"))
    rows = []
    for result in results:
        for mode, found in result["modes"].items():
            cells = "".join(cell(ratio_of(result, mode, kind)) for kind in MEANT)
            cells += f"<td>{1e3 * found['added_cpu_s']:+.1f} ms</td>"
            output = "; ".join(found["differs"]) or "same"
            rows.append(f"<tr><td>{escaped(result['suite'])}/{escaped(result['name'])}</td>"
                        f"<td>{seconds(native_median(result, 'wall'))}</td><td>{result['rounds']}</td>"
                        f"<td>{escaped(mode)}</td>{cells}<td>{escaped(output)}</td></tr>")
    return f'<div class="wide"><table><tr>{head}</tr>{"".join(rows)}</table></div>'


def page(whole):
    """`whole`: what --json writes."""
    about, results = whole["about"], whole["programs"]
    charts = [(text, chart(results, about["modes"], kind)) for kind, text in MEANT.items()]
    drawn = "".join(f"<h2>{text[0].upper() + text[1:]}</h2>{svg}" for text, svg in charts if svg)
    told = "<br>".join(map(escaped, summary(results, about["modes"])))
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escaped(about["list"])}</title>'
            f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style>'
            f'<h1>{escaped(about["list"])}: native / mode</h1>'
            f'<p class="quiet">{escaped(about["started"])}, {escaped(about["system"])}, {about["processors"]} processors, '
            f'load {about["load"]:.1f}. Right of 1 is faster; medians of paired ratios with 95 % intervals; dashed: '
            f'{NEVER_SLOWER}; small dots: too few rounds.</p>{legend(about["modes"])}{drawn}'
            f"<h2>Numbers</h2><p>{told}</p>{table(results)}</html>\n")
