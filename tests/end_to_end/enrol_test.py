#!/usr/bin/python3
"""metal-enrol@1 and metal-inspect@1 end to end: machines from their boxes become ready behind evidence
that anyone can verify, and each that is not what it should be ends failed with its own code, with its
credentials kept. One machine per case, all in one site."""

import glob
import json
import os
import re

import support
from support import SiteTest, sitekit


def fresh(name, number, *faults, **changes):
    """A machine as it leaves its box: the factory's password must be changed first."""
    rules = [{"id": name + "-" + str(i), "args": {}, "after": 0, "count": -1, **rule}
             for i, rule in enumerate(faults)]
    machine = sitekit.machine(name, number, faults=rules, **changes)
    machine["bmc"]["change_required"] = True
    return machine


def used(name, number, *faults, **changes):
    machine = fresh(name, number, *faults, **changes)
    machine["bmc"]["change_required"] = False
    return machine


PATCH_ACCOUNT = {"on": "bmc", "method": "PATCH", "path": "/redfish/v1/AccountService/Accounts/*"}
LOCKOUT = {"on": "bmc", "method": "POST", "path": "*", "action": "lockout",
           "args": {"after": 5, "seconds": 600}}


class EnrolTest(SiteTest):
    """What the cases need: the command, and what it left behind."""

    def bmc(self, name):
        described = next(m for m in self.site.machines if m["name"] == name)
        return self.site.site_facts[name]["url"], described["bmc"]["password_file"]

    def csv_file(self, name, *lines):
        file = self.site.path(name)
        with open(file, "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")
        return file

    def enrol(self, name, *more, password_file=None, check=False):
        url, kept = self.bmc(name)
        return self.site.agent_command("enrol", "--pool", sitekit.POOL, "--name", name, "--bmc", url,
                                       "--user", "admin", "--password-file",
                                       password_file or kept, *more, check=check)

    def passwords_kept(self, name):
        """The vault opens the BMC: an inspection or the owed power-off shows it by logging in."""
        secrets = self.site.sim("GET", "/machines/%s/secrets" % name)[1]
        return secrets["passwords"]["admin"]

    def assert_enrolled(self, name, done=None):
        node = self.site.node(name)
        self.assertEqual((node["state"], node["trust"], node["generation"], node["tenantRoot"],
                          node["lease"], node["powerOffOwed"], node["maintenance"]),
                         ("ready", "platform", 1, False, "", False, False),
                         (node, done and done.stdout + done.stderr))
        self.assertEqual(self.site.tenant_bytes(name), 0)
        machine = self.site.sim_machine(name)
        self.assertEqual(machine["power"], "Off")
        self.assertEqual(machine["sessions"], 0)
        self.assertNotEqual(self.passwords_kept(name), self.site.passwords[name])
        file = self.site.path(name + "-evidence.json")
        self.site.export_evidence(node["cleanRun"], file)
        verified = self.site.verify(file)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        with open(file, encoding="utf-8") as bundle:
            self.assertEqual(json.load(bundle)["lease"], "")
        return node

    def assert_failed(self, name, code, done=None):
        node = self.site.node(name)
        self.assertEqual(node["failure"] and node["failure"]["code"], code,
                         (node["failure"], done and done.stdout + done.stderr))
        self.assertEqual((node["state"], node["failedFrom"], node["maintenance"], node["cleanRun"]),
                         ("failed", "enrolling", True, ""))
        if done is not None:
            self.assertEqual(done.returncode, 1)
            self.assertIn(code, done.stdout)
        return node


