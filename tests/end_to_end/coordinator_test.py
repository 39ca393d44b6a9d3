#!/usr/bin/python3
"""The coordinator's door as strangers, operators and sites find it: the real program, asked by curl and
openssl. Enrolment and its token, certificates of the wrong kind, bad input, TLS resumption, audit."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

BIN_DIR = None
DOMAIN = "example.net"
HOST = "coordinator." + DOMAIN


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Coordinator:
    """A coordinator in a folder of its own, with the authority that `leasehold ca init` makes."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="leasehold-coordinator-", dir="/var/tmp")
        self.ca = os.path.join(self.folder, "ca")
        self.port = free_port()
        self.url = "https://%s:%d" % (HOST, self.port)
        subprocess.run([os.path.join(BIN_DIR, "leasehold"), "ca", "init", "--domain", DOMAIN,
                        "--site", "s0", "--out", self.ca], check=True, capture_output=True)
        self.config = os.path.join(self.folder, "coordinator.json")
        identity = {"root_file": "root.pem", "issuing_ca_file": "issuing.pem",
                    "issuing_ca_key_file": "issuing.key", "certificate_file": "coordinator.pem",
                    "private_key_file": "coordinator.key"}
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump({"domain": DOMAIN, "state_dir": os.path.join(self.folder, "state"),
                       "listen": "127.0.0.1:%d" % self.port, "url": self.url,
                       "identity": {key: os.path.join(self.ca, name)
                                    for key, name in identity.items()}}, file)
        self.log = os.path.join(self.folder, "log")
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [os.path.join(BIN_DIR, "leasehold-coordinator"), "serve", "--config", self.config],
                stderr=log)
        end = time.monotonic() + 20
        while time.monotonic() < end:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise RuntimeError("the coordinator does not start: " + self.log_text())

    def stop(self, how=signal.SIGTERM):
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(20)
            self.process = None

    def remove(self):
        self.stop(signal.SIGKILL)
        shutil.rmtree(self.folder)

    def log_text(self):
        with open(self.log, encoding="utf-8") as file:
            return file.read()

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def curl(self, method, path, body=None, who="operator", more=()):
        """(status, answer). `who` names a pair of files in the folder of the authority, or is None."""
        command = ["curl", "-sS", "--max-time", "40", "--resolve",
                   "%s:%d:127.0.0.1" % (HOST, self.port), "--cacert",
                   os.path.join(self.ca, "root.pem"), "-X", method, "-w", "\n%{http_code}",
                   self.url + path, *more]
        if who is not None:
            command += ["--cert", os.path.join(self.ca, who + ".pem"), "--key",
                        os.path.join(self.ca, who + ".key")]
        if body is not None:
            command += ["--data-binary", body if isinstance(body, str) else json.dumps(body)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError("curl: " + done.stderr)
        text, _, status = done.stdout.rpartition("\n")
        return int(status), json.loads(text) if text else None

    def new_key(self, name):
        """A P-256 key and the text of its CSR, both by openssl."""
        key, csr = self.path("ca", name + ".key"), self.path("ca", name + ".csr")
        subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-subj", "/", "-keyout", key, "-out",
                        csr], check=True, capture_output=True)
        with open(csr, encoding="utf-8") as file:
            return file.read()

    def enrolment(self, token, name):
        return {"token": token, "siteAgentCsr": self.new_key(name + "-agent"),
                "gatewayCsr": self.new_key(name + "-gateway"),
                "siteCaCsr": self.new_key(name + "-ca"), "gatewayDns": [],
                "gatewayIps": ["127.0.0.1"]}

    def enrol(self, site):
        """Creates and enrols a site; its files are <site>-agent.pem and so on."""
        self.curl("POST", "/v1/sites", {"site": site})
        _, made = self.curl("POST", "/v1/sites/%s/token" % site, {})
        status, answer = self.curl("POST", "/v1/sites/%s/enrol" % site,
                                   self.enrolment(made["token"], site), who=None)
        if status != 200:
            raise RuntimeError(str(answer))
        for part, member in (("agent", "siteAgent"), ("gateway", "gateway"), ("ca", "siteCa")):
            with open(self.path("ca", "%s-%s.pem" % (site, part)), "w", encoding="utf-8") as file:
                file.write(answer[member])
        return made["token"], answer


