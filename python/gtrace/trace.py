"""A trace: its tables without SQL. Times are in ns, sizes in bytes, as `gtrace stats --json` has them."""

import os
import pathlib

from . import tool as tools
from .database import Database, unsigned
from .errors import TraceError
from .places import Places
from .table import Table

FIRST_MEMORY_FUNCTION, FIRST_CALLBACK = 0x8000, 0xC000
OBJECT, MEMORY, KERNEL_ARGUMENT, IMPLIED = 2, 3, 0x8000, 0xFF02
DIRECTIONS = {1: "h2d", 2: "d2h", 3: "d2d"}
CALL_COLUMNS = ("thread", "stream", "n", "call", "args", "return", "kernel_args", "site")


def newest(folder="."):
    """The newest trace*.db of a folder, as the commands choose it."""
    found = sorted(pathlib.Path(folder).glob("trace*.db"), key=os.path.getmtime)
    if not found:
        raise TraceError("there is no trace*.db here: record one with gtrace run -- PROGRAM")
    return found[-1]


class _Times:
    """Count, sum and extremes of several shapes' times or sizes."""

    def __init__(self):
        self.count = self.total = self.least = self.greatest = 0

    def add(self, row, prefix):
        count = row[prefix + "_count"]
        if not count:
            return
        total = row["bytes" if prefix == "bytes" else prefix + "_ns"]
        ends = ("bytes_min", "bytes_max") if prefix == "bytes" else (prefix + "_min_ns", prefix + "_max_ns")
        least, greatest = (unsigned(row[e]) for e in ends)
        self.least = least if not self.count else min(self.least, least)
        self.greatest = max(self.greatest, greatest)
        self.count += count
        self.total = unsigned(self.total + total)


