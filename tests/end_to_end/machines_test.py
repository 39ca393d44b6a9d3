#!/usr/bin/python3
"""Machines and BMCs that misbehave: each ends where it must, with its own code, and a quarantined one
owes power-off until it is read. One machine per case, all in one site, so that one never waits for
another."""

import json
import re
import urllib.error
import urllib.request

import support
from support import SiteTest, sitekit

PATCH_ACCOUNT = {"on": "bmc", "method": "PATCH", "path": "/redfish/v1/AccountService/Accounts/*"}
RESET = {"on": "bmc", "method": "POST", "path": "/redfish/v1/Systems/*/Actions/ComputerSystem.Reset"}


def faulty(name, number, *faults, **changes):
    rules = [{"id": name + "-" + str(i), "args": {}, "after": 0, "count": -1, **rule}
             for i, rule in enumerate(faults)]
    return sitekit.machine(name, number, faults=rules, **changes)


class Machines(SiteTest):
    @classmethod
    def machines(cls):
        return [
            sitekit.machine("clean", 1),
            faulty("stays-on", 2, {**RESET, "action": "ignore-then-ok"}),
            faulty("refuses-password", 3,
                   {**PATCH_ACCOUNT, "action": "status", "args": {"code": 400}}),
            faulty("says-it-did-not", 4,
                   {**PATCH_ACCOUNT, "action": "apply-then-status", "args": {"code": 500},
                    "count": 1}),
            faulty("answers-nothing", 5,
                   {**PATCH_ACCOUNT, "action": "apply-without-reply", "count": 1}),
            faulty("says-it-did", 6, {**PATCH_ACCOUNT, "action": "ignore-then-ok"}),
            faulty("never-boots", 7, {"on": "machine", "method": "", "path": "*",
                                      "action": "no-boot"}),
            faulty("boots-its-disk", 8, {"on": "machine", "method": "", "path": "*",
                                         "action": "boots-disk"}),
            faulty("dies", 9, {"on": "tool", "method": "format", "path": "*", "action": "dies"}),
            faulty("lies", 10, {"on": "tool", "method": "format", "path": "*", "action": "lie"}),
            # Longer than its ramdisk may be silent; it is not, it sends telemetry.
            faulty("slow-erase", 17, {"on": "tool", "method": "format", "path": "*",
                                      "action": "latency", "args": {"ms": 12000}, "count": 1}),
            faulty("skips-diagnosis", 11, {"on": "tool", "method": "diag", "path": "*",
                                           "action": "lie",
                                           "args": {"test": "Inforom", "status": "Skip"}}),
            faulty("claimed-twice", 14, {"on": "machine", "method": "", "path": "*",
                                         "action": "no-boot"}),
            sitekit.machine("no-baseline", 15),
            faulty("stays-off", 16, {**RESET, "action": "ignore-then-ok",
                                     "body": {"ResetType": "On"}}),
            sitekit.machine("drifted", 12, firmware={**sitekit.FIRMWARE, "BIOS": "2.3.9"}),
            sitekit.machine("no-version", 13, firmware={**sitekit.FIRMWARE, "BIOS": ""}),
        ]

    def hits(self, name):
        rules = self.site.sim("GET", "/faults")[1]["faults"]
        return sum(rule["hits"] for rule in rules if rule["id"].startswith(name + "-"))

    def fails(self, name, code, faulted=True):
        self.release(name)
        self.assert_quarantined(name, code)
        if faulted:
            self.assertGreater(self.hits(name), 0, "the fault was never exercised")

    def test_a_clean_machine_is_ready(self):
        run = self.release("clean")
        self.assertEqual(run["state"], "succeeded", run)
        self.assert_clean("clean")

    def test_a_wipe_longer_than_a_ramdisk_may_be_silent(self):
        run = self.release("slow-erase")
        self.assertEqual(run["state"], "succeeded", run)
        self.assertEqual(self.hits("slow-erase"), 1)
        self.assert_clean("slow-erase")

    def test_a_bmc_that_accepts_off_and_stays_on(self):
        self.fails("stays-on", "POWER_NOT_OFF")
        self.assertTrue(self.site.node("stays-on")["powerOffOwed"])
        # The debt is pursued: once the BMC obeys, it is paid without anybody's help.
        self.site.sim("DELETE", "/machines/stays-on/faults")
        self.wait_off("stays-on", 40)

    def test_a_refused_password_leaves_the_old_one_current(self):
        self.fails("refuses-password", "ROTATION_REFUSED")
        self.wait_off("refuses-password")

    def test_a_bmc_that_took_the_password_and_says_it_did_not(self):
        self.assertEqual(self.release("says-it-did-not")["state"], "succeeded")
        self.assertEqual(self.hits("says-it-did-not"), 1)
        self.assert_clean("says-it-did-not")

    def test_a_bmc_that_took_the_password_and_answers_nothing(self):
        self.assertEqual(self.release("answers-nothing")["state"], "succeeded")
        self.assertEqual(self.hits("answers-nothing"), 1)
        self.assert_clean("answers-nothing")

    def test_a_bmc_that_says_it_took_the_password_and_did_not(self):
        # It may know it later (quirk A11): both are kept, and recover tries each.
        self.fails("says-it-did", "ROTATION_SPLIT")
        self.wait_off("says-it-did")

    def test_a_machine_that_never_boots(self):
        self.fails("never-boots", "RAMDISK_NO_CALL_HOME")
        self.wait_off("never-boots")

    def test_a_boot_that_is_claimed_twice(self):
        """Two machines ask for one run document: only the first gets it, and the run fails."""
        self.site.adopt("claimed-twice")
        run = self.site.work("claimed-twice", "release")
        script_url = "http://127.0.0.1:%d/boot/52:54:00:77:00:0e" % self.site.boot_port

        def script():
            try:
                with urllib.request.urlopen(script_url, timeout=5) as answer:
                    return answer.read().decode()
            except urllib.error.HTTPError:
                return None
        text = sitekit.wait_for("the boot script", script)
        self.assertTrue(text.startswith("#!ipxe"))
        self.assertNotIn("token", text)
        document_url = re.search(r"leasehold\.run=(\S+)", text).group(1)
        with urllib.request.urlopen(document_url, timeout=5) as answer:
            self.assertEqual(json.load(answer)["run"], run)
        with self.assertRaises(urllib.error.HTTPError) as second:
            urllib.request.urlopen(document_url, timeout=5)
        self.assertEqual(second.exception.code, 410)
        second.exception.close()
        self.site.wait_run(run)
        self.assert_quarantined("claimed-twice", "BOOT_CLAIMED_TWICE")
        self.wait_off("claimed-twice")

    def test_a_machine_that_boots_its_own_disk(self):
        self.fails("boots-its-disk", "RAMDISK_NO_CALL_HOME")
        self.wait_off("boots-its-disk")
        self.assertGreater(self.site.tenant_bytes("boots-its-disk"), 0)

    def test_a_machine_that_dies_in_the_middle(self):
        self.fails("dies", "RAMDISK_LOST")
        self.wait_off("dies")

    def test_a_disk_that_lies(self):
        self.fails("lies", "WIPE_UNVERIFIED")
        self.wait_off("lies")
        self.assertGreater(self.site.tenant_bytes("lies"), 0)

    def test_a_skipped_diagnosis_is_no_pass(self):
        self.fails("skips-diagnosis", "DIAG_FAILED")
        self.wait_off("skips-diagnosis")

    def test_a_pool_without_a_baseline(self):
        self.site.tell({"table": "pool_policy", "schema": 1, "pool": "no-baseline", "revision": 1,
                        "agent": "ramdisk", "policy": {"hardwareProfile": sitekit.PROFILE,
                                                       "tenantRoot": True}})
        self.site.adopt("no-baseline", pool="no-baseline")
        self.site.wait_run(self.site.work("no-baseline", "release"))
        self.assert_quarantined("no-baseline", "INVALID_CONFIG")
        self.wait_off("no-baseline")

    def test_a_machine_that_does_not_power_on(self):
        self.fails("stays-off", "POWER_NOT_ON")

    def test_drifted_firmware_names_the_component(self):
        self.fails("drifted", "FIRMWARE_DRIFT", faulted=False)
        message = self.site.node("drifted")["failure"]["message"]
        for part in ("bios", "2.3.9", "2.4.1"):
            self.assertIn(part, message)
        self.wait_off("drifted")

    def test_a_component_without_a_version_is_unknown(self):
        self.fails("no-version", "FIRMWARE_UNKNOWN", faulted=False)
        self.wait_off("no-version")


class Recover(SiteTest):
    @classmethod
    def machines(cls):
        return [faulty("lies", 1, {"on": "tool", "method": "format", "path": "*", "action": "lie"})]

    def test_recover_runs_the_whole_teardown_again(self):
        first = self.release("lies")
        self.assert_quarantined("lies", "WIPE_UNVERIFIED")
        self.wait_off("lies")
        self.site.sim("DELETE", "/machines/lies/faults")
        second = self.site.wait_run(self.site.work("lies", "recover"))
        self.assertEqual(second["state"], "succeeded", second)
        self.assertNotEqual(first["run"], second["run"])
        self.assertEqual(second["steps"][0]["place"], "power.setPower/off")
        self.assert_clean("lies")
        # F11: maintenance stays on until an operator lifts it.
        self.assertTrue(self.site.node("lies")["maintenance"])
        self.site.agent_command("node", "maintenance", "lies", "off")
        self.assertFalse(self.site.node("lies")["maintenance"])


if __name__ == "__main__":
    support.main()
