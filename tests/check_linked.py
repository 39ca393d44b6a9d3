#!/usr/bin/python3
"""Reads with ldd what the programs at the site's doors are linked with. A hostile machine talks to
them, so they carry neither a database nor an HTTP client.

    check_linked.py BIN_DIR
"""

import subprocess
import sys

DOORS = ["leasehold-gateway", "leasehold-bootd"]
FORBIDDEN = ["libsqlite3", "libcurl"]
# What they are linked with for certain: an ldd that says nothing must not pass.
EXPECTED = ["libuv", "libssl"]


def main():
    failures = 0
    for program in DOORS:
        path = f"{sys.argv[1]}/{program}"
        listed = subprocess.run(["ldd", path], check=True, capture_output=True, text=True).stdout
        for library in FORBIDDEN:
            if library in listed:
                print(f"{path} is linked with {library}")
                failures += 1
        for library in EXPECTED:
            if library not in listed:
                print(f"{path}: ldd does not list {library}:\n{listed}")
                failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
