"""Reads a Perfetto trace by the wire format alone, independently of what wrote it, and checks what a viewer relies on."""

import struct

BEGIN, END, INSTANT = 1, 2, 3


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        assert shift < 70, "a varint of more than ten bytes"


def fields(data):
    """(number, value) of a message's fields: ints for varints and fixed64, bytes for the rest."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
            assert len(value) == size, "a field beyond the end"
        else:
            raise AssertionError(f"wire type {kind}")
        yield number, value


def message(data):
    out = {}
    for number, value in fields(data):
        out.setdefault(number, []).append(value)
    return out


def one(m, number, default=None):
    return m[number][0] if number in m else default


class Trace:
    """tracks: uuid to {name, parent, pid, tid}. slices: name, track, start, end, args, flow, ends_flow. instants."""

    def __init__(self, data):
        self.tracks, self.slices, self.instants = {}, [], []
        self.names, self.keys = {}, {}
        edges = []
        for number, packet in fields(data):
            assert number == 1, "not a packet"
            p = message(packet)
            assert one(p, 10) == 1, "no sequence id"
            self.intern(message(one(p, 12, b"")))
            if 60 in p:
                self.add_track(message(one(p, 60)))
            if 11 in p:
                edges.append((one(p, 8), len(edges), self.event(message(one(p, 11)))))
        self.nest(sorted(edges, key=lambda e: e[:2]))

    def intern(self, data):
        for kind, table in ((2, self.names), (3, self.keys)):
            for entry in data.get(kind, []):
                e = message(entry)
                assert one(e, 1) not in table, "a number interned twice"
                table[one(e, 1)] = one(e, 2).decode()

    def add_track(self, d):
        uuid = one(d, 1)
        assert uuid not in self.tracks, f"track {uuid} twice"
        parent = one(d, 5)
        assert parent is None or parent in self.tracks, "a track below one that is not there yet"
        process, thread = message(one(d, 3, b"")), message(one(d, 4, b""))
        name = one(d, 2) or one(process, 6) or one(thread, 5)
        self.tracks[uuid] = {"name": name.decode(), "parent": parent, "pid": one(process, 1), "tid": one(thread, 2)}

    def event(self, e):
        assert one(e, 11) in self.tracks, "an event on no track"
        args = {}
        for raw in e.get(4, []):
            a = message(raw)
            args[self.keys[one(a, 1)]] = one(a, 6).decode() if 6 in a else one(a, 4)
        return {"type": one(e, 9), "track": one(e, 11), "name": self.names[one(e, 10)] if 10 in e else None,
                "args": args, "flow": one(e, 47), "ends_flow": one(e, 48)}

    def nest(self, edges):
        """Slices of a track open and close like brackets."""
        stacks = {}
        for time, _, e in edges:
            if e["type"] == INSTANT:
                self.instants.append(dict(e, start=time))
            elif e["type"] == BEGIN:
                stacks.setdefault(e["track"], []).append(dict(e, start=time))
            else:
                assert stacks.get(e["track"]), "an end without a beginning"
                self.slices.append(dict(stacks[e["track"]].pop(), end=time))
        assert not any(stacks.values()), "a slice that never ends"

    def track_name(self, event):
        return self.tracks[event["track"]]["name"]
