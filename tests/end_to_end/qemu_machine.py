"""A real virtual machine (QEMU, TCG) that boots the platform ramdisk with a real kernel: for tests.

Owns one QEMU process and ends only that one. The guest reaches services on the host's loopback at
10.0.2.2 (QEMU's user-mode network); nothing leaves the host.
"""
import json
import os
import subprocess
import time

HOST_SEEN_BY_GUEST = "10.0.2.2"
GUEST_ADDRESS = "10.0.2.15"
GUEST_NETWORK = {"interface": "eth0", "address": GUEST_ADDRESS, "prefix": 24,
                 "gateway": HOST_SEEN_BY_GUEST}


def write_tenant_disk(path, mebibytes):
    """A disk file full of bytes that a tenant left."""
    block = (b"tenant bytes: these must be gone after the wipe. " * 21846)[:1 << 20]
    with open(path, "wb") as disk:
        for _ in range(mebibytes):
            disk.write(block)


class QemuMachine:
    def __init__(self, kernel, image, run_url, serial_log, nvme=(), mac="52:54:00:77:00:10",
                 memory_mib=512):
        """nvme: pairs (serial, path of the raw file)."""
        self.serial_log = serial_log
        open(serial_log, "wb").close()
        argv = ["qemu-system-x86_64", "-M", "q35", "-accel", "tcg,thread=multi,tb-size=64",
                "-cpu", "max", "-m", str(memory_mib), "-nodefaults", "-display", "none",
                "-monitor", "none", "-no-reboot", "-serial", "file:" + serial_log,
                "-kernel", kernel, "-initrd", image,
                "-append", "console=ttyS0 panic=-1 quiet leasehold.run=" + run_url,
                "-netdev", "user,id=n0", "-device", "virtio-net-pci,romfile=,netdev=n0,mac=" + mac,
                "-device", "virtio-rng-pci"]
        for number, (serial, path) in enumerate(nvme):
            argv += ["-drive", "file=%s,format=raw,if=none,id=d%d,discard=unmap" % (path, number),
                     "-device", "nvme,serial=%s,drive=d%d" % (serial, number)]
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.power_off()

    def power_off(self):
        """As a BMC cuts the power: at once."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def events(self):
        """The ramdisk's own log lines so far, parsed."""
        found = []
        with open(self.serial_log, "rb") as log:
            for line in log.read().decode("utf-8", "replace").splitlines():
                start = line.find("{")
                try:
                    event = json.loads(line[start:]) if start >= 0 else None
                except ValueError:
                    continue
                if isinstance(event, dict) and "event" in event:
                    found.append(event)
        return found

    def serial_text(self):
        with open(self.serial_log, "rb") as log:
            return log.read().decode("utf-8", "replace")

    def wait_for(self, condition, seconds, what):
        """Polls condition() until it is true; fails with the console's end if it never is."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if condition():
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError("%s did not happen within %d s; the console's end:\n%s" %
                             (what, seconds, self.serial_text()[-4000:]))


def build_image(source, program, etc, out, cache):
    """Runs the image builder; returns what it prints, as a dict."""
    printed = subprocess.run(
        [os.path.join(source, "tools/build-ramdisk-image"), "--program", program, "--etc", etc,
         "--out", out, "--cache", cache], check=True, stdout=subprocess.PIPE).stdout
    return json.loads(printed)