class Enrol(EnrolTest):
    @classmethod
    def machines(cls):
        return [
            fresh("box1", 1), fresh("box2", 2),
            fresh("lies", 3, {"on": "tool", "method": "format", "path": "*", "action": "lie"}),
            fresh("drifted", 4, firmware={**sitekit.FIRMWARE, "BIOS": "2.3.9"}),
            used("wrong-password", 5, LOCKOUT),
            fresh("never-boots", 6, {"on": "machine", "method": "", "path": "*",
                                     "action": "no-boot"}),
            fresh("refuses", 7, {**PATCH_ACCOUNT, "action": "status", "args": {"code": 400}}),
            used("pinned", 8), used("leased", 9), used("spare1", 10), used("spare2", 11),
            used("mismatch", 12),
        ]

    def test_two_machines_from_their_boxes(self):
        """By CSV, progress printed, names made by the site or given, exit code 0."""
        url1, file1 = self.bmc("box1")
        url2, file2 = self.bmc("box2")
        os.rename(file2, self.site.path("box2.password"))
        listed = self.csv_file(
            "boxes.csv", "# the two of rack 7", "bmc,user,password_file,name",
            '%s,admin,"%s",box1' % (url1, file1), "", "%s/,admin,box2.password," % url2.upper()
            .replace("HTTPS", "https"))
        done = self.site.agent_command("enrol", "--csv", listed, "--pool", sitekit.POOL, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for place in ("bmc.serviceRoot", "metal.rotateBmcCredential", "bmc.probe",
                      "enrol.manifest", "metal.firmwareCheck", "disk.wipe", "diag.dcgm",
                      "enrol.accept", "power.setPower/park"):
            self.assertRegex(done.stdout, r"box1 .*%s +done +\d" % re.escape(place))
        node = self.assert_enrolled("box1", done)
        self.assertEqual(node["bmc"]["tlsPinFrom"], "first-use")
        self.assertEqual(node["bmc"]["tlsPin"], self.site.site_facts["box1"]["tls_pin"])
        self.assertEqual(node["bootMac"], "52:54:00:77:00:01")
        self.assertEqual(node["driver"]["name"], "redfish")
        self.assertIn("Redfish 1.17.0", node["driver"]["reason"])
        self.assertEqual(len(node["hardwareKey"]), 64)
        self.assertEqual([d["serial"] for d in node["disks"]], ["SN001A", "SN001B"])
        self.assertEqual(len(node["gpus"]), 2)
        other = [n for n in self.site.status()["nodes"] if n["bmc"]["url"] == url2]
        self.assertEqual([n["state"] for n in other], ["ready"])
        self.assertNotEqual(other[0]["hardwareKey"], node["hardwareKey"])
        # Nothing that was printed or logged holds a password.
        secrets = self.site.sim("GET", "/machines/box1/secrets")[1]
        texts = done.stdout + done.stderr
        for log in glob.glob(self.site.path("*.log")):
            with open(log, encoding="utf-8", errors="replace") as text:
                texts += text.read()
        for secret in [self.site.passwords["box1"], *secrets["sent_passwords"],
                       *secrets["passwords"].values()]:
            self.assertNotIn(secret, texts)

    def test_a_wrong_line_enrols_nothing(self):
        url, file = self.bmc("spare1")
        other = self.bmc("spare2")[0]
        readable = self.site.path("readable.password")
        with open(readable, "w", encoding="utf-8") as out:
            out.write("x\n")
        os.chmod(readable, 0o644)
        nodes = len(self.site.status()["nodes"])
        listed = self.csv_file("wrong.csv", "name,bmc,user,password_file",
                               "spare1,%s,admin,%s" % (url, file),
                               "spare2,%s,admin,%s" % (other, readable),
                               "Spare3,http://10.0.0.1,admin", "spare1,%s,admin,%s" % (other, file),
                               "spare4,http://10.0.0.4,admin,%s" % file)
        done = self.site.agent_command("enrol", "--csv", listed, "--pool", sitekit.POOL, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("line 4: it has 3 fields", done.stderr)
        listed = self.csv_file("wrong.csv", "name,bmc,user,password_file",
                               "spare1,%s,admin,%s" % (url, file),
                               "spare2,%s,admin,%s" % (other, readable),
                               "spare1,%s,admin,%s" % (other, file),
                               "spare4,http://10.0.0.4,admin,%s" % file)
        done = self.site.agent_command("enrol", "--csv", listed, "--pool", sitekit.POOL, check=False)
        self.assertEqual(done.returncode, 1)
        for words in ("line 3: password_file: .*readable.password can be read by others", "line 4: name: spare1 stands in line 2",
                      "line 5: bmc: .*https"):
            self.assertRegex(done.stderr, words)
        # What only the agent knows is named by its line too, and the machine before it is not begun.
        listed = self.csv_file("pool.csv", "pool,bmc,user,password_file",
                               "%s,%s,admin,%s" % (sitekit.POOL, url, file),
                               "no-such-pool,%s,admin,%s" % (other, file))
        done = self.site.agent_command("enrol", "--csv", listed, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "line 3: this site was told no policy of pool no-such-pool")
        self.assertEqual(len(self.site.status()["nodes"]), nodes)

    def test_a_disk_that_lies_and_the_way_back(self):
        done = self.enrol("lies")
        self.assert_failed("lies", "WIPE_UNVERIFIED", done)
        self.wait_off("lies")
        self.assertNotEqual(self.passwords_kept("lies"), self.site.passwords["lies"])
        # No evidence of it is handed out.
        run = self.site.node("lies")["failure"]["run"]
        status, answer = sitekit.call(self.site.agent_socket, "GET", "/v1/runs/%s/evidence" % run)
        self.assertEqual((status, answer["code"]), (409, "CONFLICT"))
        self.site.sim("DELETE", "/machines/lies/faults")
        again = self.site.wait_run(self.site.work("lies", "recover"))
        self.assertEqual(again["state"], "succeeded", again)
        self.assertEqual(again["workflow"], "metal-enrol@1")
        node = self.site.node("lies")
        self.assertEqual((node["state"], node["maintenance"]), ("ready", True))
        self.assertEqual(self.site.tenant_bytes("lies"), 0)

    def test_drifted_firmware_is_found_before_anything_is_erased(self):
        done = self.enrol("drifted")
        node = self.assert_failed("drifted", "FIRMWARE_DRIFT", done)
        self.assertIn("2.3.9", node["failure"]["message"])
        self.assertGreater(self.site.tenant_bytes("drifted"), 0)
        self.wait_off("drifted")

    def test_a_wrong_password_is_sent_once(self):
        wrong = self.site.path("wrong.password")
        with open(wrong, "w", encoding="utf-8") as out:
            out.write("not-this-one-1\n")
        os.chmod(wrong, 0o600)
        done = self.enrol("wrong-password", password_file=wrong)
        self.assert_failed("wrong-password", "CREDENTIAL_REFUSED", done)
        # The owed power-off is pursued, and does not send it again.
        def tried():
            with open(self.site.path("agent.log"), encoding="utf-8", errors="replace") as log:
                return "not sent again" in log.read()
        sitekit.wait_for("the owed power-off was tried", tried, 20)
        self.assertEqual(self.site.sim_machine("wrong-password")["accounts"][0]["failed_logins"], 1)
        self.assertEqual(self.site.sim_machine("wrong-password")["power"], "On")
        # Nor does a recover; the right one, given again, is taken.
        run = self.site.wait_run(self.site.work("wrong-password", "recover"))
        self.assertEqual(run["code"], "CREDENTIAL_REFUSED", run)
        self.assertEqual(self.site.sim_machine("wrong-password")["accounts"][0]["failed_logins"], 1)
        done = self.enrol("wrong-password")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.site.node("wrong-password")["state"], "ready")

    def test_a_machine_that_does_not_call_home(self):
        done = self.enrol("never-boots")
        self.assert_failed("never-boots", "RAMDISK_NO_CALL_HOME", done)
        self.wait_off("never-boots")
        self.assertNotEqual(self.passwords_kept("never-boots"), self.site.passwords["never-boots"])

    def test_a_refused_takeover_keeps_the_factory_credential(self):
        done = self.enrol("refuses")
        self.assert_failed("refuses", "ROTATION_REFUSED", done)
        self.assertEqual(self.passwords_kept("refuses"), self.site.passwords["refuses"])
        self.site.sim("DELETE", "/machines/refuses/faults")
        again = self.site.wait_run(self.site.work("refuses", "recover"))
        self.assertEqual(again["state"], "succeeded", again)

    def test_a_pin_that_is_given_is_the_only_one(self):
        done = self.enrol("pinned", "--tls-pin", "ab" * 32)
        node = self.assert_failed("pinned", "BMC_UNREACHABLE", done)
        self.assertIn("not the pinned one", node["failure"]["message"])
        self.assertEqual(self.site.sim_machine("pinned")["effects"], 0)
        done = self.enrol("pinned", "--tls-pin", self.site.site_facts["pinned"]["tls_pin"].upper())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.site.node("pinned")["bmc"]["tlsPinFrom"], "given")

    def test_a_tenants_machine_gets_no_new_name(self):
        """Adopted as somebody's; its BMC asked for under another address and another name."""
        self.site.adopt("leased")
        url, file = self.bmc("leased")
        same = self.site.agent_command("enrol", "--pool", sitekit.POOL, "--bmc", url, "--user",
                                       "admin", "--password-file", file, check=False)
        self.assertEqual(same.returncode, 1)
        self.assertIn("node leased has this BMC already", same.stderr)
        alias = url.replace("127.0.0.1", "localhost")
        done = self.site.agent_command("enrol", "--pool", sitekit.POOL, "--name", "another", "--bmc",
                                       alias, "--user", "admin", "--password-file", file, check=False)
        node = self.assert_failed("another", "MACHINE_KNOWN", done)
        self.assertIn("belongs to node leased", node["failure"]["message"])
        self.assertIn("lease-leased", node["failure"]["message"])
        # Nothing was done to it: its tenant runs on, under his own BMC password.
        self.assertFalse(node["powerOffOwed"])
        machine = self.site.sim_machine("leased")
        self.assertEqual((machine["power"], machine["effects"]), ("On", 0))
        self.assertEqual(self.passwords_kept("leased"), self.site.passwords["leased"])
        # Its whole release, under its own name, is the way.
        run = self.site.wait_run(self.site.work("leased", "release"))
        self.assertEqual(run["state"], "succeeded", run)

    def test_a_machine_that_is_not_of_the_profile(self):
        self.site.tell(
            {"table": "hardware_profile", "schema": 1, "profile": "eight-gpus", "revision": 1,
             "components": {"bmc": {"ids": ["BMC"]}}, "machine": {"gpus": 8},
             "timeouts": {**self.timeouts, "off_reread_ms": 1}},
            {"table": "pool_policy", "schema": 1, "pool": "eight", "revision": 1, "agent": "ramdisk",
             "policy": {"hardwareProfile": "eight-gpus", "tenantRoot": True,
                        "firmwareBaseline": {"bmc": "1.12.0"}}})
        url, file = self.bmc("mismatch")
        done = self.site.agent_command("enrol", "--pool", "eight", "--name", "mismatch", "--bmc", url,
                                       "--user", "admin", "--password-file", file, check=False)
        node = self.assert_failed("mismatch", "HARDWARE_MISMATCH", done)
        self.assertIn("2 GPUs, the profile says 8", node["failure"]["message"])
        self.assertGreater(self.site.tenant_bytes("mismatch"), 0)


