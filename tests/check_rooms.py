#!/usr/bin/python3
"""Checks over the source tree what a compiler does not: who may include whom (docs/architecture.md),
that one file judges certificates, and the sizes and openings of files.

    check_rooms.py [ROOT]      prints each finding as file:line and exits 1 if one is an error
    check_rooms.py --self-test  shows on made-up trees that each check can fail
"""

import os
import re
import sys
import tempfile

# Folder -> the folders it may include besides itself. The longest matching folder counts, so
# agent/gateway is a room of its own within agent.
MAY_INCLUDE = {
    "core": [],
    "drivers": ["core"],
    "firmware": ["core", "drivers"],
    "pxe": ["core"],
    "pxe/ramdisk": ["core"],
    "agent": ["core", "drivers", "firmware", "pxe"],
    "agent/gateway": ["core"],
    "coordinator": ["core"],
    "coordinator/cli": ["core", "coordinator"],
    "simsite": ["core"],
}
PRODUCT = [room for room in MAY_INCLUDE if room != "simsite"]
# Within core: the floor below each part, so that a program links only what it needs.
CORE_MAY_INCLUDE = {
    "base": ["base"],
    "command_line": ["base", "command_line"],
    "http": ["base", "http"],
    "rows": ["base", "rows"],
    "hardware_profile": ["base", "rows", "hardware_profile"],
    "tls": ["base", "http", "tls"],
    "loop": ["base", "http", "rows", "tls", "loop"],
    "curl": ["base", "http", "tls", "loop", "curl"],
    "db": ["base", "rows", "db"],
    "sync": ["base", "rows", "tls", "db", "sync"],
    "evidence": ["base", "http", "rows", "hardware_profile", "tls", "evidence"],
}
FILE_LINES_UNEASY, FILE_LINES_MOST = 400, 450
FUNCTION_LINES_UNEASY, FUNCTION_LINES_MOST = 70, 90
CERTIFICATE_JUDGES = 1

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
# In product sources simsite and the tests are not even named, be it in a comment or a string.
NAMES_OUTSIDER = re.compile(r'\bsimsite\b|"tests/|\bCATCH_|LEASEHOLD_TEST')
# Two comments of the floor may say which servers and log events simsite shares with the product.
OUTSIDER_ALLOWED = {"core/base/limits.h", "core/base/log.h", "core/loop/http_server.h",
                    "core/tls/tls.h"}


class Findings:
    def __init__(self):
        self.errors = []
        self.warnings = []

    def error(self, path, line, text):
        self.errors.append(f"{path}:{line}: error: {text}")

    def warn(self, path, line, text):
        self.warnings.append(f"{path}:{line}: warning: {text}")


def room_of(path):
    folder = os.path.dirname(path)
    while folder:
        if folder in MAY_INCLUDE:
            return folder
        folder = os.path.dirname(folder)
    return None


def sources(root):
    for top in sorted({room.split("/")[0] for room in MAY_INCLUDE} | {"tests"}):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith((".h", ".cc")):
                    yield os.path.relpath(os.path.join(folder, name), root)


def check_includes(path, lines, found):
    room = room_of(path)
    if room is None:
        return
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        included = match.group(1)
        other = room_of(included)
        if other is None:
            found.error(path, number, f'"{included}" is in no room; include paths start at the root')
        elif other != room and other not in MAY_INCLUDE[room]:
            found.error(path, number, f"{room} may not include {other}")
        elif room == "core" == other:
            mine, theirs = path.split("/")[1], included.split("/")[1]
            if theirs not in CORE_MAY_INCLUDE.get(mine, [mine]):
                found.error(path, number, f"core/{mine} may not include core/{theirs}")


def check_outsiders(path, lines, found):
    if room_of(path) not in PRODUCT or path in OUTSIDER_ALLOWED:
        return
    for number, line in enumerate(lines, 1):
        if NAMES_OUTSIDER.search(line):
            found.error(path, number, "a product source names simsite or a test")


def check_opening(path, lines, found):
    if path.endswith(".h") and not (lines and lines[0].startswith("//")):
        found.error(path, 1, "a header opens with a comment: what it is, who owns and calls it")


def code_of(text):
    """The text without comments and raw strings, line by line where it was."""
    def blank(match):
        return "\n" * match.group(0).count("\n")
    text = re.sub(r'R"(\w*)\(.*?\)\1"', blank, text, flags=re.DOTALL)
    return [re.sub(r"//.*", "", line) for line in text.splitlines()]


