"""What the end-to-end tests share: a site for each test case, and assertions with readable words.
They run as root (sitekit.as_root); a test program takes the folder of the built programs as its one argument."""

import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import sitekit  # noqa: E402,F401

BIN_DIR = None


def main():
    """unittest's main with the folder of programs taken off the command line first."""
    global BIN_DIR
    if len(sys.argv) < 2:
        sys.exit("usage: %s BIN_DIR [test names]" % sys.argv[0])
    sitekit.as_root(os.path.basename(sys.argv[0]))
    BIN_DIR = sys.argv.pop(1)
    # The modules see this one, not the copy that unittest would import.
    sys.modules["support"].BIN_DIR = BIN_DIR
    unittest.main(module="__main__", verbosity=2)


class SiteTest(unittest.TestCase):
    """One site per test class, its machines made by `machines()`."""

    site = None
    timeouts = {"power_off_s": 3, "power_on_s": 3, "call_home_s": 6,
                "ramdisk_silent_s": 9}
    policy = None
    with_centre = False

    @classmethod
    def machines(cls):
        return [sitekit.machine("m1", 1)]

    @classmethod
    def setUpClass(cls):
        cls.site = sitekit.Site(sys.modules["support"].BIN_DIR, cls.machines(),
                                timeouts=cls.timeouts, policy=cls.policy,
                                with_centre=cls.with_centre)
        try:
            cls.site.start()
        except Exception:
            for name in cls.site.processes:
                print(name + ": " + cls.site.log_tail(name), file=sys.stderr)
            if cls.site.centre is not None:
                print("coordinator: " + cls.site.centre.log_tail(), file=sys.stderr)
            cls.site.stop()
            raise

    @classmethod
    def tearDownClass(cls):
        cls.site.stop(keep=bool(os.environ.get("LEASEHOLD_KEEP")))

    def release(self, name, seconds=60):
        """Adopts, releases and waits: the finished run's row."""
        self.site.adopt(name)
        return self.site.wait_run(self.site.work(name, "release"), seconds)

    def assert_quarantined(self, name, code):
        node = self.site.node(name)
        self.assertEqual(node["failure"]["code"] if node["failure"] else None, code, node["failure"])
        self.assertEqual(node["state"], "failed")
        self.assertEqual(node["failedFrom"], "releasing")
        self.assertTrue(node["maintenance"])
        self.assertTrue(node["tenantRoot"])
        self.assertEqual(node["trust"], "tenant-controlled")
        self.assertEqual(node["generation"], 7)

    def assert_clean(self, name):
        node = self.site.node(name)
        self.assertEqual((node["state"], node["trust"], node["generation"], node["tenantRoot"],
                          node["lease"], node["powerOffOwed"]),
                         ("ready", "platform", 8, False, "", False), node)
        self.assertEqual(self.site.tenant_bytes(name), 0)
        self.assertEqual(self.site.sim_machine(name)["power"], "Off")

    def wait_off(self, name, seconds=30):
        sitekit.wait_for("owed power-off of " + name,
                         lambda: not self.site.node(name)["powerOffOwed"], seconds)
        self.assertEqual(self.site.sim_machine(name)["power"], "Off")
