#!/usr/bin/python3
"""A site and its coordinator, the real programs: the link cut and mended, agents killed, restored
and cloned, and servers that are not the coordinator."""

import json
import os
import shutil
import signal
import sys
import time
import unittest

import support
from support import sitekit

TAKEOVER_S = 30  # limits::kTakeoverWaitMs


class CentreTest(unittest.TestCase):
    """One site with a coordinator per class; its machines are m1, m2, ..."""

    count = 1

    @classmethod
    def setUpClass(cls):
        machines = [sitekit.machine("m%d" % n, n) for n in range(1, cls.count + 1)]
        cls.site = sitekit.Site(sys.modules["support"].BIN_DIR, machines, with_centre=True,
                                timeouts={"power_off_s": 3, "power_on_s": 3, "call_home_s": 6,
                                          "ramdisk_silent_s": 9})
        try:
            cls.site.start()
        except Exception:
            for name in cls.site.processes:
                print(name + ": " + cls.site.log_tail(name), file=sys.stderr)
            cls.site.stop()
            raise
        cls.centre = cls.site.centre

    @classmethod
    def tearDownClass(cls):
        cls.site.stop(keep=bool(os.environ.get("LEASEHOLD_KEEP")))

    def standing(self, socket_path=None):
        try:
            status = sitekit.call(socket_path or self.site.agent_socket, "GET", "/v1/status")[1]
        except OSError:
            return ""
        return status["coordinator"]["standing"]

    def wait_standing(self, word, seconds=20, socket_path=None):
        sitekit.wait_for("the agent is " + word, lambda: self.standing(socket_path) == word, seconds)

    def central_node(self, name):
        return self.centre.json("node", "show", name)

    def wait_central(self, name, what, check, seconds=20):
        return sitekit.wait_for("%s at the coordinator: %s" % (name, what),
                                lambda: check(self.central_node(name)), seconds, 0.2)

    def adopt(self, name):
        self.site.adopt(name)
        sitekit.wait_for(name + " is known to the coordinator", lambda: name in json.dumps(
            self.centre.json("node", "list")), 20, 0.2)

    def effects(self):
        return len(self.site.sim("GET", "/effects")[1]["effects"])

    def open_run(self, name):
        return next((run["run"] for run in self.site.status()["runs"] if run["node"] == name), None)

    def clone(self, folder):
        """The agent's whole home, its vault key and start counter included, for a second agent."""
        home = self.site.path(folder)
        shutil.copytree(self.site.path("agent"), home,
                        ignore=lambda path, names: [n for n in names if n.endswith(".sock")])
        for base, _, names in os.walk(home):
            for name in ["", *names]:
                os.chown(os.path.join(base, name), sitekit.AGENT_UID, sitekit.AGENT_UID)
        with open(self.site.agent_config, encoding="utf-8") as file:
            text = file.read().replace(self.site.path("agent") + "/", home + "/")
        config = os.path.join(home, "agent.json")
        self.site._write_json(config, json.loads(text), uid=sitekit.AGENT_UID)
        return config, os.path.join(home, "run", "agent.sock")

    def start_other(self, config):
        self.site.start_process("other", sitekit.AGENT_UID,
                                os.path.join(self.site.bin, "leasehold-agent"), "serve", "--config",
                                config)


class Link(CentreTest):
    count = 2

    def test_the_local_socket_takes_no_rows(self):
        status, answer = sitekit.call(self.site.agent_socket, "POST", "/v1/rows", {"rows": [
            {"table": "node_admin", "schema": 1, "node": "m1", "cordon": True}]})
        self.assertEqual((status, answer["code"]), (403, "FORBIDDEN"))
        self.assertIn(self.centre.url, answer["message"])

    def test_a_release_with_the_coordinator_away_in_its_middle(self):
        self.adopt("m1")
        self.centre.leasehold("node", "release", "m1", "--yes")
        run = sitekit.wait_for("a run of m1", lambda: self.open_run("m1"))
        self.centre.stop(signal.SIGKILL)
        self.assertEqual(self.site.wait_run(run)["state"], "succeeded")
        self.assertIn("ready, not cleared", self.site.agent_command("status").stdout)
        self.centre.start()
        self.wait_central("m1", "cleared", lambda node: node["clearance"] == "clean")
        sitekit.wait_for("the site knows that it is cleared", lambda: "ready, cleared" in
                         self.site.agent_command("status").stdout)
        bundle = self.site.path("m1.bundle")
        self.site.export_evidence(run, bundle)
        with open(bundle, encoding="utf-8") as file:
            self.assertIsNotNone(json.load(file)["receipt"])

    def test_an_agent_killed_in_a_release(self):
        self.adopt("m2")
        self.centre.leasehold("node", "release", "m2", "--yes")
        run = sitekit.wait_for("a run of m2", lambda: self.open_run("m2"))
        for _ in range(3):
            self.site.kill("agent")
            self.site.start_agent()
        self.assertEqual(self.site.wait_run(run)["state"], "succeeded")
        self.wait_central("m2", "cleared", lambda node: node["clearance"] == "clean")

    def test_a_server_that_is_not_the_coordinator(self):
        """The gateway has a certificate under the same root, of another kind and host."""
        with open(self.site.agent_config, encoding="utf-8") as file:
            good = json.load(file)
        self.site.kill("agent", signal.SIGTERM)
        wrong = dict(good, coordinator={"url": self.centre.url,
                                        "address": "127.0.0.1:%d" % self.site.gateway_port})
        self.site._write_json(self.site.agent_config, wrong, uid=sitekit.AGENT_UID)
        try:
            self.site.start_agent()
            error = sitekit.wait_for("an error", lambda: self.site.status()["coordinator"]["error"])
            self.assertIn("TLS was refused", error)
            self.assertFalse(self.site.status()["coordinator"]["connected"])
        finally:
            self.site.kill("agent", signal.SIGTERM)
            self.site._write_json(self.site.agent_config, good, uid=sitekit.AGENT_UID)
            self.site.start_agent()
        self.wait_standing("acting")