class Trace:
    """Thread safety: that of sqlite3, one thread at a time."""

    def __init__(self, path, tool=None):
        self.path, self._tool = pathlib.Path(path), tool
        self._database = Database(self.path)
        self._places = Places(self._database)
        self._functions = self._database.by_id("functions", "name", "transfer", "launch")
        self._classes = self._database.by_id("classes", "kind", "site", "function", "label")
        self._kinds = {i: row["name"] for i, row in self._database.by_id("kinds", "name").items()}
        self._shapes = self._database.by_id("shapes", "function", "site", "thread", "moves")
        self._args = {}
        for arg in self._database.rows("args", "id", "shape", "param", "form", "class"):
            self._args.setdefault(arg["shape"], []).append(arg)
        self._stats = self._database.rows(
            "stats", "shape", "calls", "failed", "host_count", "host_ns", "host_min_ns", "host_max_ns", "device_count",
            "device_ns", "device_min_ns", "device_max_ns", "bytes_count", "bytes", "bytes_min", "bytes_max", "timed")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._database.close()

    def __repr__(self):
        return f"<trace {self.path}, format {self.format}>"

    @property
    def format(self):
        return self._database.format

    @property
    def facts(self):
        """What was noted about the recording: {"lost.…": …}; numbers are numbers."""
        rows = self._database.rows("facts", "id", "name", "value")
        return {r["name"]: int(r["value"]) if r["value"].isascii() and r["value"].isdigit() else r["value"] for r in rows}

    # --- every call -----------------------------------------------------------------------------------------------

    def iter_calls(self, calls=None, object=None, thread=None, memory=True):  # noqa: A002: the option's name
        """Every call with every argument, one dictionary at a time; unfolded by the program gtrace while it is read.

        calls: "clEnqueue*", "100-200", "m5", ... joined by commas (docs/gtrace.md, Sets of calls); object: "b0";
        thread: its number in the trace; memory=False leaves out malloc and its like."""
        options = []
        for flag, value in (("--calls", calls), ("--object", object), ("--thread", thread)):
            if value is not None:
                options += [flag, value]
        for line in tools.lines(self._tool, "expand", "--json", *options, *([] if memory else ["--no-memory"]), self.path):
            yield {**dict.fromkeys(CALL_COLUMNS), **line}

    def calls(self, **chosen):
        """The same as a Table; a program of a million calls makes a million dictionaries."""
        return Table(CALL_COLUMNS, self.iter_calls(**chosen))

    # --- sums -----------------------------------------------------------------------------------------------------

    def functions(self):
        """Host time by function; callbacks are in it, under names such as "event callback"."""
        sums = {}
        for row, shape in self._measured():
            name = self._function(shape["function"])
            calls, failed, times = sums.setdefault(name, ([0], [0], _Times()))
            calls[0] += row["calls"]
            failed[0] += row["failed"]
            times.add(row, "host")
        columns = ("name", "calls", "failed", "total_ns", "min_ns", "max_ns")
        return Table(columns, (dict(zip(columns, (name, c[0], f[0], t.total, t.least, t.greatest)))
                               for name, (c, f, t) in sums.items())).sorted("total_ns")

    def call_sites(self):
        """The same by place in code and thread, with the device's time and the bytes moved or allocated."""
        columns = ("function", "site", "thread", "calls", "failed", "host_ns", "device_ns", "bytes")
        sums = {}
        for row, shape in self._measured():
            key = (self._function(shape["function"]), self._places.name(shape["site"]), shape["thread"])
            sums.setdefault(key, []).append(row)
        return Table(columns, (dict(zip(columns, key + tuple(unsigned(sum(r[c] for r in rows)) for c in columns[3:])))
                               for key, rows in sums.items())).sorted("host_ns")

    def transfers(self):
        """What was moved: by direction, function and place, with the allocation of the program's memory where there is one.
        `ns` is the device's time where commands were timed, else the host's (`clock`)."""
        columns = ("direction", "function", "site", "thread", "calls", "count", "bytes", "ns", "clock", "memory",
                   "allocated_by", "allocated_at")
        sums = {}
        for row, shape in self._measured():
            direction = self._direction(shape)
            if not direction:
                continue
            timed = row["device_count"] > 0
            key = (direction, self._function(shape["function"]), self._places.name(shape["site"]), shape["thread"],
                   "device" if timed else "host", *self._origin(row["shape"]))
            one = sums.setdefault(key, [0, 0, 0, 0])
            for i, n in enumerate((row["calls"], row["bytes_count"], row["bytes"], row["device_ns" if timed else "host_ns"])):
                one[i] = unsigned(one[i] + n)
        rows = ({"direction": d, "function": f, "site": s, "thread": t, "clock": c, "memory": m, "allocated_by": b,
                 "allocated_at": a, "calls": n[0], "count": n[1], "bytes": n[2], "ns": n[3]}
                for (d, f, s, t, c, m, b, a), n in sums.items())
        return Table(columns, ({c: row[c] for c in columns} for row in rows)).sorted("ns")

    def kernels(self):
        """Launches and device time by kernel. `timed`: the launches that the times stand for."""
        columns = ("name", "launches", "total_ns", "timed", "min_ns", "max_ns")
        names, sums = self._kernel_names(), {}
        for row, shape in self._measured():
            launch = self._functions.get(shape["function"], {}).get("launch")
            for arg in self._args.get(row["shape"], ()):
                if arg["form"] != OBJECT or self._kind(arg["class"]) != "kernel":
                    continue
                named = launch and arg["param"] < KERNEL_ARGUMENT
                if not named and arg["param"] != IMPLIED:
                    continue
                launches, times = sums.setdefault(names.get(arg["class"], "?"), ([0], _Times()))
                launches[0] += row["calls"]
                if named:
                    times.add(row, "device")
                    break
        return Table(columns, (dict(zip(columns, (name, n[0], t.total, t.count, t.least, t.greatest)))
                               for name, (n, t) in sums.items())).sorted("total_ns")

    def allocations(self):
        """Memory by the place that asked for it."""
        columns = ("site", "function", "calls", "bytes", "min_bytes", "max_bytes")
        sums = {}
        for row, shape in self._measured():
            if not FIRST_MEMORY_FUNCTION <= shape["function"] < FIRST_CALLBACK or not row["bytes_count"]:
                continue
            key = (self._places.name(shape["site"]), self._function(shape["function"]))
            calls, sizes = sums.setdefault(key, ([0], _Times()))
            calls[0] += row["calls"]
            sizes.add(row, "bytes")
        return Table(columns, (dict(zip(columns, key + (n[0], s.total, s.least, s.greatest)))
                               for key, (n, s) in sums.items())).sorted("bytes")

    def devices(self):
        """How busy each device was: unions of intervals on its clock."""
        columns = ("name", "kernel_ns", "transfer_ns", "h2d_ns", "d2h_ns", "overlap_ns", "kernels", "transfers",
                   "steady_kernel_ns", "steady_transfer_ns", "steady_overlap_ns")
        rows = self._database.rows("devices", "id", *columns)
        return Table(columns, ({c: row[c] for c in columns} for row in rows))

    def tables(self):
        """Every table of sums by its name: for name, table in trace.tables().items()."""
        return {t.__name__: t() for t in (self.functions, self.call_sites, self.transfers, self.kernels, self.allocations,
                                          self.devices)}

    # --- what the tables mean -------------------------------------------------------------------------------------

    def _measured(self):
        for row in self._stats:
            shape = self._shapes.get(row["shape"])
            if shape and row["calls"]:
                yield row, shape

    def _function(self, number):
        row = self._functions.get(number)
        return row["name"] if row else f"function {number}"

    def _kind(self, number):
        row = self._classes.get(number)
        return self._kinds.get(row["kind"]) if row else None

    def _kernel_names(self):
        """By class: what the table of kernels says, else the label of the class."""
        names = {}
        for kernel in self._database.rows("kernels", "id", "class", "name"):
            names.setdefault(kernel["class"], kernel["name"])
        blobs = self._database.by_id("blobs", "packed", "bytes")
        for number, row in self._classes.items():
            label = blobs.get(row["label"])
            if number not in names and self._kind(number) == "kernel" and label and not label["packed"]:
                names[number] = label["bytes"].split(b"\0")[0].decode("utf-8", "replace")
        return names

    def _direction(self, shape):
        if shape["moves"] is None:  # format 1 knew it of functions alone
            return self._functions.get(shape["function"], {}).get("transfer")
        return DIRECTIONS.get(shape["moves"])

    def _origin(self, shape):
        """Kind, function and place of the allocation that a transfer reads or writes; of the first where it is one of several."""
        for arg in self._args.get(shape, ()):
            row = self._classes.get(arg["class"])
            if arg["form"] == MEMORY and arg["param"] != IMPLIED and row:
                if row["site"] is None:  # static data, the stack: no call made it
                    return self._kinds.get(row["kind"]), None, None
                return self._kinds.get(row["kind"]), self._function(row["function"]), self._places.name(row["site"])
        return None, None, None
