#!/usr/bin/python3
"""Boots the real leasehold-ramdisk as the first process of a real Debian kernel.

Shows that the image builder gives the same bytes twice, that the kernel runs our program, that its
network comes up, that it fetches its run document exactly once, and that it calls its gateway with
TLS and goes on calling when that answers nonsense.

    tests/end_to_end/qemu_boot_test.py --program build/dev/bin/leasehold-ramdisk --cache build/kernel
"""
import argparse
import base64
import http.server
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import qemu_machine  # noqa: E402  (stands beside this file)

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TLS_HANDSHAKE = 0x16
BOOT_SECONDS = 240  # TCG on a busy host; 3 s on an idle one


class RunService(http.server.ThreadingHTTPServer):
    """Hands out one run document, once, as leasehold-bootd does."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), RunHandler)
        self.document = None
        self.requests = []


class RunHandler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests.append(self.path)
        first = self.path == "/run/b-1" and self.server.requests.count(self.path) == 1
        body = json.dumps(self.server.document).encode() if first else b""
        self.send_response(200 if first else 410)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class DeafGateway:
    """Takes connections, keeps each one's first byte, and hangs up."""

    def __init__(self):
        self.first_bytes = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            with peer:
                peer.settimeout(30)
                try:
                    received = peer.recv(1)
                except OSError:
                    received = b""
                self.first_bytes.append(received[0] if received else None)


def run_document(gateway_port):
    return {"schema": 1, "site": "s1", "domain": "example.net", "node": "n1", "run": "r-1",
            "boot": "b-1", "token": base64.b64encode(os.urandom(32)).decode(),
            "gateway": {"host": "gateway.s1.example.net", "port": gateway_port,
                        "address": qemu_machine.HOST_SEEN_BY_GUEST}}


def write_etc(folder):
    os.makedirs(folder)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=test root", "-keyout",
                    os.devnull, "-out", os.path.join(folder, "root.pem")],
                   check=True, stderr=subprocess.DEVNULL)
    for name, content in (("image.json", {"domain": "example.net", "site": "s1", "image": ""}),
                          ("network.json", qemu_machine.GUEST_NETWORK)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            json.dump(content, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--cache", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="leasehold-qemu-") as work:
        etc = os.path.join(work, "etc")
        write_etc(etc)
        built = [qemu_machine.build_image(SOURCE, options.program, etc, os.path.join(work, out),
                                          options.cache) for out in ("one", "two")]
        assert built[0]["image_sha256"] == built[1]["image_sha256"], "the image is not reproducible"
        disk = os.path.join(work, "disk")
        qemu_machine.write_tenant_disk(disk, 16)
        boot(work, built[0], disk)


def boot(work, built, disk):
    gateway = DeafGateway()
    service = RunService()
    service.document = run_document(gateway.port)
    threading.Thread(target=service.serve_forever, daemon=True).start()
    url = "http://%s:%d/run/b-1" % (qemu_machine.HOST_SEEN_BY_GUEST, service.server_port)
    started = time.monotonic()
    with qemu_machine.QemuMachine(built["kernel"], built["image"], url,
                                  os.path.join(work, "serial.log"), [("NV001", disk)]) as machine:
        def happened(event):
            return lambda: any(e["event"] == event for e in machine.events())
        for event in ("ramdisk.network", "program.started", "ramdisk.document", "ramdisk.waiting"):
            machine.wait_for(happened(event), BOOT_SECONDS, event)
            print("%6.2f s  %s" % (time.monotonic() - started, event))
        machine.wait_for(lambda: len(gateway.first_bytes) >= 3, BOOT_SECONDS, "three hellos")
        print("%6.2f s  called the gateway %d times" % (time.monotonic() - started,
                                                         len(gateway.first_bytes)))
        waiting = [e for e in machine.events() if e["event"] == "ramdisk.waiting"]
        failed = [e for e in machine.events() if e["event"] == "program.failed"]
        console = machine.serial_text()
    service.shutdown()
    gateway.listener.close()
    assert service.requests == ["/run/b-1"], "asked for the run document: %s" % service.requests
    assert gateway.first_bytes[0] == TLS_HANDSHAKE, "the gateway was not called with TLS"
    assert waiting[0]["for"] == "hello", "it waits for %s" % waiting[0]
    assert not failed, "the ramdisk reports %s" % failed
    assert service.document["token"] not in console, "the token is on the console"
    print("ok")


if __name__ == "__main__":
    main()
