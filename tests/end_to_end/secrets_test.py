#!/usr/bin/python3
"""No secret in clear anywhere: after a teardown, the BMC's old and new password, the vault key and the
token are looked for in every file of the site, every log and every process's argv and environment."""

import base64
import glob
import json
import os
import re
import threading
import time
import urllib.error
import urllib.request

import support
from support import SiteTest, sitekit


def files_below(folder):
    for base, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(base, name)
            if os.path.isfile(path) and not os.path.islink(path):
                yield path


class Secrets(SiteTest):
    @classmethod
    def machines(cls):
        # One is taken back, one refuses the new password and echoes what it was sent (quirk P6).
        echo = {"id": "P6", "on": "bmc", "method": "PATCH",
                "path": "/redfish/v1/AccountService/Accounts/*", "action": "status",
                "args": {"code": 400, "echo": True}, "after": 0, "count": -1}
        # The third one never boots: the test fetches its run document, to know its token.
        never = {"id": "never", "on": "machine", "method": "", "path": "*", "action": "no-boot",
                 "args": {}, "after": 0, "count": -1}
        # And the two that the demo quarantines: a drifted BIOS, a disk that lies.
        lies = {"id": "DK3", "on": "tool", "method": "format", "path": "nvme*", "action": "lie",
                "args": {}, "after": 0, "count": -1}
        return [sitekit.machine("m1", 1), sitekit.machine("m2", 2, faults=[echo]),
                sitekit.machine("m3", 3, faults=[never]),
                sitekit.machine("m4", 4, firmware={**sitekit.FIRMWARE, "BIOS": "2.3.9"}),
                sitekit.machine("m5", 5, faults=[lies])]

    def fetch_token(self):
        self.site.adopt("m3")
        run = self.site.work("m3", "release")
        url = "http://127.0.0.1:%d/boot/52:54:00:77:00:03" % self.site.boot_port

        def script():
            try:
                with urllib.request.urlopen(url, timeout=5) as answer:
                    return answer.read().decode()
            except urllib.error.HTTPError:
                return None
        text = sitekit.wait_for("the boot script", script)
        document = re.search(r"leasehold\.run=(\S+)", text).group(1)
        with urllib.request.urlopen(document, timeout=5) as answer:
            token = json.load(answer)["token"]
        with open(self.site.path("m3.token"), "w", encoding="utf-8") as out:
            out.write(token)
        self.site.wait_run(run)

    def secrets(self):
        """What must not be found: (what it is, its bytes)."""
        found = [("factory password of " + name, secret.encode())
                 for name, secret in self.site.passwords.items()]
        with open(self.site.path("agent", "vault.key"), encoding="utf-8") as key:
            found.append(("vault key", key.read().strip().encode()))
        for name in ("m1", "m4", "m5"):
            new = self.site.sim("GET", "/machines/%s/secrets" % name)[1]["passwords"]["admin"]
            self.assertNotEqual(new, self.site.passwords[name], "the password was not rotated")
            found.append(("rotated password of " + name, new.encode()))
        sent = self.site.sim("GET", "/machines/m2/secrets")[1]["sent_passwords"]
        found += [("password sent to m2", secret.encode()) for secret in sent]
        with open(self.site.path("m3.token"), encoding="utf-8") as token:
            found.append(("join token of m3", token.read().encode()))
        found += [(what + " as base64", base64.b64encode(secret)) for what, secret in list(found)]
        return found

    def allowed(self, path, what):
        """The places where a secret must be: its own file, and the BMC itself."""
        inside = os.path.relpath(path, self.site.folder)
        if inside.startswith("sim/"):
            # The BMC's own memory of its password; what our ramdisk printed there is ours.
            return not inside.endswith("console.log")
        return inside == "m3.token" or (inside == "agent/vault.key" and "vault key" in what)

    def watch_processes(self):
        """Looks at every process's argv and environment while the runs go on."""
        self.seen = set()
        self.done = threading.Event()

        def watch():
            while not self.done.is_set():
                for process in glob.glob("/proc/[0-9]*"):
                    for name in ("cmdline", "environ"):
                        try:
                            with open(os.path.join(process, name), "rb") as file:
                                self.seen.add(file.read())
                        except OSError:
                            pass
                time.sleep(0.02)
        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.done.set)

    def test_no_secret_in_any_file_or_process(self):
        self.watch_processes()
        self.assertEqual(self.release("m1")["state"], "succeeded")
        self.assertEqual(self.release("m2")["code"], "ROTATION_REFUSED")
        self.assertEqual(self.release("m4")["code"], "FIRMWARE_DRIFT")
        self.assertEqual(self.release("m5")["code"], "WIPE_UNVERIFIED")
        self.fetch_token()
        self.site.agent_command("status")
        self.site.export_evidence(self.site.node("m1")["cleanRun"], self.site.path("evidence.json"))
        secrets = self.secrets()
        self.assertGreaterEqual(len(secrets), 20)
        looked = 0
        for path in files_below(self.site.folder):
            with open(path, "rb") as file:
                content = file.read()
            looked += 1
            for what, secret in secrets:
                if secret in content and not self.allowed(path, what):
                    self.fail("%s stands in %s" % (what, path))
        self.assertGreater(looked, 20)
        self.assertGreater(len(self.seen), 10)
        for content in self.seen:
            for what, secret in secrets:
                self.assertNotIn(secret, content, "%s stands in a process's /proc" % what)

    def test_key_files_are_their_owners_alone(self):
        for path in files_below(self.site.folder):
            if re.search(r"\.key$", path):
                self.assertEqual(os.stat(path).st_mode & 0o077, 0, path)


if __name__ == "__main__":
    support.main()
