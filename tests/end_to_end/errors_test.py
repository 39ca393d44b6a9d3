#!/usr/bin/python3
"""Bad input and a bad disk: each says what to do, exits non-zero, and leaves nothing half-written."""

import json
import os
import shutil
import socket
import subprocess
import time

import support
from support import SiteTest, sitekit


class Errors(SiteTest):
    """The agent is stopped; each case starts it with one thing wrong."""

    @classmethod
    def machines(cls):
        return [sitekit.machine("m1", 1), sitekit.machine("m3", 3)]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.site.adopt("m1")
        cls.site.kill("agent", 15)

    def serve(self, config=None, expect=1, **changes):
        """Runs the daemon until it ends by itself: its stderr."""
        with open(self.site.agent_config, encoding="utf-8") as file:
            content = config or {**json.load(file), **changes}
        path = self.site.path("broken.json")
        self.site._write_json(path, content, uid=sitekit.AGENT_UID)
        done = subprocess.run(
            [os.path.join(self.site.bin, "leasehold-agent"), "serve", "--config", path],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False,
            user=sitekit.AGENT_UID, group=sitekit.AGENT_UID, extra_groups=[])
        self.assertEqual(done.returncode, expect, done.stderr)
        return done.stderr

    def assert_still_works(self):
        self.site.start_agent()
        self.assertEqual(self.site.node("m1")["state"], "deployed")
        self.site.kill("agent", 15)

    def test_an_unknown_key_names_the_nearest(self):
        with open(self.site.agent_config, encoding="utf-8") as file:
            config = json.load(file)
        config["vault_keyfile"] = config.pop("vault_key_file")
        self.assertIn('did you mean "vault_key_file"', self.serve(config))

    def test_configuration_that_is_no_json(self):
        path = self.site.path("broken2.json")
        with open(path, "w", encoding="utf-8") as out:
            out.write('{"site": "s1",')
        done = self.site.run("leasehold-agent", "serve", "--config", path, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(path, done.stderr)

    def test_a_missing_vault_key(self):
        missing = self.site.path("agent", "no-such.key")
        text = self.serve(vault_key_file=missing)
        self.assertIn(missing, text)
        self.assertIn("leasehold-agent vault init", text)
        self.assertIn("backup", text)

    def test_a_vault_key_that_others_can_read(self):
        loose = self.site.path("agent", "loose.key")
        shutil.copy(self.site.path("agent", "vault.key"), loose)
        self.site._own(loose, sitekit.AGENT_UID, 0o644)
        self.assertIn("chmod 600", self.serve(vault_key_file=loose))

    def test_a_wrong_vault_key_is_not_taken_for_another_site(self):
        other = self.site.path("agent", "other.key")
        self.site.run("leasehold-agent", "vault", "init", other)
        self.site._own(other, sitekit.AGENT_UID, 0o600)
        self.assertIn("vault key", self.serve(vault_key_file=other))
        self.assert_still_works()

    def test_a_socket_in_use(self):
        path = self.site.path("agent", "run", "taken.sock")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as taken:
            taken.bind(path)
            taken.listen()
            os.chmod(path, 0o777)
            text = self.serve(local_socket=path)
        self.assertIn("in use", text)
        self.assertIn(path, text)

    def test_ports_in_use_say_which(self):
        for program, config, port in (
                ("leasehold-gateway", "gateway/gateway.json", self.site.gateway_port),
                ("leasehold-bootd", "bootd/bootd.json", self.site.boot_port)):
            done = self.site.run(program, "--config", self.site.path(*config.split("/")),
                                 check=False)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("127.0.0.1:%d" % port, done.stderr)
            self.assertIn("in use", done.stderr)

    def test_a_damaged_database(self):
        state = self.site.path("agent", "damaged")
        shutil.copytree(self.site.path("agent", "state"), state)
        for base, _, names in os.walk(state):
            os.chown(base, sitekit.AGENT_UID, sitekit.AGENT_UID)
            for name in names:
                os.chown(os.path.join(base, name), sitekit.AGENT_UID, sitekit.AGENT_UID)
        database = os.path.join(state, "site.db")
        for leftover in (database + "-wal", database + "-shm"):
            if os.path.exists(leftover):
                os.remove(leftover)
        with open(database, "r+b") as file:
            size = os.path.getsize(database)
            for at in range(1024, size, 2048):
                file.seek(at)
                file.write(b"\xff" * 512)
        before = open(database, "rb").read()
        text = self.serve(state_dir=state)
        self.assertIn(database, text)
        self.assertIn("backup", text)
        self.assertEqual(open(database, "rb").read(), before, "a damaged file was written to")

    def test_a_second_agent_on_the_same_database(self):
        self.site.start_agent()
        try:
            second = self.site.path("agent", "run", "second.sock")
            text = self.serve(local_socket=second)
            self.assertIn("another agent runs with the vault key", text)
            self.assertIn("stop it first", text)
            # Nor with a copy of the key.
            copied = self.site.path("agent", "copied.key")
            shutil.copy(self.site.path("agent", "vault.key"), copied)
            self.site._own(copied, sitekit.AGENT_UID, 0o600)
            self.assertIn("site.db", self.serve(local_socket=second, vault_key_file=copied))
        finally:
            self.site.kill("agent", 15)

    def test_a_wrong_password_file_of_an_adoption(self):
        self.site.start_agent()
        try:
            adoption = self.site.path("bad-adoption.json")
            with open(self.site.path("m1-adoption.json"), encoding="utf-8") as file:
                content = json.load(file)
            content["node"], content["lease"]["lease"] = "m2", "lease-m2"
            content["bmc"]["passwordFile"] = self.site.path("no-password")
            self.site._write_json(adoption, content)
            done = self.site.agent_command("node", "adopt", adoption, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("no-password", done.stderr)
            self.assertNotIn("m2", [n["node"] for n in self.site.status()["nodes"]])
        finally:
            self.site.kill("agent", 15)

    def test_a_wrong_password_fails_the_teardown_and_not_the_site(self):
        self.site.start_agent()
        try:
            described = self.site.machines[1]["bmc"]
            wrong = self.site.path("wrong-password")
            with open(wrong, "w", encoding="utf-8") as out:
                out.write("not-the-password\n")
            os.chmod(wrong, 0o600)
            described["password_file"] = wrong
            self.site.adopt("m3")
            run = self.site.wait_run(self.site.work("m3", "release"))
            self.assertEqual(run["state"], "failed")
            self.assertEqual(run["code"], "CREDENTIAL_REFUSED")
            self.assertEqual(self.site.node("m3")["state"], "failed")
        finally:
            self.site.kill("agent", 15)

    def test_rows_are_all_applied_or_none(self):
        self.site.start_agent()
        try:
            good = {"table": "work", "schema": 1, "work": "w-good", "node": "m1",
                    "kind": "maintenance", "on": True}
            self.assertFalse(self.site.node("m1")["maintenance"])
            for bad in ({"table": "nonsense", "schema": 1}, {"table": "node", "schema": 1},
                        {"table": "work", "schema": 9, "work": "w1", "node": "m1"},
                        {"table": "work", "schema": 1, "work": "W 1", "node": "m1"}, 7):
                status, answer = sitekit.call(self.site.agent_socket, "POST", "/v1/rows",
                                              {"rows": [good, bad]})
                self.assertIn(status, (400, 403), answer)
                self.assertIn("code", answer)
                self.assertFalse(self.site.node("m1")["maintenance"], bad)
            # The good one alone is applied, and its number was not used up.
            self.assertTrue(self.site.tell(good)[0]["accepted"])
            self.assertTrue(self.site.node("m1")["maintenance"])
            self.site.tell({**good, "work": "w-off", "on": False})
            status, answer = sitekit.call(self.site.agent_socket, "POST", "/v1/nodes/m1/commands",
                                          {"verb": "disk.wipe"})
            self.assertEqual((status, answer["code"]), (403, "tenant-controlled"))
        finally:
            self.site.kill("agent", 15)


class FullDisk(SiteTest):
    """The agent's state lies on a file system that becomes full in the middle of a teardown."""

    timeouts = {"power_off_s": 20, "power_on_s": 20, "call_home_s": 60, "ramdisk_silent_s": 60}

    @classmethod
    def machines(cls):
        # Long enough in its wipe for the disk to be filled meanwhile.
        slow = {"id": "slow", "on": "tool", "method": "format", "path": "*", "action": "latency",
                "args": {"ms": 3000}, "after": 0, "count": 1}
        return [sitekit.machine("m1", 1, faults=[slow])]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.site.kill("agent", 15)
        cls.state, kept = cls.site.path("agent", "state"), cls.site.path("agent", "kept")
        shutil.move(cls.state, kept)
        os.mkdir(cls.state)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m,mode=750,uid=%d" %
                        sitekit.AGENT_UID, "tmpfs", cls.state], check=True)
        for name in os.listdir(kept):
            shutil.copy2(os.path.join(kept, name), cls.state)
            os.chown(os.path.join(cls.state, name), sitekit.AGENT_UID, sitekit.AGENT_UID)
        cls.site.start_agent()
        sitekit.wait_for("the gateway is connected",
                         lambda: cls.site.status()["gateway"] == "connected")

    @classmethod
    def tearDownClass(cls):
        if "agent" in cls.site.processes:
            cls.site.kill("agent", 15)
        subprocess.run(["umount", cls.state], check=True)
        super().tearDownClass()

    def fill(self):
        """No byte is left, and the log that SQLite has made already is used up too."""
        ballast = os.path.join(self.state, "ballast")
        with open(ballast, "ab", buffering=0) as out:
            for piece in (1 << 20, 4096, 1):
                try:
                    while True:
                        out.write(bytes(piece))
                except OSError:
                    pass
        for number in range(400):
            filler = {"table": "node_admin", "schema": 1, "node": "x%d" % number,
                      "note": "x" * 200_000}
            status, answer = sitekit.call(self.site.agent_socket, "POST", "/v1/rows",
                                          {"rows": [filler]})
            if status != 200:
                return ballast, answer
        self.fail("the disk never became full")

    def journal_place(self, run):
        row = self.site.run_row(run)
        return (row["state"], row["place"], len(row["steps"]))

    def test_a_full_disk_loses_nothing(self):
        self.site.adopt("m1")
        run = self.site.work("m1", "release")
        sitekit.wait_for("the disks are being erased",
                         lambda: self.site.run_row(run)["place"] == "disk.wipe")
        ballast, answer = self.fill()
        self.assertEqual(answer["code"], "IO", answer)
        self.assertIn("space", answer["message"])
        self.assertEqual(self.journal_place(run)[:2], ("open", "disk.wipe"))
        stuck = self.journal_place(run)
        # The erasure is over by now, and its result cannot be written: nothing is invented.
        sitekit.wait_for("the disk is erased", lambda: self.site.tenant_bytes("m1") == 0, 30)
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            self.assertEqual(self.journal_place(run), stuck)
            time.sleep(0.1)
        node = self.site.node("m1")
        self.assertEqual((node["state"], node["trust"], node["tenantRoot"]),
                         ("releasing", "tenant-controlled", True))
        os.remove(ballast)
        row = self.site.wait_run(run, 90)
        self.assertEqual(row["state"], "succeeded", row)
        self.assert_clean("m1")
        places = [step["place"] for step in row["steps"]]
        self.assertEqual(len(places), len(set(places)), "a place was done twice")
        file = self.site.path("evidence.json")
        self.site.export_evidence(run, file)
        self.assertEqual(self.site.verify(file).returncode, 0)


if __name__ == "__main__":
    support.main()
