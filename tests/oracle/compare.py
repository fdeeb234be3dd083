#!/usr/bin/env python3
"""Holds `gtrace expand --json` against the dumb log of another run of the same program.

Equal means: each thread made the same calls from the same places in the same order, with equal numbers and bytes;
and there is a bijection between the trace's names and the log's addresses over the lifetimes of what they stand for.
Only calls from the program's own executable count: what libraries allocate on their own depends on who watches.

Usage: compare.py DUMB-LOG EXPANDED MODULE       (MODULE: file name of the executable)
"""

import itertools
import json
import re
import sys
from collections import defaultdict

MASK = (1 << 64) - 1
RELEASING = {"free", "delete", "delete[]"}
RESIZING = {"realloc": "ptr", "reallocarray": "ptr", "mremap": "old_address"}


class Different(Exception):
    pass


def number(text):
    return 0 if text == "(nil)" else int(text, 0)


def parse_value(kind, text):
    if kind in "op":
        return kind, number(text)
    if kind == "i":
        return kind, int(text)
    if kind == "b":
        return kind, bytes.fromhex(text)
    if kind in "ln":
        return kind, [number(t) for t in text.split(",") if t]
    return kind, text


def read_log(path):
    """[(thread, function, site, {name: (kind, value)})] in order of return."""
    calls = []
    with open(path) as file:
        for line in file:
            thread, function, *rest = line.split()
            args = {}
            for word in rest:
                name, _, value = word.partition("=")
                args[name] = parse_value(value[0], value[2:])
            site = args.pop("site", ("s", "?"))[1]
            calls.append((thread, function, site, args))
    return calls


def plain_name(function):
    """operator delete[](void*, size_t) is delete[] in the log."""
    return re.sub(r"\(.*", "", function).replace("operator ", "").strip()


def read_trace(path):
    calls = []
    with open(path) as file:
        for line in file:
            c = json.loads(line)
            module, _, offset = c["site"].rpartition("+")
            args = dict(c.get("args", {}))
            if "return" in c:
                args["return"] = c["return"]
            site = f"{module}+{int(offset, 0)}" if module else "?"
            calls.append((c["thread"], plain_name(c["call"]), site, args))
    return calls


class Names:
    """The bijection: every thing of the log has one name, and every name one living thing."""

    def __init__(self):
        self.current = {}      # address -> thing (a number)
        self.name_of = {}      # thing -> name
        self.thing_of = {}     # name -> thing
        self.references = {}   # thing -> count; 0: dead
        self.fresh = itertools.count()
        self.sizes = {}        # base address of living memory -> size

    def born(self, key):
        self.current[key] = thing = next(self.fresh)
        self.references[thing] = 1

    def count(self, key, by):
        if key in self.current:
            self.references[self.current[key]] += by

    def meet(self, key, name):
        if key not in self.current:
            self.born(key)
        thing = self.current[key]
        if self.name_of.setdefault(thing, name) != name:
            raise Different(f"{key} is {self.name_of[thing]} and {name}")
        owner = self.thing_of.setdefault(name, thing)
        if owner != thing:
            if self.references[owner] > 0:
                raise Different(f"{name} names two living things")
            self.thing_of[name] = thing

    def allocate(self, base, size):
        if base:
            self.born(("m", base))
            self.sizes[base] = size

    def release(self, base, size=None):
        """`size`: of a part that is unmapped; a mapping counts as gone with its first pages or its last ones."""
        if size is not None and self.sizes.get(base, size) > size:
            return
        if self.sizes.pop(base, None) is not None:
            self.count(("m", base), -1)

    def segment(self, address):
        if address in self.sizes:
            return address
        for base, size in self.sizes.items():
            if base <= address < base + max(size, 1):
                return base
        return None


