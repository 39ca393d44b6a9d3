#!/usr/bin/python3
"""Law journal-first: the agent is killed with SIGKILL after every journal write of a teardown, and of an
enrolment, and
between each effect on the world and its record, started again, and always reaches the same end. The
points come from an undisturbed run; a point that is not hit fails the test. What was durable at each
death is read from the dead agent's database: every record of the undisturbed run's journal must lie
in a commit after which one was killed."""

import http.client
import itertools
import json
import mmap
import os
import shutil
import signal
import sqlite3
import ssl
import struct
import time
import unittest

import support
from support import SiteTest, sitekit

# Each point takes a machine of its own, so that one site serves all of them.
MACHINES = int(os.environ.get("LEASEHOLD_KILL_MACHINES", "120"))
PRELOAD = "kill_at_sync.so"
# How often a commit that no death has shown yet is aimed at once more, over all commits: door and
# engine may share a write on one machine and not on the next.
SECOND_AIMS = 40

# The steps that have an effect on the world, in their order, and what it looks like there. Fencing,
# the firmware check and the exit change only rows.
EFFECTS = [("power.setPower/off", "ComputerSystem.Reset: reset ForceOff"),
           ("metal.rotateBmcCredential", "password of account"),
           ("bmc.sweep", "session deleted"),
           ("metal.ensureRamdisk", "boot override Pxe Once"),
           ("metal.ensureRamdisk", "ComputerSystem.Reset: reset On"),
           ("disk.wipe", "nvme format"),
           ("diag.dcgm", "--gpu-reset"),
           ("power.setPower/park", "ComputerSystem.Reset: reset ForceOff"),
           ("boot.cleanUp", "boot override None Disabled")]
# An enrolment logs in, and takes the credential over, before it switches anything.
ENROL_EFFECTS = [EFFECTS[1], EFFECTS[2], EFFECTS[0], *EFFECTS[3:]]