def function_lengths(lines):
    """(first line, length) of each block that closes in column 0 and is a function's body, by the
    formatting that clang-format gives: its head begins in column 0 and ends with '{'."""
    head = None
    for number, line in enumerate(lines, 1):
        if re.match(r"[A-Za-z_~\[]", line) and "(" in line and not line.startswith("#"):
            head = number
        elif line.startswith("}"):
            if head is not None and line.strip() == "}":
                yield head, number - head + 1
            head = None


def check_sizes(path, lines, code, found):
    if len(lines) > FILE_LINES_MOST:
        found.error(path, 1, f"{len(lines)} lines; {FILE_LINES_UNEASY} are uneasy")
    elif len(lines) > FILE_LINES_UNEASY:
        found.warn(path, 1, f"{len(lines)} lines; {FILE_LINES_UNEASY} are uneasy")
    if path.startswith("tests/"):
        return
    for first, length in function_lengths(code):
        if length > FUNCTION_LINES_MOST:
            found.error(path, first, f"a function of {length} lines")
        elif length > FUNCTION_LINES_UNEASY:
            found.warn(path, first, f"a function of {length} lines")


def check_certificate_judges(callers, found):
    files = sorted({path for path, _ in callers})
    if len(files) > CERTIFICATE_JUDGES:
        for path, number in callers:
            found.error(path, number, "X509_verify_cert is called in " + " and ".join(files))


def check_tree(root):
    found = Findings()
    callers = []
    for path in sources(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        lines, code = text.splitlines(), code_of(text)
        check_includes(path, lines, found)
        check_outsiders(path, lines, found)
        check_opening(path, lines, found)
        check_sizes(path, lines, code, found)
        if not path.startswith("tests/"):
            callers += [(path, number) for number, line in enumerate(code, 1)
                        if re.search(r"\bX509_verify_cert\s*\(", line)]
    check_certificate_judges(callers, found)
    return found


# Made-up trees, each with the words that its one error must hold.
SELF_TESTS = [
    ({"agent/a.cc": '#include "coordinator/b.h"\n'}, "agent may not include coordinator"),
    ({"coordinator/a.cc": '#include "agent/b.h"\n'}, "coordinator may not include agent"),
    ({"agent/gateway/a.cc": '#include "agent/b.h"\n'}, "agent/gateway may not include agent"),
    ({"simsite/a.cc": '#include "pxe/b.h"\n'}, "simsite may not include pxe"),
    ({"core/tls/a.cc": '#include "core/db/b.h"\n'}, "core/tls may not include core/db"),
    ({"pxe/a.cc": '#include "b.h"\n'}, "is in no room"),
    ({"agent/a.cc": "// as simsite does\n"}, "names simsite"),
    ({"agent/a.h": "#pragma once\n"}, "opens with a comment"),
    ({"agent/a.cc": "//\n" * 451}, "451 lines"),
    ({"agent/a.cc": "void f(int a) {\n" + "  a();\n" * 90 + "}\n"}, "a function of 92 lines"),
    ({"agent/a.cc": "  X509_verify_cert(c);\n", "core/tls/b.cc": "  X509_verify_cert(c);\n"},
     "agent/a.cc and core/tls/b.cc"),
]
SELF_TEST_CLEAN = {
    "agent/a.cc": '#include "agent/a.h"\n#include "core/base/b.h"\n#include <vector>\n',
    "agent/a.h": "// What it is. See X509_verify_cert().\n#pragma once\n",
    "agent/b.cc": 'const char* kText = R"(\na(b) {\n' + "line\n" * 200 + '}\n)";\n',
    "core/tls/judge.cc": "  X509_verify_cert(c);\n",
    "tests/unit/agent/a_test.cc": '#include "simsite/s.h"\n',
}


def write_tree(root, files):
    for path, text in files.items():
        os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
        with open(os.path.join(root, path), "w", encoding="utf-8") as file:
            file.write(text)


def self_test():
    failures = 0
    for files, expected in SELF_TESTS + [(SELF_TEST_CLEAN, None)]:
        with tempfile.TemporaryDirectory() as root:
            write_tree(root, files)
            errors = check_tree(root).errors
        good = not errors if expected is None else errors and all(expected in e for e in errors)
        if not good:
            failures += 1
            print(f"self-test: {sorted(files)}: expected {expected!r}, got {errors}")
    print(f"self-test: {len(SELF_TESTS) + 1} trees, {failures} failures")
    return 1 if failures else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    here = os.path.dirname(os.path.abspath(__file__))
    found = check_tree(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(here))
    for line in found.warnings + found.errors:
        print(line)
    print(f"check_rooms: {len(found.errors)} errors, {len(found.warnings)} warnings")
    return 1 if found.errors else 0


if __name__ == "__main__":
    sys.exit(main())