class Comparison:
    def __init__(self):
        self.names = Names()

    def lifetimes_before(self, function, args):
        if function.startswith("clRetain"):
            self.names.count(("o", next(v for k, v in args.values() if k == "o")), 1)

    def lifetimes_of_new(self, function, args):
        """What the call made, before its own names are looked at."""
        n = self.names
        if not function.startswith("cl"):
            return self.memory_made(function, args)
        for name, (kind, value) in args.items():
            if kind == "o" and name in ("return", "event") and value:
                if name == "return" or function.startswith("clEnqueue"):
                    n.born(("o", value))
        if "return" in args and args["return"][0] == "p":
            inside = n.segment(args["return"][1])
            if function.startswith("clEnqueueMap") and inside not in (None, args["return"][1]):
                return  # host memory that the buffer uses in place
            n.allocate(args["return"][1], args["size"][1] if "size" in args else 1)

    def memory_made(self, function, args):
        kind, made = args.get("memptr") or args.get("return", ("i", 0))
        if kind != "p":
            return
        number = {name: value for name, (kind, value) in args.items() if kind == "i"}
        size = number.get("bytes", number.get("new_size", number.get("length", number.get("size", 0))))
        if function in RESIZING and args[RESIZING[function]][1] and (made or not size):
            self.names.release(args[RESIZING[function]][1])
        self.names.allocate(made, size * number.get("nmemb", 1))

    def lifetimes_after(self, function, args):
        if function in RELEASING:
            self.names.release(args["ptr"][1])
        if function == "clSVMFree":
            self.names.release(args["svm_pointer"][1])
        if function == "munmap" and args["return"][1] == 0:
            self.names.release(args["addr"][1], args["length"][1])
        if function == "clEnqueueUnmapMemObject" and args["return"][1] == 0:
            self.names.release(args["mapped_ptr"][1])
        if function.startswith("clRelease") and args["return"][1] == 0:
            self.names.count(("o", next(v for k, v in args.values() if k == "o")), -1)

    def call(self, logged, traced):
        _, function, site, args = logged
        if (function, site) != traced[1:3]:
            raise Different(f"{function} at {site} in the log, {traced[1]} at {traced[2]} in the trace")
        self.lifetimes_before(function, args)
        memory = not function.startswith("cl")
        old = RESIZING.get(function)
        if old:
            self.memory_argument(old, args[old], traced[3])
        self.lifetimes_of_new(function, args)
        failed_unmap = function == "munmap" and args["return"][1] != 0
        for name, value in args.items():
            if memory:
                known = name in (old, "bytes") or (failed_unmap and name == "addr")  # or nobody's
                self.memory_argument(name, value, traced[3]) if not known else None
            else:
                self.argument(name, value, traced[3].get(name))
        self.lifetimes_after(function, args)

    def memory_argument(self, name, value, theirs):
        kind, ours = value
        if kind == "p":
            return self.pointer(name, ours, theirs.get(name) or None)
        if theirs.get(name) is None or (theirs[name] ^ ours) & MASK:
            raise Different(f"{name} is {ours} in the log, {theirs} in the trace")

    def argument(self, name, value, theirs):
        kind, ours = value
        if kind == "i":
            if theirs is None and name == "errcode_ret":
                return
            if not isinstance(theirs, int) or (theirs ^ ours) & (MASK if ours >= 0 else 0xffffffff):
                raise Different(f"{name} is {ours} in the log, {theirs!r} in the trace")
        elif kind == "o":
            self.handle(name, ours, theirs)
        elif kind == "p":
            self.pointer(name, ours, theirs)
        elif kind == "b":
            self.content(name, ours, theirs)
        else:
            self.elements(name, kind, ours, theirs)

    def elements(self, name, kind, ours, theirs):
        theirs = [] if theirs is None else theirs if isinstance(theirs, list) else [theirs]
        if len(ours) != len(theirs):
            raise Different(f"{name} has {len(ours)} elements in the log, {len(theirs)} in the trace")
        for a, b in zip(ours, theirs):
            self.argument(name, ("o" if kind == "l" else "i", a), b)

    def handle(self, name, ours, theirs):
        if ours == 0 or theirs is None:
            if ours != 0 or theirs is not None:
                raise Different(f"{name} is {ours:#x} in the log, {theirs} in the trace")
            return
        self.names.meet(("o", ours), theirs)

    def pointer(self, name, ours, theirs):
        if ours == 0 or theirs is None:
            if ours != 0 or theirs is not None:
                raise Different(f"{name} is {ours:#x} in the log, {theirs} in the trace")
            return
        base = self.names.segment(ours)
        if base is None:
            return  # the stack, static data
        m = re.match(r"(.*?)(?:\+(\d+))?$", theirs)
        self.names.meet(("m", base), m[1])
        if int(m[2] or 0) != ours - base:
            raise Different(f"{name} is at offset {ours - base} in the log, {theirs} in the trace")

    def content(self, name, ours, theirs):
        address = int.from_bytes(ours, "little")
        if len(ours) == 8 and ("o", address) in self.names.current:
            return self.handle(name, address, theirs)
        if isinstance(theirs, int):  # up to eight bytes travel as a number
            found = (theirs & MASK).to_bytes(8, "little")[:len(ours)]
        elif isinstance(theirs, str) and re.fullmatch(r"0x([0-9a-f]{2})*", theirs):
            found = bytes.fromhex(theirs[2:])
        else:
            found = str(theirs).encode()
        if found != ours and found + b"\0" != ours:
            raise Different(f"{name} is {ours.hex()} in the log, {theirs!r} in the trace")


