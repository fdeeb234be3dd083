"""What a timed run of a list came to: lines for a terminal, the means, and which programs may be slower than allowed."""
import statistics

from modes import NATIVE
from ratios import NEVER_SLOWER, Ratio, geometric_mean

MEANT = {"wall": "the whole run", "cpu": "processor time", "transfers": "transfers alone"}


def ratio_of(result, mode, kind="wall"):
    found = result["modes"].get(mode, {}).get(kind)
    return Ratio(**found) if found else None


def native_median(result, kind):
    values = [v for v in result["samples"][NATIVE][kind] if v is not None]
    return statistics.median(values) if values else None


def seconds(value):
    return "-" if value is None else f"{value:.3g} s"


def told(result):
    """A program's lines: for each mode the ratios of MEANT, and the processor time that it adds."""
    head = f"{result['suite']}/{result['name']}"
    if not result["modes"]:
        return [f"{head}: not timed: {result['stopped']}"]
    natively = ", ".join(f"{seconds(native_median(result, kind))} {text}" for kind, text in MEANT.items())
    lines = [f"{head}: natively {natively}; {result['rounds']} rounds ({result['stopped']})"]
    for mode, found in result["modes"].items():
        ratios = [f"{ratio_of(result, mode, kind) or '-'!s:22}" for kind in MEANT]
        ratios.append(f"{1e3 * found['added_cpu_s']:+.1f} ms".rjust(10))
        notes = "; ".join(found["differs"]) or ("same" + (", stepped aside" if found["aside"] else ""))
        lines.append(f"  {mode:12} {' '.join(ratios)} {notes}")
    return lines


def slower(results):
    """(program, mode of ours, ratio) where the lower bound is below what is allowed, and the tool did not step aside."""
    for result in results:
        for mode, found in result["modes"].items():
            ratio = ratio_of(result, mode)
            if mode != "tunable" and ratio.slower and not found["aside"]:
                yield f"{result['suite']}/{result['name']}", mode, ratio


def differing(results):
    for result in results:
        for mode, found in result["modes"].items():
            if found["differs"]:
                yield f"{result['suite']}/{result['name']}", mode, found["differs"]


def means(results, modes):
    """{mode: {kind: (geometric mean of the medians, of how many programs)}}"""
    found = {}
    for mode in modes:
        found[mode] = {}
        for kind in MEANT:
            medians = [r.median for result in results if (r := ratio_of(result, mode, kind))]
            found[mode][kind] = (geometric_mean(medians), len(medians))
    return found


def added_by(timed, mode):
    """By the median program."""
    return f"{1e3 * statistics.median(r['modes'][mode]['added_cpu_s'] for r in timed):.1f} ms"


def summary(results, modes):
    """Lines."""
    timed = [r for r in results if r["modes"]]
    lines = [f"{len(timed)} of {len(results)} programs timed. Ratios are native / mode: above 1 is faster."]
    for mode, kinds in means(timed, modes).items():
        texts = [f"{text} {mean:.3f} ({count})" for (kind, text) in MEANT.items() for mean, count in [kinds[kind]] if mean]
        if texts:
            lines.append(f"  {mode:12} geometric means: {', '.join(texts)}; processor time added: {added_by(timed, mode)}")
    for name, mode, ratio in slower(timed):
        lines.append(f"  {'is' if ratio.high < NEVER_SLOWER else 'may be'} slower than {NEVER_SLOWER}: {name} {mode} {ratio}")
    for name, mode, texts in differing(timed):
        lines.append(f"  not the same: {name} {mode}: {'; '.join(texts)}")
    for result in timed:
        if ratio_of(result, modes[0]).low is None:
            lines.append(f"  too few rounds for an interval: {result['suite']}/{result['name']}")
    for result in results:
        if not result["modes"]:
            lines.append(f"  {told(result)[0]}")
    return lines
