#!/usr/bin/python3
"""`leasehold` against a real coordinator and a real site, as an operator uses it: every verb's answer,
tables on a terminal of 80 columns, refusals and their exit codes, restarts of the coordinator, a site
that is cut off, files that are wrong."""

import fcntl
import json
import os
import shutil
import signal
import struct
import termios

import support
from support import SiteTest, sitekit

READERS = [("status",), ("whoami",), ("site", "list"), ("site", "show", "s1"),
           ("hardware-profile", "list"), ("hardware-profile", "show", sitekit.PROFILE),
           ("pool", "list"), ("pool", "show", sitekit.POOL), ("node", "list"),
           ("node", "show", "m1"), ("run", "list"), ("evidence", "list"), ("events",),
           ("audit", "--last", "500")]


class CliTest(SiteTest):
    with_centre = True

    @classmethod
    def machines(cls):
        return [sitekit.machine("m%d" % number, number) for number in (1, 2, 3, 4, 5)]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.centre = cls.site.centre
        cls.site.enrol("m1")
        for name in ("m2", "m3", "m4"):
            cls.site.adopt(name)
        sitekit.wait_for("the coordinator knows all", lambda: len(
            cls.centre.json("node", "list")["items"]) == 4)

    def command(self, *arguments, code=0, config=None):
        """The finished process, whose exit code is as expected."""
        done = self.centre.leasehold(*arguments, *(["--config", config] if config else []),
                                     check=False)
        self.assertEqual(done.returncode, code, (arguments, done.stdout, done.stderr))
        if code != 0:
            self.assertTrue(done.stderr.startswith(("leasehold: ", "{")), done.stderr)
        return done

    def refused(self, code_name, *arguments, code=1, config=None):
        """What --json says of the error."""
        done = self.command(*arguments, "--json", code=code, config=config)
        error = json.loads(done.stderr)
        self.assertEqual(sorted(error), ["code", "field", "message", "next"])
        self.assertEqual(error["code"], code_name, error)
        return error

    def at_terminal(self, columns, *arguments):
        """What a terminal of that width is shown."""
        reader, writer = os.openpty()
        fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        running = self.centre.start_command(*arguments, out=writer, err=writer)
        os.close(writer)
        text = b""
        try:
            while True:
                piece = os.read(reader, 65536)
                if not piece:
                    break
                text += piece
        except OSError:
            pass
        os.close(reader)
        self.assertEqual(running.wait(), 0, text)
        return text.decode().replace("\r\n", "\n")

    def config_with(self, **changes):
        with open(self.centre.operator_config, encoding="utf-8") as file:
            config = json.load(file)
        config.update(changes)
        path = self.site.path("changed.json")
        with open(path, "w", encoding="utf-8") as out:
            json.dump(config, out)
        return path

    def text_of(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    # -- answers

    def test_every_reader_has_a_table_and_a_document(self):
        for arguments in READERS:
            with self.subTest(arguments):
                self.assertIsInstance(json.loads(self.command(*arguments, "--json").stdout), dict)
                self.assertTrue(self.command(*arguments).stdout.strip())

    def test_tables_fit_80_columns(self):
        for arguments in (("node", "list"), ("run", "list"), ("site", "list"), ("pool", "list"),
                          ("evidence", "list"), ("events",), ("audit",), ("hardware-profile", "list")):
            with self.subTest(arguments):
                for line in self.at_terminal(80, *arguments).splitlines():
                    self.assertLessEqual(len(line), 80, line)

    def test_what_rows_say_gives_a_terminal_no_orders(self):
        evil = "rack\x1b[2J\u202e\nVERIFIED"
        self.command("node", "location", "m1", evil)
        self.assertEqual(self.centre.json("node", "show", "m1")["location"], evil)
        for arguments in (("node", "show", "m1"), ("node", "list"), ("node", "show", "m1", "--json")):
            shown = self.at_terminal(200, *arguments)
            self.assertNotIn("\x1b", shown)
            self.assertNotIn("\u202e", shown)
            self.assertNotIn("\nVERIFIED", shown)
        self.command("node", "location", "m1", "")

    def test_labels_taints_and_cordon(self):
        self.command("node", "label", "m1", "rack=a", "row=3")
        self.command("node", "label", "s1/m1", "row-")
        self.command("node", "taint", "m1", "slow-fan")
        self.command("node", "cordon", "m1")
        node = self.centre.json("node", "show", "m1")
        self.assertEqual((node["labels"], node["taints"], node["cordon"], node["placeable"]),
                         ({"rack": "a"}, ["slow-fan"], True, False))
        self.command("node", "uncordon", "m1")
        self.command("node", "taint", "m1", "slow-fan-")
        self.assertTrue(self.centre.json("node", "show", "m1")["placeable"])

    def test_help_of_every_command_is_in_our_words(self):
        helps = [()]
        while helps:
            path = helps.pop()
            text = self.command(*path, "--help").stdout
            self.assertNotIn("SUBCOMMAND", text.upper(), path)
            for line in text.splitlines():
                self.assertLessEqual(len(line), 80, (path, line))
            below = text.partition("\nCommands:\n")[2].splitlines()
            helps += [path + (line.split()[0],) for line in below
                      if line.startswith("  ") and not line.startswith("   ")]

    # -- refusals

    def test_names_and_files_that_are_wrong(self):
        self.refused("NOT_FOUND", "node", "show", "m9")
        self.refused("NOT_FOUND", "run", "watch", "s1/r-none")
        self.refused("NOT_FOUND", "evidence", "export", "r-none", "--out", self.site.path("e"))
        self.refused("INVALID_INPUT", "node", "show", "../m1", code=2)
        self.refused("CONFLICT", "site", "create", "s1")
        policy = self.site.path("bad-policy.json")
        for text, field in (("{", "--policy"), ('{"tenantRot": true}', "policy.tenantRot"),
                            ('{"hardwareProfile": "none"}', "policy.hardwareProfile")):
            with open(policy, "w", encoding="utf-8") as out:
                out.write(text)
            error = self.refused("INVALID_INPUT", "pool", "create", "p2", "--site", "s1", "--policy",
                                 policy, code=2)
            self.assertEqual(error["field"], field, error)
        self.assertEqual(len(self.centre.json("pool", "list")["items"]), 1)

    def test_what_destroys_wants_a_yes(self):
        error = self.refused("INVALID_INPUT", "node", "release", "m4", code=2)
        self.assertEqual(error["field"], "--yes")
        self.assertEqual(self.site.node("m4")["state"], "deployed")

    def test_a_work_that_does_not_fit_the_machine(self):
        error = self.refused("CONFLICT", "node", "release", "m1", "--yes")
        self.assertIn("ready", error["message"])
        self.command("node", "maintenance", "m1", "on")
        self.assertTrue(self.centre.json("node", "show", "m1")["maintenance"])
        self.command("node", "maintenance", "m1", "off")
        self.assertFalse(self.site.node("m1")["maintenance"])

    def test_the_way_to_the_coordinator(self):
        self.refused("CONFIG", "status", config="/nonexistent/config.json")
        other = self.site.path("other-ca")
        self.command("ca", "init", "--domain", sitekit.DOMAIN, "--site", "x", "--out", other)
        error = self.refused("CONFIG", "status", config=self.config_with(
            root_file=os.path.join(other, "root.pem")))
        self.assertIn("does not come from the root", error["message"])
        error = self.refused("FORBIDDEN", "status", config=self.config_with(**{
            "root_file": os.path.join(other, "root.pem"),
            "certificate_file": os.path.join(other, "operator.pem"),
            "private_key_file": os.path.join(other, "operator.key")}))
        self.assertIn("is not trusted", error["message"])
        error = self.refused("FORBIDDEN", "status",
                             config=self.config_with(url="https://elsewhere.example.net:8440"))
        self.assertIn("not for the host elsewhere.example.net", error["message"])
        error = self.refused("UNAVAILABLE", "status", config=self.config_with(address="127.0.0.1:1"))
        self.assertIn("is not reached", error["message"])
        shutil.rmtree(other)

    # -- work

    def test_an_inspection_a_quarantine_and_the_way_back(self):
        self.site.enrol("m5")
        sitekit.wait_for("its clearance", lambda: self.cleared("m5"))
        done = self.command("node", "inspect", "m5", "--watch", "--json")
        run = json.loads(done.stdout)["run"]
        self.assertEqual((run["state"], run["workflow"]), ("succeeded", "metal-inspect@1"))
        self.assertTrue(self.centre.json("node", "show", "m5")["placeable"])
        self.command("node", "quarantine", "m5", "--reason", "a noise")
        node = sitekit.wait_for("it is set aside", lambda: self.at_centre("m5", state="failed"))
        self.assertEqual((node["maintenance"], node["placeable"]), (True, False))
        self.refused("CONFLICT", "node", "inspect", "m5")
        done = self.command("node", "recover", "m5", "--yes", "--watch", "--json")
        self.assertEqual(json.loads(done.stdout)["run"]["workflow"], "metal-enrol@1")
        sitekit.wait_for("it is ready again", lambda: self.at_centre(
            "m5", state="ready", clearance="clean"))

    def at_centre(self, name, **members):
        node = self.centre.json("node", "show", name)
        return node if all(node[key] == value for key, value in members.items()) else None

    # -- restarts

    def test_following_survives_a_restart(self):
        out, err = self.site.path("events"), self.site.path("events-notes")
        with open(out, "w", encoding="utf-8") as lines, open(err, "w", encoding="utf-8") as notes:
            following = self.centre.start_command("events", "--follow", "--json", out=lines, err=notes)
        try:
            sitekit.wait_for("the past events", lambda: os.path.getsize(out) > 0)
            self.centre.stop(signal.SIGKILL)
            sitekit.wait_for("it says so", lambda: os.path.getsize(err) > 0)
            self.centre.start()
            self.command("site", "create", "after-restart")
            sitekit.wait_for("the event after the restart",
                             lambda: "after-restart" in self.text_of(out))
        finally:
            following.terminate()
            following.wait()
        numbers = [json.loads(line)["n"] for line in self.text_of(out).splitlines()]
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertEqual(self.text_of(err).splitlines(), [
            "leasehold: the coordinator does not answer; going on when it does",
            "leasehold: the coordinator answers again"])

    def test_a_site_that_is_cut_off_does_it_later(self):
        self.site.kill("agent", signal.SIGTERM)
        error = self.refused("TIMEOUT", "node", "release", "m2", "--yes", "--wait", "1")
        self.assertIn("has not answered the release of s1/m2", error["message"])
        work = error["message"].rsplit(" ", 1)[1]
        self.assertEqual(self.centre.json("work", "show", work)["state"], "pending")
        self.site.start_agent()
        done = self.centre.json("work", "show", work, "--wait", "30")
        self.assertEqual(done["state"], "accepted", done)
        self.command("run", "watch", done["run"])
        node = sitekit.wait_for("its clearance", lambda: self.cleared("m2"))
        self.assertEqual(node["generation"], 8)

    def cleared(self, name):
        return self.at_centre(name, clearance="clean")

    def test_a_release_from_the_question_to_the_evidence(self):
        done = self.command("node", "release", "m3", "--yes", "--watch", "--reason", "lease over",
                            "--json")
        answer = json.loads(done.stdout)
        self.assertEqual((answer["work"]["state"], answer["run"]["state"]), ("accepted", "succeeded"))
        sitekit.wait_for("its clearance", lambda: self.cleared("m3"))
        file = self.site.path("m3.json")
        run = answer["work"]["run"]
        self.command("evidence", "export", run, "--out", file)
        self.assertIn("\nVERIFIED\n", self.command("evidence", "verify", file).stdout)
        verdict = json.loads(self.command("evidence", "verify", file, "--json").stdout)
        self.assertEqual(verdict["receipt"], "RECEIPTED")
        self.command("evidence", "export", run, "--out", file)  # the same again
        with open(file, "a", encoding="utf-8") as bundle:
            bundle.write(" ")
        spoiled = self.centre.leasehold("evidence", "verify", file, check=False)
        self.assertEqual(spoiled.returncode, 1)
        self.assertTrue(spoiled.stdout.startswith("REFUSED "), spoiled.stdout)
        self.refused("CONFLICT", "evidence", "export", run, "--out", file)
        audited = self.centre.json("audit", "--last", "0")["items"]
        self.assertTrue(any(row["path"] == "/v1/nodes/s1/m3/work" for row in audited))


if __name__ == "__main__":
    support.main()
