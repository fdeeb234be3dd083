"""The tables of a trace.db, read with SQLite (docs/TRACE_FORMAT.md). Formats 1 to 3.

The file may be a stranger's: it is opened without writing, without its journals, and only what is a table of it is read, no
view; no number of it is trusted as an index.
"""

import pathlib
import sqlite3

from .errors import TraceError

FORMAT = 3
APPLICATION = 0x47545243  # 'GTRC'
# Columns that later formats added, with what stands for them in files of earlier ones.
LATER = {"sites": {"outer": None}, "shapes": {"moves": None}, "stats": {"timed": None},
         "devices": {"estimated_kernels": 0, "estimated_transfers": 0, "steady_kernel_ns": 0, "steady_transfer_ns": 0,
                     "steady_overlap_ns": 0}}


def unsigned(number):
    """A 64-bit number as it was before SQLite stored it as a signed one."""
    return number & 0xFFFFFFFFFFFFFFFF if isinstance(number, int) else 0


class Database:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self._check_head()
        try:
            address = self.path.resolve().as_uri() + "?mode=ro&immutable=1"
            self._db = sqlite3.connect(address, uri=True)
            self._db.row_factory = sqlite3.Row
            self._db.text_factory = lambda data: data.decode("utf-8", "replace")
            self._db.execute("PRAGMA trusted_schema = OFF")
            self.format = self._db.execute("PRAGMA user_version").fetchone()[0]
            names = self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            self._tables = {row[0] for row in names}
        except sqlite3.Error as e:
            raise TraceError(f"{self.path} is damaged: {e}") from e
        if self.format > FORMAT:
            raise TraceError(f"{self.path} has format {self.format}, of a later version; this one reads up to {FORMAT}")

    def _check_head(self):
        try:
            with open(self.path, "rb") as file:
                head = file.read(72)
        except OSError as e:
            raise TraceError(f"{self.path}: {e.strerror}") from e
        if head[:16] != b"SQLite format 3\0" or int.from_bytes(head[68:72], "big") != APPLICATION:
            raise TraceError(f"{self.path} is no trace of gtrace")

    def rows(self, table, *columns):
        """These columns of every row, in the order of the ids."""
        if table not in self._tables:
            raise TraceError(f"{self.path} is damaged: there is no table {table}")
        try:
            there = {row["name"] for row in self._db.execute(f"PRAGMA table_info({table})")}
            later = LATER.get(table, {})
            asked = [c for c in columns if c in there or c not in later]
            quoted = ", ".join(f'"{c}"' for c in asked)
            missing = {c: later[c] for c in columns if c not in asked}
            return [{**dict(row), **missing} for row in self._db.execute(f"SELECT {quoted} FROM {table} ORDER BY 1")]
        except sqlite3.Error as e:
            raise TraceError(f"{self.path} is damaged: {e}") from e

    def by_id(self, table, *columns):
        return {row["id"]: row for row in self.rows(table, "id", *columns)}

    def close(self):
        self._db.close()