class CoordinatorDoor(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.centre = Coordinator()
        cls.centre.start()

    @classmethod
    def tearDownClass(cls):
        cls.centre.remove()

    def refused(self, status, code, answer):
        self.assertEqual((answer[0], answer[1]["code"]), (status, code), answer)
        self.assertTrue(answer[1]["message"])
        self.assertEqual(sorted(answer[1]), ["code", "field", "message"])
        return answer[1]["field"]

    def test_enrolment_is_what_openssl_says_it_is(self):
        _, answer = self.centre.enrol("e1")
        path = self.centre.path
        root = os.path.join(self.centre.ca, "root.pem")
        issuing = os.path.join(self.centre.ca, "issuing.pem")
        for part in ("agent", "gateway", "ca"):
            done = subprocess.run(["openssl", "verify", "-x509_strict", "-CAfile", root,
                                   "-untrusted", issuing, path("ca", "e1-%s.pem" % part)],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
        text = subprocess.run(["openssl", "x509", "-in", path("ca", "e1-ca.pem"), "-noout", "-text",
                               "-fingerprint", "-sha256"], check=True, capture_output=True,
                              text=True).stdout
        self.assertIn("X509v3 Name Constraints: critical", text)
        self.assertIn("URI:e1.example.net", text)
        digest = re.search(r"Fingerprint=([0-9A-F:]+)", text).group(1).replace(":", "").lower()
        self.assertEqual(answer["siteCas"], {"e1": [digest]})
        agent = subprocess.run(["openssl", "x509", "-in", path("ca", "e1-agent.pem"), "-noout",
                                "-ext", "subjectAltName"], check=True, capture_output=True,
                               text=True).stdout
        self.assertIn("URI:spiffe://e1.example.net/site-agent", agent)

    def test_a_token_is_used_once_and_replaced_by_the_next(self):
        self.centre.curl("POST", "/v1/sites", {"site": "t1"})
        _, first = self.centre.curl("POST", "/v1/sites/t1/token", {})
        _, second = self.centre.curl("POST", "/v1/sites/t1/token", {})
        enrol = lambda token: self.centre.curl(  # noqa: E731
            "POST", "/v1/sites/t1/enrol", self.centre.enrolment(token, "t1"), who=None)
        self.assertEqual(self.refused(401, "UNAUTHENTICATED", enrol(first["token"])), "token")
        self.assertEqual(self.refused(401, "UNAUTHENTICATED", enrol("")), "token")
        self.assertEqual(enrol(second["token"])[0], 200)
        self.assertEqual(self.refused(401, "UNAUTHENTICATED", enrol(second["token"])), "token")

    def test_the_token_is_nowhere_on_disk(self):
        token, _ = self.centre.enrol("d1")
        for folder, _, names in os.walk(self.centre.path("state")):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    self.assertNotIn(token.encode(), file.read(), name)
        self.assertNotIn(token, self.centre.log_text())

    def test_who_may_call(self):
        self.centre.enrol("w1")
        curl = self.centre.curl
        self.refused(401, "UNAUTHENTICATED", curl("GET", "/v1/status", who=None))
        self.refused(403, "FORBIDDEN", curl("GET", "/v1/status", who="w1-agent"))
        self.refused(403, "FORBIDDEN", curl("GET", "/v1/nodes", who="w1-gateway"))
        self.refused(403, "FORBIDDEN", curl("POST", "/v1/sync/hello", {}, who="operator"))
        self.refused(403, "FORBIDDEN", curl("POST", "/v1/site/renew", {}, who="coordinator"))
        status, me = curl("GET", "/v1/whoami", who="w1-agent")
        self.assertEqual((status, me["kind"], me["site"]), (200, "site-agent", "w1"))
        status, root = curl("GET", "/v1/root", who=None)
        self.assertEqual((status, root["domain"]), (200, DOMAIN))

    def test_certificates_that_a_site_ca_forges_open_nothing(self):
        self.centre.enrol("h1")
        ca = self.centre.path("ca", "h1-ca")
        for number, (uri, verdict) in enumerate((
                ("spiffe://example.net/operator/admin", "wrong-site"),
                ("spiffe://h1.example.net/site-agent", "wrong-issuer"),
                ("spiffe://t1.example.net/site-agent", "wrong-site"),
                ("spiffe://h1.example.net/node/n1/1/node", "wrong-issuer"),
                ("spiffe://h1.example.net/node/n1/1/ramdisk/r-1", "kind-may-not"))):
            name = "forged%d" % number
            self.centre.new_key(name)
            extensions = self.centre.path("ca", name + ".ext")
            with open(extensions, "w", encoding="utf-8") as file:
                file.write("basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\n"
                           "extendedKeyUsage=clientAuth,serverAuth\nsubjectKeyIdentifier=hash\n"
                           "authorityKeyIdentifier=keyid:always\n"
                           "subjectAltName=critical,URI:%s\n" % uri)
            leaf = self.centre.path("ca", name + ".leaf")
            subprocess.run(["openssl", "x509", "-req", "-in", self.centre.path("ca", name + ".csr"),
                            "-CA", ca + ".pem", "-CAkey", ca + ".key", "-days", "1", "-extfile",
                            extensions, "-out", leaf], check=True, capture_output=True)
            with open(leaf, encoding="utf-8") as one, open(ca + ".pem", encoding="utf-8") as above:
                chain = one.read() + above.read()
            with open(self.centre.path("ca", name + ".pem"), "w", encoding="utf-8") as file:
                file.write(chain)
            status, answer = self.centre.curl("GET", "/v1/nodes", who=name)
            self.assertIn(status, (401, 403), uri)
            self.assertIn(verdict, answer["message"], uri)

    def test_bad_input(self):
        post = lambda path, body: self.centre.curl("POST", path, body)  # noqa: E731
        for path, body, field in (
                ("/v1/sites", {"site": "UPPER"}, "site"), ("/v1/sites", {"sit": "a"}, "sit"),
                ("/v1/sites", "{", ""), ("/v1/sites", "[1]", ""), ("/v1/sites", '{"site":1}', "site"),
                ("/v1/hardware-profiles", {"profile": "p", "driver": "magic"}, "driver"),
                ("/v1/pools", {"pool": "p", "siteId": "none", "policy": {}}, "siteId"),
                ("/v1/sites?x=1", {"site": "a"}, "x")):
            self.assertEqual(self.refused(400, "INVALID_INPUT", post(path, body)), field)
        self.refused(404, "NOT_FOUND", self.centre.curl("GET", "/v1/nodes/none/none"))
        self.refused(404, "NOT_FOUND", self.centre.curl("GET", "/v2/sites"))
        deep = "[" * 100_000
        self.refused(400, "INVALID_INPUT", post("/v1/sites", deep))
        status, _ = post("/v1/sites", "x" * 100)
        self.assertEqual(status, 400)

    def test_no_session_is_resumed_and_tls_is_1_3(self):
        session = self.centre.path("session")
        client = ["openssl", "s_client", "-connect", "127.0.0.1:%d" % self.centre.port,
                  "-servername", HOST, "-CAfile", os.path.join(self.centre.ca, "root.pem"), "-cert",
                  os.path.join(self.centre.ca, "operator.pem"), "-key",
                  os.path.join(self.centre.ca, "operator.key"), "-cert_chain",
                  os.path.join(self.centre.ca, "issuing.pem")]
        request = b"GET /v1/whoami HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        first = subprocess.run([*client, "-ign_eof", "-sess_out", session], input=request,
                               capture_output=True, timeout=30, check=False)
        self.assertIn(b"200 OK", first.stdout)
        self.assertIn(b"New, TLSv1.3", first.stdout)
        self.assertNotIn(b"Post-Handshake New Session Ticket", first.stdout)
        if os.path.exists(session) and os.path.getsize(session) > 0:
            second = subprocess.run([*client, "-ign_eof", "-sess_in", session], input=request,
                                    capture_output=True, timeout=30, check=False)
            self.assertNotIn(b"Reused, TLS", second.stdout)
        again = subprocess.run([*client, "-reconnect"], input=b"", capture_output=True, timeout=60,
                               check=False)
        self.assertIn(b"New, TLSv1.3", again.stdout)
        self.assertNotIn(b"Reused, TLS", again.stdout)
        old = subprocess.run([*client, "-tls1_2"], input=b"", capture_output=True, timeout=30,
                             check=False)
        self.assertNotEqual(old.returncode, 0)

    def test_every_call_is_in_the_audit(self):
        self.centre.curl("POST", "/v1/sites", {"site": "a1"})
        self.centre.curl("POST", "/v1/sites", {"site": "a1"})
        self.centre.curl("GET", "/v1/sites/a1")
        lines, after = [], 0
        while True:
            _, page = self.centre.curl("GET", "/v1/audit?after=%d&limit=1000" % after)
            if not page["items"]:
                break
            lines += page["items"]
            after = page["next"]
            if len(page["items"]) < 1000:
                break
        self.assertEqual([line["n"] for line in lines], list(range(1, len(lines) + 1)))
        seen = [(line["method"], line["path"], line["code"]) for line in lines]
        wanted = [("POST", "/v1/sites", ""), ("POST", "/v1/sites", "CONFLICT"),
                  ("GET", "/v1/sites/a1", "")]
        self.assertTrue(any(seen[i:i + 3] == wanted for i in range(len(seen))), seen[-8:])
        self.assertTrue(all(line["who"].startswith("spiffe://") for line in lines
                            if "enrol" not in line["path"]))

    def test_killed_it_forgets_nothing_that_it_answered(self):
        names = ["k%d" % i for i in range(12)]
        for name in names:
            self.assertEqual(self.centre.curl("POST", "/v1/sites", {"site": name})[0], 200)
        self.centre.stop(signal.SIGKILL)
        self.centre.start()
        for name in names:
            self.assertEqual(self.centre.curl("GET", "/v1/sites/" + name)[0], 200)

    def test_a_long_poll_hears_of_what_happens(self):
        _, page = self.centre.curl("GET", "/v1/events?after=0")
        poll = subprocess.Popen(
            ["curl", "-sS", "--max-time", "30", "--resolve",
             "%s:%d:127.0.0.1" % (HOST, self.centre.port), "--cacert",
             os.path.join(self.centre.ca, "root.pem"), "--cert",
             os.path.join(self.centre.ca, "operator.pem"), "--key",
             os.path.join(self.centre.ca, "operator.key"),
             self.centre.url + "/v1/events?wait=20&after=%d" % page["next"]],
            stdout=subprocess.PIPE, text=True)
        end = time.monotonic() + 15
        while poll.poll() is None and time.monotonic() < end:
            self.centre.curl("POST", "/v1/sites/none/token", {})  # changes nothing
            self.assertIsNone(poll.poll())
            break
        self.centre.curl("POST", "/v1/sites", {"site": "p1"})
        out, _ = poll.communicate(timeout=20)
        self.assertEqual(json.loads(out)["events"][0]["name"], "site.created")

    def test_a_second_coordinator_on_the_same_state_is_refused(self):
        second = subprocess.run([os.path.join(BIN_DIR, "leasehold-coordinator"), "serve",
                                 "--config", self.centre.config], capture_output=True, text=True,
                                timeout=30, check=False)
        self.assertEqual(second.returncode, 1)
        self.assertIn("locked", second.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: %s BIN_DIR [test names]" % sys.argv[0])
    BIN_DIR = sys.argv.pop(1)
    unittest.main(verbosity=2)
