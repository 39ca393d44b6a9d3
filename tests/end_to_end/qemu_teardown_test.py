#!/usr/bin/python3
"""One teardown of a real virtual machine: the real leasehold-ramdisk is the first process of a real
Debian kernel in QEMU, joins at the real gateway, formats a real (emulated) NVMe disk with the real
nvme-cli, reads it back and signs. Its BMC is simsite's; this test is the firmware: it fetches the boot
script when the BMC powers on, and cuts QEMU's power when the BMC does.

    tests/end_to_end/qemu_teardown_test.py BIN_DIR KERNEL_CACHE
"""

import json
import os
import re
import shutil
import sys
import threading
import time
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import qemu_machine  # noqa: E402
import support  # noqa: E402
from support import sitekit  # noqa: E402

SERIAL = "NV001"
MODEL = "QEMU NVMe Ctrl"
MIB = 64
BOOT_SECONDS = 240  # TCG on a busy host; 3 s on an idle one


class QemuSite(sitekit.Site):
    """A site whose one machine is a BMC of simsite's in front of QEMU."""

    def __init__(self, bin_dir, cache, **changes):
        super().__init__(bin_dir, [self.described()], **changes)
        self.cache = cache

    @staticmethod
    def described():
        # simsite's machine keeps its BMC and its power; what boots is not its own.
        never = {"id": "qemu", "on": "machine", "method": "", "path": "*", "action": "no-boot",
                 "args": {}, "after": 0, "count": -1}
        return sitekit.machine("q1", 16, gpus=[], faults=[never])

    def _prepare_image(self):
        self.image = self.path("image")
        etc = self.path("etc")
        os.makedirs(os.path.join(self.image, "etc"))
        os.makedirs(etc)
        shutil.copy(os.path.join(self.ca, "root.pem"), etc)
        self._write_json(os.path.join(etc, "image.json"),
                         {"domain": sitekit.DOMAIN, "site": sitekit.SITE, "image": ""})
        self._write_json(os.path.join(etc, "network.json"), qemu_machine.GUEST_NETWORK)
        built = qemu_machine.build_image(support.ROOT, os.path.join(self.bin, "leasehold-ramdisk"),
                                         etc, self.image, self.cache)
        shutil.copytree(etc, os.path.join(self.image, "etc", "leasehold"))
        print("image: %s" % built)

    def prepare(self):
        super().prepare()
        # The guest sees this host's loopback at another address.
        self._change(self.agent_config, lambda c: c["gateway"].update(
            address=qemu_machine.HOST_SEEN_BY_GUEST), sitekit.AGENT_UID)
        self._change(self.path("bootd", "bootd.json"), lambda c: c.update(
            public_url="http://%s:%d" % (qemu_machine.HOST_SEEN_BY_GUEST, self.boot_port)))

    def _change(self, path, edit, uid=0):
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        edit(content)
        self._write_json(path, content, uid=uid)


def wwid():
    return "nvme.1b36-%s-%s-00000001" % (SERIAL.encode().hex(), MODEL.encode().hex())


class Firmware(threading.Thread):
    """Powers QEMU as the BMC's PowerState says, and boots it as the boot script says."""

    def __init__(self, site, disk):
        super().__init__(daemon=True)
        self.site, self.disk = site, disk
        self.machine = None
        self.boots = 0
        self.done = False
        self.log = site.path("serial.log")

    def run(self):
        armed = False
        while not self.done:
            on = self.site.sim_machine("q1")["power"] == "On"
            if not on:
                armed = True
                self.power_off()
            if on and armed and self.machine is None:
                self.boot()
            time.sleep(0.1)
        self.power_off()

    def power_off(self):
        if self.machine is not None:
            self.machine.power_off()
            self.machine = None

    def boot(self):
        url = "http://127.0.0.1:%d/boot/%s" % (self.site.boot_port, "52:54:00:77:00:10")
        try:
            with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=5):
                pass
            with urllib.request.urlopen(url, timeout=5) as answer:
                script = answer.read().decode()
        except OSError:
            return  # nothing armed: it would boot its disk
        run_url = re.search(r"leasehold\.run=(\S+)", script).group(1)
        self.boots += 1
        self.machine = qemu_machine.QemuMachine(
            os.path.join(self.site.image, "vmlinuz"), os.path.join(self.site.image, "ramdisk.img"),
            run_url, self.log, [(SERIAL, self.disk)])


def adoption(site):
    facts = site.site_facts["q1"]
    return {
        "node": "q1", "pool": sitekit.POOL, "generation": 7, "bootMac": "52:54:00:77:00:10",
        "lease": {"lease": "lease-q1", "tenant": "acme"},
        "bmc": {"url": facts["url"], "user": "admin", "tlsPin": facts["tls_pin"],
                "passwordFile": site.machines[0]["bmc"]["password_file"]},
        "disks": [{"serial": SERIAL, "wwn": wwid(), "model": MODEL, "capacity_bytes": MIB << 20,
                   "transport": "nvme", "hidden_areas": "none"}],
        "gpus": []}


def teardown(site, disk):
    file = site.path("q1-adoption.json")
    site._write_json(file, adoption(site))
    site.agent_command("node", "adopt", file)
    firmware = Firmware(site, disk)
    firmware.start()
    started = time.monotonic()
    run = site.work("q1", "release")
    row = site.wait_run(run, BOOT_SECONDS)
    firmware.done = True
    firmware.join()
    assert row["state"] == "succeeded", "the run: %s %s\n%s" % (
        row["code"], row["message"], open(firmware.log, errors="replace").read()[-3000:])
    print("teardown of a virtual machine: %.1f s, %d boots" % (time.monotonic() - started,
                                                               firmware.boots))
    node = site.node("q1")
    assert node["state"] == "ready" and node["generation"] == 8, node
    with open(disk, "rb") as raw:
        content = raw.read()
    assert b"tenant bytes" not in content, "the tenant's bytes are still on the disk"
    evidence = site.path("evidence.json")
    site.export_evidence(run, evidence)
    verified = site.verify(evidence)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    print(verified.stdout)
    assert "nvme" in verified.stdout.lower()


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: %s BIN_DIR KERNEL_CACHE" % sys.argv[0])
    site = QemuSite(sys.argv[1], os.path.abspath(sys.argv[2]),
                    timeouts={"power_off_s": 30, "power_on_s": 30, "call_home_s": BOOT_SECONDS})
    failed = True
    try:
        site.start()
        disk = site.path("nvme.raw")
        qemu_machine.write_tenant_disk(disk, MIB)
        teardown(site, disk)
        failed = False
    finally:
        if failed:
            print(site.log_tail("agent", 20), site.log_tail("gateway", 5), file=sys.stderr)
        site.stop(keep=failed and bool(os.environ.get("LEASEHOLD_KEEP")))


if __name__ == "__main__":
    main()
