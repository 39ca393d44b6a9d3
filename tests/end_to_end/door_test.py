#!/usr/bin/python3
"""Whoever talks to the gateway without being this run's ramdisk gets nothing: no certificate, a wrong
token, another site's certificate, garbage. Judged by curl and openssl, as an attacker would."""

import base64
import hashlib
import hmac
import json
import os
import socket
import ssl
import subprocess

import support
from support import SiteTest, sitekit


class Door(SiteTest):
    @classmethod
    def machines(cls):
        never = {"id": "never", "on": "machine", "method": "", "path": "*", "action": "no-boot",
                 "args": {}, "after": 0, "count": -1}
        return [sitekit.machine("m1", 1, faults=[never])]

    timeouts = {"power_off_s": 3, "power_on_s": 3, "call_home_s": 600}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.site.adopt("m1")
        cls.run_id = cls.site.work("m1", "release")
        sitekit.wait_for("the machine is on", lambda: cls.site.sim_machine("m1")["power"] == "On"
                         and cls.site.run_row(cls.run_id)["place"] == "metal.ensureRamdisk")

    def curl(self, path, body=None, *more):
        host = "gateway.%s.%s" % (sitekit.SITE, sitekit.DOMAIN)
        command = ["curl", "-sS", "--max-time", "10", "--resolve",
                   "%s:%d:127.0.0.1" % (host, self.site.gateway_port), "--cacert",
                   os.path.join(self.site.ca, "root.pem"), "-w", "\\n%{http_code}", *more,
                   "https://%s:%d%s" % (host, self.site.gateway_port, path)]
        if body is not None:
            command += ["--data-binary", body if isinstance(body, str) else json.dumps(body)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        text, _, status = done.stdout.rpartition("\n")
        return int(status), json.loads(text)

    def key_and_csr(self):
        key, csr = self.site.path("x.key"), self.site.path("x.csr")
        subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x", "-keyout", key,
                        "-out", csr], check=True, capture_output=True)
        der = subprocess.run(["openssl", "req", "-in", csr, "-outform", "DER"], check=True,
                             capture_output=True).stdout
        with open(csr, encoding="utf-8") as file:
            return key, file.read(), der

    def test_hello_is_signed_over_our_nonce(self):
        nonce = base64.b64encode(os.urandom(32)).decode()
        status, answer = self.curl("/v1/hello", {"nonce": nonce})
        self.assertEqual(status, 200)
        payload = json.loads(base64.b64decode(answer["envelope"]["payload"]))
        self.assertEqual((payload["nonce"], payload["site"]), (nonce, sitekit.SITE))
        # Another program judges the signature: openssl over the PAE.
        kind, text = answer["envelope"]["payloadType"], base64.b64decode(
            answer["envelope"]["payload"])
        pae = b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(text), text)
        for name, content in (("leaf.pem", answer["chain"][0].encode()), ("pae", pae),
                              ("sig", base64.b64decode(
                                  answer["envelope"]["signatures"][0]["sig"]))):
            with open(self.site.path(name), "wb") as out:
                out.write(content)
        public = subprocess.run(["openssl", "x509", "-in", self.site.path("leaf.pem"), "-noout",
                                 "-pubkey"], check=True, capture_output=True).stdout
        with open(self.site.path("pub.pem"), "wb") as out:
            out.write(public)
        subprocess.run(["openssl", "dgst", "-sha256", "-verify", self.site.path("pub.pem"),
                        "-signature", self.site.path("sig"), self.site.path("pae")], check=True,
                       capture_output=True)

    def test_a_join_with_a_wrong_token_is_refused(self):
        _, csr, der = self.key_and_csr()
        mac = hmac.new(os.urandom(32), der, hashlib.sha256).hexdigest()
        for boot in ("b-0000000000000000", ""):
            status, answer = self.curl("/v1/join", {"run": self.run_id, "boot": boot, "csr": csr,
                                                    "mac": mac})
            self.assertIn(status, (400, 403), answer)
        self.assertEqual(self.site.run_row(self.run_id)["state"], "open")

    def test_without_a_certificate_there_are_no_commands_and_no_results(self):
        status, answer = self.curl("/v1/commands?after=0")
        self.assertEqual((status, answer["code"]), (401, "UNAUTHENTICATED"))
        status, answer = self.curl("/v1/results", {"command": "x", "envelope": {}, "chain": []})
        self.assertEqual((status, answer["code"]), (401, "UNAUTHENTICATED"))

    def test_other_identities_of_our_own_are_not_a_ramdisk(self):
        for name in ("gateway", "site-agent", "coordinator"):
            pair = [os.path.join(self.site.ca, name + end) for end in (".pem", ".key")]
            status, answer = self.curl("/v1/commands?after=0", None, "--cert", pair[0], "--key",
                                       pair[1])
            self.assertIn(status, (401, 403), answer)

    def mint(self, uri):
        """A certificate under the site's real CA, made by another program than ours."""
        key, csr, _ = self.key_and_csr()
        extensions, leaf = self.site.path("ext"), self.site.path("minted.pem")
        with open(extensions, "w", encoding="utf-8") as out:
            out.write("basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\n"
                      "extendedKeyUsage=clientAuth,serverAuth\n"
                      "authorityKeyIdentifier=keyid\nsubjectKeyIdentifier=hash\n"
                      "subjectAltName=critical,URI:%s\n" % uri)
        with open(self.site.path("x.csr"), "w", encoding="utf-8") as out:
            out.write(csr)
        site_ca = [os.path.join(self.site.ca, "site-ca" + end) for end in (".pem", ".key")]
        subprocess.run(["openssl", "x509", "-req", "-in", self.site.path("x.csr"), "-CA",
                        site_ca[0], "-CAkey", site_ca[1], "-days", "1", "-set_serial",
                        "0x" + os.urandom(16).hex(), "-extfile", extensions, "-out", leaf],
                       check=True, capture_output=True)
        with open(leaf, "a", encoding="utf-8") as out, open(site_ca[0], encoding="utf-8") as chain:
            out.write(chain.read())
        return leaf, key

    def test_a_lessees_certificate_attests_nothing(self):
        """Laws trust-first and tenant-never-attests: a node-tenant of this very node."""
        leaf, key = self.mint("spiffe://%s.%s/node/m1/7/node-tenant" % (sitekit.SITE,
                                                                       sitekit.DOMAIN))
        for path, body in (("/v1/commands?after=0", None),
                           ("/v1/results", {"command": "x", "envelope": {}, "chain": []})):
            status, answer = self.curl(path, body, "--cert", leaf, "--key", key)
            self.assertEqual((status, answer["code"]), (403, "tenant-controlled"), answer)

    def test_a_stolen_site_ca_makes_no_other_kind(self):
        for name in ("node/m1/7/node", "gateway", "site-agent", "node/m1/7/ramdisk/r-none",
                     "node/m2/7/ramdisk/" + self.run_id):
            leaf, key = self.mint("spiffe://%s.%s/%s" % (sitekit.SITE, sitekit.DOMAIN, name))
            status, answer = self.curl("/v1/commands?after=0", None, "--cert", leaf, "--key", key)
            self.assertIn(status, (401, 403), (name, answer))

    def test_garbage_is_answered_and_hurts_nobody(self):
        for body in ("", "{", "[]", "null", '{"nonce": 7}', "x" * 2000, '{"a":' * 200):
            status, answer = self.curl("/v1/hello", body)
            self.assertIn(status, (400, 500), (body[:20], answer))
        status, answer = self.curl("/v1/nonsense")
        self.assertEqual((status, answer["code"]), (404, "NOT_FOUND"))
        for raw in (b"GET / HTTP/1.1\r\n\r\n", os.urandom(512), b"\x16\x03\x01"):
            with socket.create_connection(("127.0.0.1", self.site.gateway_port), 5) as peer:
                peer.sendall(raw)
        self.assertEqual(self.site.status()["gateway"], "connected")

    def test_tls_below_1_3_is_refused(self):
        context = ssl.create_default_context(cafile=os.path.join(self.site.ca, "root.pem"))
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.check_hostname = False
        with socket.create_connection(("127.0.0.1", self.site.gateway_port), 5) as peer:
            with self.assertRaises((ssl.SSLError, OSError)):
                context.wrap_socket(peer)

    def test_only_the_gateway_and_the_agent_may_use_the_inner_sockets(self):
        for path in (self.site.gateway_socket, self.site.bootd_socket):
            done = subprocess.run(
                ["curl", "-sS", "--max-time", "5", "--unix-socket", path, "http://x/v1/claims"],
                capture_output=True, text=True, check=False, user=65534, group=65534)
            self.assertTrue(done.returncode != 0 or "FORBIDDEN" in done.stdout, done.stdout)


if __name__ == "__main__":
    support.main()
