"""Names of places in code, as gtrace prints them: "app+0x1234 < app+0x99"."""

LONGEST = 64  # places in one name


class Places:
    def __init__(self, database):
        self._modules = database.by_id("modules", "path")
        self._sites = database.by_id("sites", "module", "offset", "outer")

    def name(self, site):
        """"?" where the place is not known."""
        parts = []
        while site in self._sites and len(parts) < LONGEST:
            row = self._sites[site]
            module = self._modules.get(row["module"])
            parts.append(f"{module['path'].rpartition('/')[2] if module else '?'}+{row['offset']:#x}")
            site = row["outer"]
        return " < ".join(parts) or "?"
