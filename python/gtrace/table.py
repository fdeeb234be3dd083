"""Rows with named columns."""

import csv
import html
import io


class Table(list):
    """A list of dictionaries that all have the keys `columns`, in that order."""

    def __init__(self, columns, rows=()):
        super().__init__(rows)
        self.columns = tuple(columns)

    def column(self, name):
        return [row[name] for row in self]

    def where(self, **values):
        """The rows that have these values: transfers().where(direction="h2d")."""
        return Table(self.columns, (r for r in self if all(r[k] == v for k, v in values.items())))

    def sorted(self, column, descending=True):
        return Table(self.columns, sorted(self, key=lambda r: (r[column] is not None, r[column]), reverse=descending))

    def frame(self):
        """The table as a pandas.DataFrame."""
        try:
            import pandas
        except ImportError as e:
            raise ImportError("frame() needs pandas: pip install pandas") from e
        return pandas.DataFrame(list(self), columns=list(self.columns))

    def csv(self):
        out = io.StringIO()
        writer = csv.DictWriter(out, self.columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self)
        return out.getvalue()

    def __repr__(self):
        return f"<{len(self)} rows of {', '.join(self.columns)}>"

    def _repr_html_(self):  # what a notebook shows
        def line(cells, tag):
            return "<tr>" + "".join(f"<{tag}>{html.escape(str(c))}</{tag}>" for c in cells) + "</tr>"

        rows = [line((row[c] for c in self.columns), "td") for row in self[:100]]
        more = f"<p>{len(self) - 100} rows more</p>" if len(self) > 100 else ""
        return f"<table>{line(self.columns, 'th')}{''.join(rows)}</table>{more}"