def small(name, number):
    machine = sitekit.machine(name, number)
    machine["mac"] = "52:54:00:78:%02x:%02x" % (number // 256, number % 256)
    for disk in machine["disks"]:
        disk["size_mib"] = 3
    machine["disks"] = machine["disks"][:1]
    machine["gpus"] = machine["gpus"][:1]
    # The override survives the boot, so that the cleanup has one to clear.
    machine["faults"] = [{"id": "B7-" + name, "on": "machine", "method": "", "path": "*",
                          "action": "keeps-override", "args": {}, "after": 0, "count": -1}]
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


def not_in_order(effects, names):
    """The first of these steps whose effect is not among the names after those before it."""
    at = 0
    for step, effect in effects:
        while at < len(names) and effect not in names[at]:
            at += 1
        if at == len(names):
            return step + ": " + effect
        at += 1
    return None


class KillPoints(SiteTest):
    """Of a teardown; a subclass asks for another workflow."""
    timeouts = {"power_off_s": 20, "power_on_s": 20, "call_home_s": 30}
    effects_in_order = EFFECTS

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
    def prepare(cls, name):
        """A machine with a session that somebody left open on its BMC."""
        url = cls.site.site_facts[name]["url"]
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        bmc = http.client.HTTPSConnection(url.split("//")[1], timeout=10, context=context)
        bmc.request("POST", "/redfish/v1/SessionService/Sessions", body=json.dumps(
            {"UserName": "admin", "Password": cls.site.passwords[name]}),
            headers={"Content-Type": "application/json"})
        answer = bmc.getresponse()
        assert answer.status == 201, (answer.status, answer.read())
        bmc.close()
        cls.take_in(name)

    @classmethod
    def take_in(cls, name):
        cls.site.adopt(name)

    @classmethod
    def ask(cls, name):
        """Asks for the run, which it answers; the same again is no second one."""
        return cls.site.work(name, "release", "w-" + name)

    @classmethod
    def journal(cls, name):
        """The journal's records of the machine's run, as a dead or idle agent has left them."""
        copy = cls.site.path("journal-copy")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(cls.site.path("agent", "state"), copy)
        database = sqlite3.connect(os.path.join(copy, "site.db"))
        try:
            opened = database.execute("SELECT run, body FROM journal WHERE kind='opened'").fetchall()
            runs = [run for run, body in opened if json.loads(body)["node"] == name]
            return [(kind, place) for run in runs for kind, place in database.execute(
                "SELECT kind, place FROM journal WHERE run=? ORDER BY seq", (run,))]
        finally:
            database.close()

    @classmethod
    def measure(cls):
        """The undisturbed run: its journal, how many writes, which effects, and its end."""
        name = next(cls.next_machine)
        cls.prepare(name)
        before = len(cls.effects())
        cls.control.arm(0)
        run = cls.site.wait_run(cls.ask(name))
        cls.control.disarm()
        assert run["state"] == "succeeded", run
        cls.syncs = cls.control.counted()
        cls.effect_names = [e["what"] for e in cls.effects()[before:]]
        cls.expected = essence(cls.site.node(name))
        cls.records = cls.journal(name)
        cls.died_at = {}  # how many of these records were durable -> a write after which it was so
        places = [place for kind, place in cls.records if kind == "done"]
        assert places == [step["place"] for step in run["steps"]], (places, run["steps"])
        missing = not_in_order(cls.effects_in_order, cls.effect_names)
        assert missing is None, (missing, cls.effect_names)
        for step, _ in cls.effects_in_order:
            assert step in places, (step, places)
        print("undisturbed: %d journal writes, %d effects: %s" %
              (cls.syncs, len(cls.effect_names), cls.effect_names), flush=True)

    def is_ready(self, name):
        try:
            return self.site.node(name).get("state") == "ready"
        except (OSError, http.client.HTTPException):
            return False  # it dies just now

    def killed_and_resumed(self, name, point=None, must=True):
        """Waits for the kill, looks at what is durable, and starts the agent again."""
        process = self.site.processes["agent"]
        deadline = time.monotonic() + 30
        while process.poll() is None:
            if (not must and self.is_ready(name)) or time.monotonic() > deadline:
                return None
            time.sleep(0.005)
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.site.processes.pop("agent")
        durable = self.journal(name)
        self.assertEqual(durable, self.records[:len(durable)])
        if point is not None:
            self.died_at[len(durable)] = point
        self.restart(self.environment)
        return True

    def assert_same_end(self, name):
        def ended():
            status = self.site.status()
            node = next(n for n in status["nodes"] if n["node"] == name)
            return node if not status["runs"] and node["state"] not in (
                "releasing", "enrolling") else None
        sitekit.wait_for("the run of %s ends" % name, ended, 60, 0.02)
        self.assertEqual(essence(self.site.node(name)), self.expected)
        self.assertEqual(self.site.tenant_bytes(name), 0)
        self.assertEqual(self.site.sim_machine(name)["power"], "Off")
        run = self.site.node(name)["cleanRun"]
        file = self.site.path("evidence.json")
        self.site.export_evidence(run, file)
        self.assertEqual(self.site.verify(file).returncode, 0)

    def begin(self, name):
        """Asks for the run; the agent may die before it answers, then it is asked again."""
        try:
            self.ask(name)
        except (OSError, sitekit.SiteError):
            pass
        except Exception as error:  # http.client's own, of a connection cut in the answer
            if "http" not in type(error).__module__:
                raise

    def test_killed_after_every_journal_write(self):
        for point in range(1, self.syncs + 1):
            name = next(self.next_machine)
            with self.subTest(write=point):
                self.killed_at_write(name, point)
        self.assert_each_record_was_last()
        print("journal-first: killed after each of %d journal writes, which hold the %d records" %
              (self.syncs, len(self.records)), flush=True)

    def killed_at_write(self, name, point, must=True):
        self.prepare(name)
        self.control.arm(point)
        self.begin(name)
        hit = self.killed_and_resumed(name, point, must)
        self.control.disarm()
        if must:
            self.assertTrue(hit, "journal write %d of %d was not reached" % (point, self.syncs))
        self.begin(name)
        self.assert_same_end(name)

    def commits(self):
        """The records in groups: what ends a place is written together with what comes next."""
        ends = [n for n in range(1, len(self.records) + 1)
                if n == len(self.records) or self.records[n][0] != "started"
                or self.records[n - 1][0] != "done"]
        return ends

    def aims_at(self, end):
        """The writes after which this record may be the newest, the likeliest first."""
        near = [point for count, point in self.died_at.items() if abs(count - end) <= 4]
        low, high = max(min(near) - 1, 1), max(near) + 1
        return sorted(range(low, high + 1), key=lambda point: abs(2 * point - low - high))

    def assert_each_record_was_last(self):
        """No commit of the journal without a death right after it."""
        left = SECOND_AIMS
        for end in self.commits():
            aims = itertools.cycle(self.aims_at(end))
            while end not in self.died_at and left > 0:
                self.killed_at_write(next(self.next_machine), next(aims), must=False)
                left -= 1
            self.assertIn(end, self.died_at, "nobody was killed right after %s of %s" %
                          self.records[end - 1])
        for count in self.died_at:
            self.assertIn(count, [0] + self.commits(), "a commit was torn: %s" %
                          (self.records[count - 1:count + 1],))

    def test_killed_between_every_effect_and_its_record(self):
        for point, what in enumerate(self.effect_names, 1):
            name = next(self.next_machine)
            with self.subTest(effect=what):
                self.prepare(name)
                number = len(self.effects()) + point
                self.site.sim("POST", "/kill", {"pid": self.site.processes["agent"].pid,
                                                "effect": number})
                self.begin(name)
                hit = self.killed_and_resumed(name)
                self.assertTrue(hit, "effect %d (%s) was not reached" % (point, what))
                self.assert_same_end(name)
        print("journal-first: killed between each of %d effects and its record" %
              len(self.effect_names), flush=True)


class EnrolKillPoints(KillPoints):
    """The same of metal-enrol@1, for machines from their boxes."""
    effects_in_order = ENROL_EFFECTS

    @classmethod
    def machines(cls):
        machines = super().machines()
        for machine in machines:
            machine["bmc"]["change_required"] = True
        return machines

    @classmethod
    def take_in(cls, name):
        """Nothing is known of it before it is asked for."""

    @classmethod
    def ask(cls, name):
        described = next(m for m in cls.site.machines if m["name"] == name)
        status, answer = sitekit.call(cls.site.agent_socket, "POST", "/v1/enrolments", {
            "enrolments": [{"node": name, "pool": sitekit.POOL,
                            "bmc": {"url": cls.site.site_facts[name]["url"],
                                    "user": described["bmc"]["user"],
                                    "password": cls.site.passwords[name]}}]})
        if status != 200:
            raise sitekit.SiteError("enrolment of %s refused: %s" % (name, answer))
        return answer["enrolments"][0]["run"]


if __name__ == "__main__":
    support.main()