def threads_of(calls):
    threads = defaultdict(list)
    for c in calls:
        threads[c[0]].append(c)
    return threads


def pairings(log_threads, trace_threads):
    """Ways to pair the threads; those whose functions agree come first."""
    ours, theirs = list(log_threads), list(trace_threads)
    if len(ours) != len(theirs):
        raise Different(f"{len(ours)} threads in the log, {len(theirs)} in the trace")
    alike = {(a, b): [c[1] for c in log_threads[a]] == [c[1] for c in trace_threads[b]] for a in ours for b in theirs}
    every = list(itertools.islice(itertools.permutations(theirs), 720))
    every.sort(key=lambda order: -sum(alike[a, b] for a, b in zip(ours, order)))
    return [dict(zip(ours, order)) for order in every]


def compare_paired(log, module, trace_threads, pairing):
    comparison = Comparison()
    rest = {thread: iter(trace_threads[pairing[thread]]) for thread in pairing}
    counted = 0
    for call in log:
        thread, function, site, args = call
        if not site.startswith(module + "+"):
            comparison.lifetimes_of_new(function, args)
            comparison.lifetimes_after(function, args)
            continue
        theirs = next(rest[thread], None)
        if theirs is None:
            raise Different(f"{thread}: the trace ends before {function}")
        counted += 1
        try:
            comparison.call(call, theirs)
        except Different as e:
            raise Different(f"call {counted}, {function} in {thread}: {e}\n  log:   {args}\n  trace: {theirs}") from None
    for thread, calls in rest.items():
        more = next(calls, None)
        if more is not None:
            raise Different(f"{thread}: the log ends before {more}")
    return counted


def compare(log_path, trace_path, module):
    """The number of calls that agree; raises Different."""
    log = read_log(log_path)
    trace = [c for c in read_trace(trace_path) if c[2].startswith(module + "+")]
    log_threads = threads_of(c for c in log if c[2].startswith(module + "+"))
    trace_threads = threads_of(trace)
    first = None
    for pairing in pairings(log_threads, trace_threads):
        try:
            return compare_paired(log, module, trace_threads, pairing)
        except Different as e:
            first = first or e
    raise first or Different("no calls")


if __name__ == "__main__":
    try:
        print(f"{compare(*sys.argv[1:4])} calls agree")
    except Different as e:
        sys.exit(f"different: {e}")
