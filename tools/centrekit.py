"""A coordinator on loopback with its certificate authority and one operator, who uses the `leasehold`
command. The demo and the end-to-end tests start theirs here, and hand it to sitekit.Site. Stdlib only.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import time

COORDINATOR_UID = 61004
DOMAIN = "example.net"
HOST = "coordinator." + DOMAIN
FILES = {"root_file": "root.pem", "issuing_ca_file": "issuing.pem",
         "issuing_ca_key_file": "issuing.key", "certificate_file": "coordinator.pem",
         "private_key_file": "coordinator.key"}


class CentreError(Exception):
    """The coordinator or its command did not do what it must; the text says what."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Centre:
    """Everything in `folder`; the programs are taken from `bin_dir`, which every user can read."""

    def __init__(self, bin_dir, folder):
        self.bin, self.folder = bin_dir, folder
        self.port = free_port()
        self.url = "https://%s:%d" % (HOST, self.port)
        self.address = "127.0.0.1:%d" % self.port
        self.ca = self.path("ca")
        self.process = None

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def _write_json(self, path, value):
        with open(path, "w", encoding="utf-8") as out:
            json.dump(value, out, indent=2)

    def _program(self, name):
        return os.path.join(self.bin, name)

    def prepare(self):
        """The authority, the coordinator's files, the operator's configuration."""
        os.makedirs(self.folder, mode=0o755, exist_ok=True)
        made = subprocess.run([self._program("leasehold"), "ca", "init", "--domain", DOMAIN, "--site",
                               "unused", "--out", self.ca], capture_output=True, text=True,
                              check=False)
        if made.returncode != 0:
            raise CentreError("ca init: " + made.stderr)
        os.chmod(self.ca, 0o711)
        home = self.path("coordinator")
        os.makedirs(home)
        for name in FILES.values():
            shutil.copy(os.path.join(self.ca, name), home)
        self._write_json(os.path.join(home, "coordinator.json"), {
            "domain": DOMAIN, "state_dir": os.path.join(home, "state"), "listen": self.address,
            "url": self.url,
            "identity": {key: os.path.join(home, name) for key, name in FILES.items()}})
        for name in ["", "coordinator.json", *FILES.values()]:
            os.chown(os.path.join(home, name), COORDINATOR_UID, COORDINATOR_UID)
        self.operator_config = self.path("operator.json")
        self._write_json(self.operator_config, {
            "url": self.url, "address": self.address, "domain": DOMAIN,
            "root_file": os.path.join(self.ca, "root.pem"),
            "certificate_file": os.path.join(self.ca, "operator.pem"),
            "private_key_file": os.path.join(self.ca, "operator.key")})

    def start(self):
        with open(self.path("coordinator.log"), "ab") as log:
            self.process = subprocess.Popen(
                [self._program("leasehold-coordinator"), "serve", "--config",
                 self.path("coordinator", "coordinator.json")],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                start_new_session=True, user=COORDINATOR_UID, group=COORDINATOR_UID, extra_groups=[])
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and self.process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        raise CentreError("the coordinator does not start: " + self.log_tail())

    def stop(self, how=signal.SIGTERM):
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def log_tail(self, count=5):
        try:
            with open(self.path("coordinator.log"), encoding="utf-8", errors="replace") as log:
                return "".join(log.readlines()[-count:]).strip()
        except OSError:
            return "(no log)"

    # -- the operator's command

    def command_line(self, *arguments):
        return [self._program("leasehold"), *arguments]

    def environment(self):
        return {**os.environ, "LEASEHOLD_CONFIG": self.operator_config}

    def leasehold(self, *arguments, check=True):
        """The finished process."""
        done = subprocess.run(self.command_line(*arguments), stdin=subprocess.DEVNULL,
                              env=self.environment(), capture_output=True, text=True, check=False)
        if check and done.returncode != 0:
            raise CentreError("leasehold %s: exit %d: %s" % (" ".join(arguments), done.returncode,
                                                             done.stderr.strip()))
        return done

    def json(self, *arguments):
        return json.loads(self.leasehold(*arguments, "--json").stdout)

    def start_command(self, *arguments, out=subprocess.PIPE, err=subprocess.PIPE):
        """A command that goes on: the process."""
        return subprocess.Popen(self.command_line(*arguments), stdin=subprocess.DEVNULL,
                                env=self.environment(), stdout=out, stderr=err, text=True)
