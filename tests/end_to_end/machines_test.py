#!/usr/bin/python3
"""Machines and BMCs that misbehave: each ends where it must, with its own code, and a quarantined one
owes power-off until it is read. One machine per case, all in one site, so that one never waits for
another."""

import base64
import json
import re
import ssl
import urllib.error
import urllib.request

import support
from support import SiteTest, sitekit

PATCH_ACCOUNT = {"on": "bmc", "method": "PATCH", "path": "/redfish/v1/AccountService/Accounts/*"}
OTHER_ACCOUNT = {"on": "bmc", "path": "/redfish/v1/AccountService/Accounts/3"}
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
            sitekit.machine("reports", 18),
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
            sitekit.machine("more-accounts", 19),
            faulty("fixed-slots", 20, {**OTHER_ACCOUNT, "method": "DELETE", "action": "status",
                                       "args": {"code": 405}}),
            faulty("keeps-account", 21,
                   {**OTHER_ACCOUNT, "method": "DELETE", "action": "ignore-then-ok"},
                   {**OTHER_ACCOUNT, "method": "PATCH", "action": "ignore-then-ok"}),
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

    def test_the_first_report_under_platform_trust_is_applied(self):
        self.site.adopt("reports")
        self.assertIsNone(self.site.node("reports")["inventory"])
        run = self.site.wait_run(self.site.work("reports", "release"))
        self.assertEqual(run["state"], "succeeded", run)
        node, facts = self.site.node("reports"), self.site.site_facts["reports"]
        self.assertEqual({disk["serial"] for disk in node["inventory"]["disks"]},
                         {disk["serial"] for disk in facts["disks"]})
        # It is this run's, as its ramdisk signed it, and no report of the tenant's time.
        file = self.site.path("reports-evidence.json")
        self.site.export_evidence(run["run"], file)
        self.assertEqual(self.site.verify(file).returncode, 0)
        with open(file, encoding="utf-8") as bundle:
            envelopes = [signed["envelope"] for signed in json.load(bundle)["results"]]
        said = [json.loads(base64.b64decode(envelope["payload"]))["predicate"]
                for envelope in envelopes]
        self.assertIn(node["inventory"], [{k: v for k, v in predicate.items()
                                           if k in node["inventory"]} for predicate in said])

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

    def redfish(self, name, method, path, body=None, user="admin", password=None):
        """Asks a machine's BMC as somebody who knows a password of it."""
        if password is None:
            password = self.site.sim("GET", "/machines/%s/secrets" % name)[1]["passwords"][user]
        token = base64.b64encode(("%s:%s" % (user, password)).encode()).decode()
        request = urllib.request.Request(
            self.site.site_facts[name]["url"] + path, method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": "Basic " + token, "Content-Type": "application/json"})
        context = ssl._create_unverified_context()
        with urllib.request.urlopen(request, timeout=10, context=context) as answer:
            return json.loads(answer.read() or b"null")

    def add_account(self, name):
        """A tenant's second administrator, which no rotation of our password touches."""
        self.redfish(name, "POST", "/redfish/v1/AccountService/Accounts",
                     {"UserName": "tenant", "Password": "tenants-own-1",
                      "RoleId": "Administrator"})
        self.redfish(name, "GET", "/redfish/v1/Systems", user="tenant", password="tenants-own-1")

    def assert_shut_out(self, name):
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.redfish(name, "GET", "/redfish/v1/Systems", user="tenant",
                         password="tenants-own-1")
        self.assertEqual(refused.exception.code, 401)
        refused.exception.close()

    def test_a_tenants_account_in_the_bmc_is_gone(self):
        self.add_account("more-accounts")
        run = self.release("more-accounts")
        self.assertEqual(run["state"], "succeeded", run)
        self.assert_clean("more-accounts")
        self.assert_shut_out("more-accounts")
        users = [account["user"] for account in self.site.sim_machine("more-accounts")["accounts"]]
        self.assertEqual(users, ["admin"])

    def test_a_tenants_account_in_a_fixed_slot_is_disabled(self):
        self.add_account("fixed-slots")
        run = self.release("fixed-slots")
        self.assertEqual(run["state"], "succeeded", run)
        self.assertGreater(self.hits("fixed-slots"), 0)
        self.assert_clean("fixed-slots")
        self.assert_shut_out("fixed-slots")

    def test_a_bmc_that_keeps_a_tenants_account(self):
        self.add_account("keeps-account")
        self.release("keeps-account", 90)
        self.assert_quarantined("keeps-account", "BMC_ACCOUNT_LEFT")
        self.assertGreater(self.hits("keeps-account"), 1)
        self.wait_off("keeps-account")

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
