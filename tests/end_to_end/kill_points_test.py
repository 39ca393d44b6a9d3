#!/usr/bin/python3
"""Law journal-first: the agent is killed with SIGKILL after every journal write of a teardown, and
between each effect on the world and its record, started again, and always reaches the same end. The
points come from an undisturbed run; a point that is not hit fails the test."""

import mmap
import os
import signal
import struct
import time
import unittest

import support
from support import SiteTest, sitekit

# Each point takes a machine of its own, so that one site serves all of them.
MACHINES = int(os.environ.get("LEASEHOLD_KILL_MACHINES", "110"))
PRELOAD = "kill_at_sync.so"


def small(name, number):
    machine = sitekit.machine(name, number)
    machine["mac"] = "52:54:00:78:%02x:%02x" % (number // 256, number % 256)
    for disk in machine["disks"]:
        disk["size_mib"] = 3
    machine["disks"] = machine["disks"][:1]
    machine["gpus"] = machine["gpus"][:1]
    return machine


class SyncControl:
    """The mapped file that tells the preload library what to do."""

    def __init__(self, path):
        self.path = path
        with open(path, "wb") as control:
            control.write(bytes(24))
        os.chown(path, sitekit.AGENT_UID, sitekit.AGENT_UID)
        self.file = open(path, "r+b")
        self.memory = mmap.mmap(self.file.fileno(), 24)

    def arm(self, kill_at):
        self.memory[0:24] = struct.pack("qqq", 0, 0, kill_at)
        self.memory[0:8] = struct.pack("q", 1)

    def disarm(self):
        self.memory[0:8] = struct.pack("q", 0)

    def counted(self):
        return struct.unpack("q", self.memory[8:16])[0]


def essence(node):
    """The end of a run, without what differs from machine to machine."""
    kept = {k: node[k] for k in ("state", "failedFrom", "maintenance", "trust", "generation",
                                 "fencedRun", "tenantRoot", "role", "powerOffOwed", "lease",
                                 "failure")}
    kept["evidenceAccepted"] = node["cleanRun"] != ""
    return kept


class KillPoints(SiteTest):
    timeouts = {"power_off_s": 20, "power_on_s": 20, "call_home_s": 30}

    @classmethod
    def machines(cls):
        return [small("k%03d" % i, i) for i in range(1, MACHINES + 1)]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.control = SyncControl(cls.site.path("kill-control"))
        library = os.path.join(os.path.dirname(support.BIN_DIR), "lib", PRELOAD)
        target = cls.site.path(PRELOAD)
        with open(library, "rb") as source, open(target, "wb") as out:
            out.write(source.read())
        os.chmod(target, 0o755)
        cls.environment = {"LD_PRELOAD": target, "LEASEHOLD_KILL_CONTROL": cls.control.path}
        cls.next_machine = iter(m["name"] for m in cls.site.machines)
        cls.restart(cls.environment)
        cls.measure()

    @classmethod
    def restart(cls, environment=None):
        if "agent" in cls.site.processes:
            cls.site.kill("agent")
        cls.site.start_agent(environment)
        sitekit.wait_for("the gateway is connected",
                         lambda: cls.site.status()["gateway"] == "connected", 20, 0.01)

    @classmethod
    def effects(cls):
        return cls.site.sim("GET", "/effects")[1]["effects"]

    @classmethod
    def measure(cls):
        """The undisturbed run: how many journal writes, how many effects, and its end."""
        name = next(cls.next_machine)
        cls.site.adopt(name)
        before = len(cls.effects())
        cls.control.arm(0)
        run = cls.site.wait_run(cls.site.work(name, "release"))
        cls.control.disarm()
        assert run["state"] == "succeeded", run
        cls.syncs = cls.control.counted()
        cls.effect_names = [e["what"] for e in cls.effects()[before:]]
        cls.expected = essence(cls.site.node(name))
        # The points are those of the journal: at least a commit per step, and each kind of effect.
        assert cls.syncs >= len(run["steps"]), (cls.syncs, len(run["steps"]))
        for kind in ("ComputerSystem.Reset", "Accounts", "Systems/1", "format"):
            assert any(kind in what for what in cls.effect_names), (kind, cls.effect_names)
        print("undisturbed: %d journal writes, %d effects: %s" %
              (cls.syncs, len(cls.effect_names), cls.effect_names), flush=True)

    def killed_and_resumed(self, name):
        """Waits for the kill, starts the agent again, waits for the end."""
        process = self.site.processes["agent"]
        deadline = time.monotonic() + 30
        while process.poll() is None:
            runs = self.site.sim_machine(name)
            if time.monotonic() > deadline:
                return None
            time.sleep(0.005)
            del runs
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.site.processes.pop("agent")
        self.restart(self.environment)
        return True

    def assert_same_end(self, name):
        def ended():
            status = self.site.status()
            node = next(n for n in status["nodes"] if n["node"] == name)
            return node if not status["runs"] and node["state"] != "releasing" else None
        sitekit.wait_for("the run of %s ends" % name, ended, 60, 0.02)
        self.assertEqual(essence(self.site.node(name)), self.expected)
        self.assertEqual(self.site.tenant_bytes(name), 0)
        self.assertEqual(self.site.sim_machine(name)["power"], "Off")
        run = self.site.node(name)["cleanRun"]
        file = self.site.path("evidence.json")
        self.site.export_evidence(run, file)
        self.assertEqual(self.site.verify(file).returncode, 0)

    def begin(self, name):
        """Asks for the release; the agent may die before it answers, then it is asked again."""
        try:
            self.site.work(name, "release", "w-" + name)
        except (OSError, sitekit.SiteError):
            pass
        except Exception as error:  # http.client's own, of a connection cut in the answer
            if "http" not in type(error).__module__:
                raise

    def test_killed_after_every_journal_write(self):
        for point in range(1, self.syncs + 1):
            name = next(self.next_machine)
            with self.subTest(write=point):
                self.site.adopt(name)
                self.control.arm(point)
                self.begin(name)
                hit = self.killed_and_resumed(name)
                self.control.disarm()
                self.assertTrue(hit, "journal write %d of %d was not reached" % (point, self.syncs))
                self.begin(name)
                self.assert_same_end(name)
        print("journal-first: killed after each of %d journal writes" % self.syncs, flush=True)

    def test_killed_between_every_effect_and_its_record(self):
        for point, what in enumerate(self.effect_names, 1):
            name = next(self.next_machine)
            with self.subTest(effect=what):
                self.site.adopt(name)
                number = len(self.effects()) + point
                self.site.sim("POST", "/kill", {"pid": self.site.processes["agent"].pid,
                                                "effect": number})
                self.begin(name)
                hit = self.killed_and_resumed(name)
                self.assertTrue(hit, "effect %d (%s) was not reached" % (point, what))
                self.assert_same_end(name)
        print("journal-first: killed between each of %d effects and its record" %
              len(self.effect_names), flush=True)


if __name__ == "__main__":
    support.main()
