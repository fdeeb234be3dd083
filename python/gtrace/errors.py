"""What goes wrong with traces."""


class TraceError(Exception):
    """A file that is no trace, is damaged, or is of a later format; or a program gtrace that is missing. One sentence."""
