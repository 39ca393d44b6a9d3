#!/usr/bin/python3
"""Checks docs/spec-coverage.md: a row for each demand of the specification, and no test named in it
that does not exist.

    check_coverage.py [ROOT]       prints each finding and exits 1 if there is one
    check_coverage.py --self-test  shows that each finding can be made
"""

import glob
import os
import re
import sys

# The demands of the specification: a letter and how many there are.
DEMANDS = {"P": 10, "R": 26, "L": 11, "A": 14, "T": 17, "F": 11, "D": 4}
ROW = re.compile(r"^\| ([A-Z]\d+) \| (.*?) \| (.*?) \|$")
OPEN = re.compile(r"open \(issue \d+\)")


def tests_of(root):
    """Names as in ctest: room/case, and script: case of the end-to-end tests."""
    names = {"tree/rooms", "tree/linked-libraries"}
    unit = os.path.join(root, "tests", "unit")
    for path in glob.glob(os.path.join(unit, "**", "*.cc"), recursive=True):
        room = os.path.relpath(os.path.dirname(path), unit)
        text = re.sub(r'"\s*\n\s*"', "", open(path, encoding="utf-8").read())
        for case in re.findall(r'TEST_CASE\(\s*"((?:[^"\\]|\\.)*)"', text):
            names.add(room + "/" + case)
    for path in glob.glob(os.path.join(root, "tests", "end_to_end", "*_test.py")):
        script = "end_to_end/" + os.path.basename(path)[:-len("_test.py")]
        names.add(script)
        for case in re.findall(r"def (test_\w+)\(", open(path, encoding="utf-8").read()):
            names.add(script + ": " + case)
    return names


def findings(lines, names):
    seen = []
    for line in lines:
        match = ROW.match(line)
        if not match:
            continue
        demand, _, test = match.groups()
        if demand in seen:
            yield demand + " has two rows"
        seen.append(demand)
        for name in [] if OPEN.match(test) else test.split(" + "):
            if name not in names:
                yield "%s names \"%s\", which is no test" % (demand, name)
    for letter, count in DEMANDS.items():
        for number in range(1, count + 1):
            if letter + str(number) not in seen:
                yield "%s%d has no row" % (letter, number)


def self_test():
    every = ["| %s%d | here | room/case |" % (l, n) for l, c in DEMANDS.items()
             for n in range(1, c + 1)]
    assert not list(findings(every, {"room/case"}))
    assert list(findings(every[1:], {"room/case"})) == ["P1 has no row"]
    assert list(findings(every + every[:1], {"room/case"})) == ["P1 has two rows"]
    assert len(list(findings(every, {"room/other"}))) == len(every)
    second = every[1:] + ["| P1 | here | room/case + room/none |"]
    assert list(findings(second, {"room/case"})) == ["P1 names \"room/none\", which is no test"]
    opened = every[1:] + ["| P1 |  | open (issue 4): why |"]
    assert not list(findings(opened, {"room/case"}))


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(
        os.path.abspath(__file__)))
    with open(os.path.join(root, "docs", "spec-coverage.md"), encoding="utf-8") as file:
        found = list(findings(file.read().splitlines(), tests_of(root)))
    for finding in found:
        print("docs/spec-coverage.md: " + finding)
    return 1 if found else 0


sys.exit(main())
