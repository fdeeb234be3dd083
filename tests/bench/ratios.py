"""How much faster one way of running a program is than another: the median of paired ratios, and where it lies.

Runs of one round follow each other within seconds, so what a busy machine does to one it does to the others, mostly: each
round gives one ratio, native / mode (1.05: the mode is 5 % faster). The interval is that of the median by order statistics,
k-th smallest to k-th largest, where k is the largest with P(Binomial(n, 1/2) < k) <= 2.5 %. It assumes nothing of how
the ratios are spread, and one wild round does not move it; a bootstrap of so few rounds covers less than it says. It takes
six rounds. Stopping when it is narrow looks at its width, never at where it lies.
"""
import dataclasses
import math
import statistics

NEVER_SLOWER = 0.98  # what the lower bound of an interval has to reach
FEWEST = 6  # rounds that have an interval


def outermost(count):
    """How many values lie outside of the interval at each end; none: too few for an interval."""
    below, k = 0, 0
    while k <= count:
        below += math.comb(count, k)
        if below > 0.025 * 2 ** count:
            break
        k += 1
    return k - 1 if k else None


@dataclasses.dataclass(frozen=True)
class Ratio:
    median: float
    low: float | None  # none: too few rounds
    high: float | None
    rounds: int

    @property
    def width(self):
        return math.inf if self.low is None else self.high - self.low

    @property
    def slower(self):
        """That it may be slower than is allowed: its lower bound says so."""
        return self.low is not None and self.low < NEVER_SLOWER

    def __str__(self):
        between = "" if self.low is None else f" ({self.low:.3f}-{self.high:.3f})"
        return f"{self.median:.3f}{between}"


def paired(native, mode):
    """Of values of the same rounds; a round in which one has none, or nothing, is left out. None: no round is left."""
    ratios = sorted(a / b for a, b in zip(native, mode) if a and b)
    if not ratios:
        return None
    outside = outermost(len(ratios))
    low, high = (None, None) if outside is None else (ratios[outside], ratios[-1 - outside])
    return Ratio(statistics.median(ratios), low, high, len(ratios))


def added(native, mode):
    """The median of what the mode took more in a round: start-up costs every program the same, whatever its length."""
    differences = [b - a for a, b in zip(native, mode) if a is not None and b is not None]
    return statistics.median(differences) if differences else None


def geometric_mean(values):
    values = list(values)
    return math.exp(statistics.fmean(map(math.log, values))) if values else None