class Copies(CentreTest):
    count = 2

    def test_a_restored_database_touches_no_machine_before_it_has_its_rows(self):
        self.adopt("m1")
        self.site.fault("m1", id="stuck", on="machine", action="no-boot", count=-1)
        self.centre.leasehold("node", "release", "m1", "--yes")
        run = sitekit.wait_for("a run of m1", lambda: self.open_run("m1"))
        sitekit.wait_for("it waits for the ramdisk", lambda: self.site.run_row(run)["place"]
                         .startswith("metal.ensureRamdisk"))
        self.site.kill("agent")
        state, backup = self.site.path("agent", "state"), self.site.path("backup")
        shutil.copytree(state, backup)
        self.site.start_agent()
        self.site.wait_run(run)
        sitekit.wait_for("it is off", lambda: not self.site.node("m1")["powerOffOwed"])
        self.wait_central("m1", "failed", lambda node: node["state"] == "failed")
        self.site.kill("agent")
        self.centre.stop()
        shutil.rmtree(state)
        shutil.copytree(backup, state)
        for name in ["", *os.listdir(state)]:
            os.chown(os.path.join(state, name), sitekit.AGENT_UID, sitekit.AGENT_UID)
        before = self.effects()
        self.site.start_agent()
        self.assertEqual(self.standing(), "restoring")
        self.assertEqual(self.site.run_row(run)["state"], "open")
        time.sleep(8)
        self.assertEqual(self.standing(), "restoring")
        self.assertEqual(self.effects(), before)
        self.centre.start()
        sitekit.wait_for("its rows are back",
                         lambda: self.site.run_row(run)["state"] == "failed", 20)
        self.assertEqual(self.effects(), before)
        self.assertEqual(self.standing(), "restoring")
        self.wait_standing("acting", TAKEOVER_S + 15)
        node = self.site.node("m1")
        self.assertEqual((node["state"], node["maintenance"]), ("failed", True))
        self.assertGreater(node["generation"], 1000)
        self.wait_central("m1", "its generation", lambda n: n["generation"] == node["generation"])

    def test_of_two_agents_one_acts(self):
        self.adopt("m2")
        self.site.kill("agent")
        config, other_socket = self.clone("other")
        self.site.start_agent()
        self.wait_standing("acting")
        self.start_other(config)
        self.wait_standing("superseded")
        self.wait_standing("restoring", socket_path=other_socket)
        self.assertIn("stop this one", self.site.agent_command("status").stdout.lower())
        self.wait_standing("acting", TAKEOVER_S + 15, other_socket)
        self.centre.leasehold("node", "release", "m2", "--yes")
        run = sitekit.wait_for("the other's run", lambda: next(
            (r["run"] for r in sitekit.call(other_socket, "GET", "/v1/status")[1]["runs"]), None))
        self.assertEqual(sitekit.call(self.site.agent_socket, "GET", "/v1/runs/" + run)[0], 404)
        self.assertEqual(self.site.status()["runs"], [])
        # Started again it stays what it is: only another join makes it the site's agent.
        self.site.kill("agent")
        self.site.start_agent()
        self.wait_standing("superseded")
        self.assertEqual(self.standing(other_socket), "acting")
        self.site.kill("other")

    def test_two_agents_with_one_vault_key_do_not_both_start(self):
        with open(self.site.agent_config, encoding="utf-8") as file:
            second = json.load(file)
        second["state_dir"] = self.site.path("agent", "state2")
        second["local_socket"] = self.site.path("agent", "run", "second.sock")
        path = self.site.path("second.json")
        self.site._write_json(path, second, uid=sitekit.AGENT_UID)
        self.start_other(path)
        self.assertEqual(self.site.processes["other"].wait(20), 1)
        self.assertIn("another agent runs with the vault key", self.site.log_tail("other"))


class CutOff(CentreTest):
    def test_a_copy_waits_for_an_agent_that_is_cut_off(self):
        """Stopped like a box whose line is down: it may act again at any moment."""
        config, other_socket = self.clone("late")
        os.kill(self.site.processes["agent"].pid, signal.SIGSTOP)
        try:
            self.start_other(config)
            why = sitekit.wait_for("it waits for the former agent", lambda: next(
                (word for word in [self.why(other_socket)] if "takeover" in word), None), TAKEOVER_S + 20)
            self.assertIn("leasehold site takeover s1", why)
            self.assertEqual(self.standing(other_socket), "restoring")
            self.assertIn("takeover", self.centre.leasehold("status", check=False).stdout)
            unsure = self.centre.leasehold("site", "takeover", "s1", check=False)
            self.assertEqual(unsure.returncode, 2, unsure.stderr)
            self.centre.leasehold("site", "takeover", "s1", "--yes")
            self.wait_standing("acting", 20, other_socket)
        finally:
            os.kill(self.site.processes["agent"].pid, signal.SIGCONT)
        self.wait_standing("superseded")
        self.site.kill("other")

    def why(self, socket_path):
        try:
            return sitekit.call(socket_path, "GET", "/v1/status")[1]["coordinator"]["why"]
        except OSError:
            return ""


if __name__ == "__main__":
    support.main()