class Inspect(EnrolTest):
    @classmethod
    def machines(cls):
        return [fresh("well", 1), fresh("ill", 2), fresh("set-aside", 3)]

    def test_an_inspection_keeps_ready(self):
        self.enrol("well", check=True)
        before = self.site.node("well")
        run = self.site.wait_run(self.site.work("well", "inspect"))
        self.assertEqual((run["state"], run["workflow"]), ("succeeded", "metal-inspect@1"), run)
        node = self.site.node("well")
        self.assertEqual((node["state"], node["cleanRun"], node["generation"]),
                         ("ready", before["cleanRun"], before["generation"]))
        self.assertEqual(self.site.sim_machine("well")["power"], "Off")
        # Its evidence is the enrolment's still, and an inspection is none.
        status, answer = sitekit.call(self.site.agent_socket, "GET",
                                      "/v1/runs/%s/evidence" % run["run"])
        self.assertEqual((status, answer["code"]), (409, "CONFLICT"))

    def test_a_failed_inspection_quarantines_and_enrolment_is_the_way_back(self):
        self.enrol("ill", check=True)
        password = self.passwords_kept("ill")
        gpu = self.site.node("ill")["gpus"][1]
        self.site.fault("ill", id="gone", on="tool", method="", path="*nvidia-smi*", action="lie",
                        args={"missing": gpu}, after=0, count=-1)
        run = self.site.wait_run(self.site.work("ill", "inspect"))
        self.assertEqual(run["state"], "failed", run)
        node = self.site.node("ill")
        self.assertEqual((node["state"], node["failedFrom"], node["maintenance"]),
                         ("failed", "ready", True), node)
        self.assertEqual(node["failure"]["code"], "HARDWARE_MISMATCH")
        self.assertIn(gpu, node["failure"]["message"])
        self.wait_off("ill")
        self.site.sim("DELETE", "/machines/ill/faults")
        again = self.site.wait_run(self.site.work("ill", "recover"))
        self.assertEqual((again["state"], again["workflow"]), ("succeeded", "metal-enrol@1"), again)
        node = self.site.node("ill")
        self.assertEqual((node["state"], node["cleanRun"]), ("ready", again["run"]))
        # From its ramdisk on: the credential was the site's own already.
        self.assertEqual(self.passwords_kept("ill"), password)

    def test_maintenance_stops_inspections_and_quarantine_is_left_by_enrolment(self):
        self.enrol("set-aside", check=True)
        self.site.agent_command("node", "maintenance", "set-aside", "on")
        refused = self.site.agent_command("node", "inspect", "set-aside", check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("maintenance", refused.stderr)
        self.site.agent_command("node", "maintenance", "set-aside", "off")
        self.site.agent_command("node", "quarantine", "set-aside")
        self.assertEqual(self.site.node("set-aside")["failedFrom"], "ready")
        self.wait_off("set-aside")
        again = self.site.wait_run(self.site.work("set-aside", "recover"))
        self.assertEqual(again["state"], "succeeded", again)
        self.assertEqual(self.site.node("set-aside")["state"], "ready")


if __name__ == "__main__":
    support.main()
