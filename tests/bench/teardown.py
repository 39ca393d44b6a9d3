#!/usr/bin/python3
"""teardown.bookkeeping_ms: from the accepted work to the parked machine, all nine steps, with instant
hardware (simsite's delays 0, 16 MiB disks), the ramdisk's start included. The median of several
machines, one after another. Usage: teardown.py BIN_DIR"""

import json
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
import sitekit  # noqa: E402

GOAL_MS = 300
MACHINES = 9


def milliseconds(text):
    """Of "2026-11-29T16:31:21.004Z"."""
    whole = time.mktime(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S"))
    return int(whole * 1000) + int(text[20:23])


def one(site, name):
    site.adopt(name)
    row = site.wait_run(site.work(name, "release"))
    if row["state"] != "succeeded":
        raise sitekit.SiteError("the teardown failed: %s %s" % (row["code"], row["message"]))
    parked = next(s for s in row["steps"] if s["place"] == "power.setPower/park")
    steps = [(s["place"], milliseconds(s["finishedAt"]) - milliseconds(s["startedAt"]))
             for s in row["steps"]]
    return milliseconds(parked["finishedAt"]) - milliseconds(row["startedAt"]), steps


def main():
    sitekit.as_root("bench")
    machines = [sitekit.machine("b%d" % i, i) for i in range(1, MACHINES + 1)]
    for machine in machines:
        machine["disks"] = machine["disks"][:1]
    site = sitekit.Site(sys.argv[1], machines)
    try:
        site.start()
        runs = [one(site, machine["name"]) for machine in machines]
    finally:
        site.stop()
    took = [run[0] for run in runs]
    value = statistics.median(took)
    print(json.dumps({"figure": "teardown.bookkeeping_ms", "value": value, "unit": "ms",
                      "goal": GOAL_MS}))
    print("teardown.bookkeeping_ms  median %d ms of %s (goal: at most %d)" %
          (value, sorted(took), GOAL_MS), file=sys.stderr)
    for place, spent in sorted(runs[took.index(sorted(took)[len(took) // 2])][1],
                               key=lambda step: -step[1])[:8]:
        print("  %5d ms  %s" % (spent, place), file=sys.stderr)


main()
