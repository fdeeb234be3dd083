#!/usr/bin/env python3
"""Runs a test once more if it fails: for those that cmake/RetriedTests.cmake names.

Usage: once_more.py COMMAND...      Exit status: of the last run.
"""

import subprocess
import sys

SKIPPED = 77
status = subprocess.call(sys.argv[1:])
if status not in (0, SKIPPED):
    print(f"failed with status {status}: once more (cmake/RetriedTests.cmake says why)", flush=True)
    status = subprocess.call(sys.argv[1:])
sys.exit(status if status >= 0 else 128 - status)
