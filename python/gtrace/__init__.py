"""Reads the traces that `gtrace run` writes: calls, transfers, kernels and allocations as tables or data frames.

    import gtrace
    trace = gtrace.open("trace.db")
    trace.transfers().frame()          # a pandas data frame; without pandas a Table is a list of dictionaries
    for call in trace.calls(calls="clEnqueue*"): ...

Nothing but Python's standard library is needed; `frame()` alone asks for pandas.
"""

from .errors import TraceError
from .table import Table
from .trace import Trace, newest
from .tool import version as tool_version

__all__ = ["Table", "Trace", "TraceError", "newest", "open", "tool_version"]
__version__ = "0.1.0"


def open(path=None, tool=None):  # noqa: A001: gtrace.open reads as it should
    """The trace in `path`, by default the newest trace*.db of this folder. `tool`: the program gtrace to unfold calls with,
    by default the one that this package came with, or the one on the PATH.

    Raises TraceError where the file is no trace, or of a later format."""
    return Trace(path if path is not None else newest(), tool)
