#!/usr/bin/python3
"""The simulated BMC judged by other people's clients: redfishtool and sushy, as Debian packs them,
drive power, boot override, accounts and inventory on it. What they understand, a driver may."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
import warnings

import support
from support import sitekit

import sushy

PASSWORD = "factory-12345"
# A bundle of this machine's own would win over verify=False.
for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
    os.environ.pop(name, None)


class BmcClients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="bmc-clients-")
        here = lambda name: os.path.join(cls.folder, name)
        bin_dir = support.BIN_DIR
        with open(here("password"), "w", encoding="utf-8") as out:
            out.write(PASSWORD + "\n")
        os.chmod(here("password"), 0o600)
        described = sitekit.machine("m1", 1, power="Off")
        described["bmc"]["password_file"] = here("password")
        cls.control = here("control.sock")
        with open(here("site.json"), "w", encoding="utf-8") as out:
            json.dump({"state_dir": here("state"), "control_socket": cls.control,
                       "ramdisk_program": "/bin/true",
                       "shims_dir": os.path.join(bin_dir, "shims"), "image_dir": here("image"),
                       "boot_url": "http://127.0.0.1:1", "machines": [described]}, out)
        cls.program = subprocess.Popen(
            [os.path.join(bin_dir, "leasehold-simsite"), "--config", here("site.json")],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        facts = here("state/site.json")
        sitekit.wait_for("the simulated site is up", lambda: os.path.exists(facts))
        with open(facts, encoding="utf-8") as found:
            cls.url = json.load(found)["machines"][0]["url"]

    @classmethod
    def tearDownClass(cls):
        cls.program.terminate()
        assert cls.program.wait(10) == 0
        shutil.rmtree(cls.folder)

    def power(self):
        return sitekit.call(self.control, "GET", "/machines/m1")[1]["power"]

    def boot(self):
        return sitekit.call(self.control, "GET", "/machines/m1")[1]["boot"]

    # -- redfishtool

    def redfishtool(self, *arguments, auth="Basic", password=PASSWORD, check=True):
        done = subprocess.run(
            ["redfishtool", "-A", auth, "-S", "Always", "-u", "admin", "-p", password, "-r",
             self.url[len("https://"):], *arguments],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)
        if check:
            self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return done

    def test_redfishtool_switches_power(self):
        for wanted, power in (("On", "On"), ("ForceRestart", "On"), ("ForceOff", "Off")):
            self.redfishtool("Systems", "-1", "reset", wanted, auth="Session")
            self.assertEqual(self.power(), power)
        self.assertNotEqual(self.redfishtool("Systems", "-1", "reset", "Nmi", check=False).returncode,
                            0)
        self.assertEqual(self.power(), "Off")

    def test_redfishtool_sets_the_boot_override(self):
        self.redfishtool("Systems", "-1", "setBootOverride", "Once", "Pxe")
        self.assertEqual(self.boot(), {"target": "Pxe", "enabled": "Once"})
        self.redfishtool("Systems", "-1", "setBootOverride", "Disabled", "None")
        self.assertEqual(self.boot()["enabled"], "Disabled")

    def test_redfishtool_lists_accounts_and_changes_a_password(self):
        listed = json.loads(self.redfishtool("AccountService", "Accounts", "list").stdout)
        self.assertEqual(listed["Members@odata.count"], 2)
        self.assertIn("admin", json.dumps(listed))
        self.redfishtool("AccountService", "setpassword", "admin", "another-1234")
        refused = self.redfishtool("Systems", check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.redfishtool("AccountService", "setpassword", "admin", PASSWORD,
                         password="another-1234")
        self.redfishtool("Systems")

    def test_redfishtool_leaves_no_session_behind(self):
        before = sitekit.call(self.control, "GET", "/machines/m1")[1]["sessions"]
        self.redfishtool("Chassis", "-1", auth="Session")
        self.redfishtool("Managers", "-1", auth="Session")
        self.assertEqual(sitekit.call(self.control, "GET", "/machines/m1")[1]["sessions"], before)

    # -- sushy

    def sushy(self, password=PASSWORD):
        warnings.simplefilter("ignore")  # urllib3's about the certificate
        return sushy.Sushy(self.url, username="admin", password=password, verify=False)

    def test_sushy_reads_the_machine(self):
        root = self.sushy()
        systems = root.get_system_collection().get_members()
        self.assertEqual(len(systems), 1)
        system = systems[0]
        self.assertEqual(system.serial_number, "SIM-m1")
        self.assertEqual(system.bios_version, "2.4.1")
        self.assertEqual(list(system.ethernet_interfaces.summary), ["52:54:00:77:00:01"])
        self.assertEqual(system.managers[0].firmware_version, "1.12.0")
        self.assertEqual(len(system.chassis), 1)
        versions = {item.identity: item.version
                    for item in root.get_update_service().firmware_inventory.get_members()}
        self.assertEqual(versions, sitekit.FIRMWARE)

    def test_sushy_switches_power_and_boot(self):
        system = self.sushy().get_system("/redfish/v1/Systems/1")
        self.assertEqual(system.get_allowed_reset_system_values(),
                         {sushy.ResetType.ON, sushy.ResetType.FORCE_OFF,
                          sushy.ResetType.FORCE_RESTART, sushy.ResetType.GRACEFUL_SHUTDOWN})
        system.set_system_boot_options(sushy.BootSource.PXE, sushy.BootSourceOverrideEnabled.ONCE,
                                       mode=sushy.BootSourceOverrideMode.UEFI)
        self.assertEqual(self.boot(), {"target": "Pxe", "enabled": "Once"})
        system.reset_system(sushy.ResetType.ON)
        system.refresh(force=True)
        self.assertEqual(system.power_state, sushy.PowerState.ON)
        # The firmware finds no script and falls to the disk; the override is used up.
        sitekit.wait_for("the override is consumed",
                         lambda: self.boot() == {"target": "None", "enabled": "Disabled"})
        system.reset_system(sushy.ResetType.FORCE_OFF)
        system.refresh(force=True)
        self.assertEqual(system.power_state, sushy.PowerState.OFF)
        with self.assertRaises(sushy.exceptions.HTTPError):
            system.reset_system(sushy.ResetType.FORCE_RESTART)

    def test_sushy_is_refused_with_a_wrong_password(self):
        with self.assertRaises(sushy.exceptions.AccessError):
            self.sushy("wrong-password").get_system_collection()


if __name__ == "__main__":
    support.main()
