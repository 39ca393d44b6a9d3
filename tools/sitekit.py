"""A whole site on loopback in one temporary folder: certificate authority, simulated machines,
bootd, gateway and agent, each program under a user id of its own. The demo and the end-to-end tests
start their sites here. Stdlib only. Everything it starts is stopped by stop(), by pid.
"""

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import centrekit  # noqa: E402

AGENT_UID, GATEWAY_UID, BOOTD_UID = 61001, 61002, 61003
DOMAIN = "example.net"
SITE = "s1"
POOL = "metal-dedicated"
PROFILE = "gpu-redfish"
BASELINE = {"bmc": "1.12.0", "bios": "2.4.1", "gpu-vbios": "96.00.5f"}
FIRMWARE = {"BMC": "1.12.0", "BIOS": "2.4.1", "GPU_0_VBIOS": "96.00.5f", "GPU_1_VBIOS": "96.00.5f"}
PROGRAMS = ["leasehold", "leasehold-agent", "leasehold-gateway", "leasehold-bootd",
            "leasehold-ramdisk", "leasehold-simsite", "leasehold-coordinator"]


def as_root(what):
    """Starts this program again as root if it is not: three programs run under users of their own."""
    if os.getuid() == 0:
        return
    sys.stdout.flush()
    sudo = shutil.which("sudo")
    if sudo is None:
        sys.exit("%s: gateway, bootd and agent run under user ids of their own; run it as root" %
                 what)
    print("%s: gateway, bootd and agent run under user ids of their own, so it needs root" % what,
          file=sys.stderr, flush=True)
    kept = ",".join(name for name in os.environ if name.startswith("LEASEHOLD_"))
    os.execv(sudo, [sudo, *(["--preserve-env=" + kept] if kept else []), sys.executable,
                    os.path.abspath(sys.argv[0]), *sys.argv[1:]])


class SiteError(Exception):
    """Something of the site did not do what it must; the text says what."""


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=60):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def call(socket_path, method, path, body=None, timeout=60):
    """One HTTP request over a Unix socket: (status, JSON or text)."""
    connection = UnixConnection(socket_path, timeout)
    try:
        text = None if body is None else json.dumps(body)
        connection.request(method, path, body=text)
        answer = connection.getresponse()
        data = answer.read().decode()
    finally:
        connection.close()
    try:
        return answer.status, json.loads(data) if data else None
    except ValueError:
        return answer.status, data


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(what, check, seconds=20, every=0.05):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = check()
        if value:
            return value
        time.sleep(every)
    raise SiteError("not within %d s: %s" % (seconds, what))


def machine(name, number, **changes):
    """A simulated machine's description: two NVMe disks with a tenant's bytes, two GPUs."""
    serial = "SN%03d" % number
    described = {
        "name": name,
        "mac": "52:54:00:77:00:%02x" % number,
        "bmc_port": 0,
        "bmc": {"user": "admin", "password_file": ""},
        "profile": "generic",
        "power": "On",
        "disks": [
            {"serial": serial + "A", "wwn": "eui.00000000000000%02xa" % number,
             "model": "Example NVMe 16M", "size_mib": 16, "content": "tenant"},
            {"serial": serial + "B", "wwn": "eui.00000000000000%02xb" % number,
             "model": "Example NVMe 16M", "size_mib": 16, "content": "tenant"}],
        "gpus": [
            {"serial": "16500000%02d0" % number, "uuid": "GPU-%08d-0" % number,
             "pci": "00000000:17:00.0", "vbios": "96.00.5F.00.01"},
            {"serial": "16500000%02d1" % number, "uuid": "GPU-%08d-1" % number,
             "pci": "00000000:65:00.0", "vbios": "96.00.5F.00.01"}],
        "firmware": dict(FIRMWARE),
        "delays": {"power_ms": 0, "boot_ms": 0},
        "faults": []}
    described.update(changes)
    return described


class Site:
    def __init__(self, bin_dir, machines, folder=None, timeouts=None, policy=None, preload=None,
                 with_centre=False):
        self.folder = folder or tempfile.mkdtemp(prefix="leasehold-", dir="/var/tmp")
        os.chmod(self.folder, 0o755)
        self.machines = machines
        self.processes = {}
        self.timeouts = {"power_off_s": 20, "power_on_s": 20, "call_home_s": 30,
                         "off_reread_ms": 1, "rotation_s": 3, **(timeouts or {})}
        self.policy = policy or {}
        self.preload = preload  # environment of the agent only: {"LD_PRELOAD": ...}
        self.passwords = {}
        self.bin = self.path("bin")
        self._copy_programs(bin_dir)
        # With a coordinator of its own the site joins it, and is told nothing by itself.
        self.centre = centrekit.Centre(self.bin, self.path("centre")) if with_centre else None

    # -- folders and files

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def _copy_programs(self, bin_dir):
        """Copies, because the other user ids may not be let into the checkout's folder."""
        os.makedirs(self.bin, exist_ok=True)
        for program in PROGRAMS:
            source = os.path.join(bin_dir, program)
            if os.path.exists(source):
                shutil.copy2(source, self.bin)
        # It is an image here, and no image is served with its debug data.
        subprocess.run(["strip", "--strip-debug", os.path.join(self.bin, "leasehold-ramdisk")],
                       check=True)
        shutil.copytree(os.path.join(bin_dir, "shims"), self.path("shims"), dirs_exist_ok=True)

    def _write_json(self, path, value, mode=0o644, uid=0):
        with open(path, "w", encoding="utf-8") as out:
            json.dump(value, out, indent=2)
        os.chmod(path, mode)
        os.chown(path, uid, uid)

    def _own(self, path, uid, mode):
        os.chown(path, uid, uid)
        os.chmod(path, mode)

    def run(self, program, *arguments, check=True, text=True):
        """Runs one of our programs to its end."""
        done = subprocess.run([os.path.join(self.bin, program), *arguments],
                              stdin=subprocess.DEVNULL, capture_output=True, text=text, check=False)
        if check and done.returncode != 0:
            raise SiteError("%s %s: exit %d: %s" % (program, " ".join(arguments), done.returncode,
                                                    done.stderr.strip()))
        return done

    def agent_command(self, *arguments, check=True):
        return self.run("leasehold-agent", "--socket", self.agent_socket, *arguments, check=check)

    # -- set-up

    def prepare(self):
        if self.centre is None:
            self.ca = self.path("ca")
            self.run("leasehold", "ca", "init", "--domain", DOMAIN, "--site", SITE,
                     "--gateway-ip", "127.0.0.1", "--out", self.ca)
        else:
            self.centre.prepare()
            self.centre.start()
            self.join()
        os.chmod(self.ca, 0o711)
        self.boot_port, self.gateway_port = free_port(), free_port()
        self.agent_socket = self.path("agent", "run", "agent.sock")
        self.gateway_socket = self.path("agent", "run", "gateway.sock")
        self.bootd_socket = self.path("bootd", "control.sock")
        self._prepare_image()
        self._prepare_agent()
        self._prepare_doors()
        self._prepare_simsite()

    def join(self):
        """An operator makes the site and a token; a technician joins with it."""
        self.centre.leasehold("site", "create", SITE)
        token = self.centre.json("site", "token", SITE, "--out", self.path("token"))
        self.ca = self.path("site")
        self.run("leasehold-agent", "site", "join", "--coordinator", token["url"], "--address",
                 self.centre.address, "--site", SITE, "--token-file", token["tokenFile"],
                 "--root-sha256", token["rootSha256"], "--gateway-dns",
                 "gateway.%s.%s" % (SITE, DOMAIN), "--out", self.ca)

    def _prepare_image(self):
        """What boots here is the ramdisk program itself, so its digest is what stands for it."""
        self.image = self.path("image")
        os.makedirs(self.path("image", "etc", "leasehold"))
        shutil.copy(os.path.join(self.bin, "leasehold-ramdisk"), self.path("image", "ramdisk.img"))
        with open(self.path("image", "vmlinuz"), "wb") as kernel:
            kernel.write(b"simulated machines have no kernel\n")
        shutil.copy(os.path.join(self.ca, "root.pem"), self.path("image", "etc", "leasehold"))
        digest = subprocess.run(["sha256sum", self.path("image", "ramdisk.img")], check=True,
                                capture_output=True, text=True).stdout.split()[0]
        self._write_json(self.path("image", "etc", "leasehold", "image.json"),
                         {"domain": DOMAIN, "site": SITE, "image": digest})

    def _prepare_agent(self):
        base = self.path("agent")
        os.makedirs(self.path("agent", "run"))
        os.makedirs(self.path("agent", "state"))
        for name in ["root.pem", "site-cas.json", "site-ca.pem", "site-ca.key", "site-agent.pem",
                     "site-agent.key"]:
            target = os.path.join(base, name)
            shutil.copy(os.path.join(self.ca, name), target)
            self._own(target, AGENT_UID, 0o600 if name.endswith(".key") else 0o644)
        self.run("leasehold-agent", "vault", "init", os.path.join(base, "vault.key"))
        self._own(os.path.join(base, "vault.key"), AGENT_UID, 0o600)
        self._own(self.path("agent", "state"), AGENT_UID, 0o750)
        self._own(self.path("agent", "run"), AGENT_UID, 0o755)
        self._own(base, AGENT_UID, 0o755)
        here = lambda name: os.path.join(base, name)
        self.agent_config = here("agent.json")
        self._write_json(self.agent_config, {
            "site": SITE, "domain": DOMAIN, "state_dir": here("state"),
            "vault_key_file": here("vault.key"), "local_socket": self.agent_socket,
            "local_uids": [0, AGENT_UID], "gateway_socket": self.gateway_socket,
            "gateway_uids": [GATEWAY_UID], "bootd_socket": self.bootd_socket,
            "identity": {"root_file": here("root.pem"), "site_cas_file": here("site-cas.json"),
                         "site_ca_file": here("site-ca.pem"),
                         "site_ca_key_file": here("site-ca.key"),
                         "certificate_file": here("site-agent.pem"),
                         "private_key_file": here("site-agent.key")},
            "gateway": {"host": "gateway.%s.%s" % (SITE, DOMAIN), "address": "127.0.0.1",
                        "port": self.gateway_port},
            "image": {"folder": self.image, "kernel": "vmlinuz", "initrd": "ramdisk.img",
                      "cmdline": "console=ttyS0"},
            **({} if self.centre is None else
               {"coordinator": {"url": self.centre.url, "address": self.centre.address}})},
                         uid=AGENT_UID)

    def _prepare_doors(self):
        os.makedirs(self.path("gateway"))
        for name in ["gateway.pem", "gateway.key"]:
            shutil.copy(os.path.join(self.ca, name), self.path("gateway"))
            self._own(self.path("gateway", name), GATEWAY_UID, 0o600)
        self._write_json(self.path("gateway", "gateway.json"), {
            "listen_host": "127.0.0.1", "listen_port": self.gateway_port,
            "certificate_file": self.path("gateway", "gateway.pem"),
            "private_key_file": self.path("gateway", "gateway.key"),
            "agent_socket": self.gateway_socket})
        os.makedirs(self.path("bootd"))
        self._own(self.path("bootd"), BOOTD_UID, 0o755)
        self._write_json(self.path("bootd", "bootd.json"), {
            "control_socket": self.bootd_socket, "control_uids": [AGENT_UID],
            "listen_host": "127.0.0.1", "listen_port": self.boot_port, "image_dir": self.image})

    def _prepare_simsite(self):
        os.makedirs(self.path("sim"))
        for described in self.machines:
            password = "factory-" + os.urandom(6).hex()
            self.passwords[described["name"]] = password
            file = self.path("sim", described["name"] + ".password")
            with open(file, "w", encoding="utf-8") as out:
                out.write(password + "\n")
            os.chmod(file, 0o600)
            described["bmc"]["password_file"] = file
        self.sim_socket = self.path("sim", "control.sock")
        self._write_json(self.path("sim", "simsite.json"), {
            "state_dir": self.path("sim", "state"), "control_socket": self.sim_socket,
            "ramdisk_program": os.path.join(self.bin, "leasehold-ramdisk"),
            "shims_dir": self.path("shims"), "image_dir": self.image,
            "boot_url": "http://127.0.0.1:%d" % self.boot_port, "machines": self.machines})

    # -- processes

    def start_process(self, name, uid, *command, environment=None):
        log = open(self.path(name + ".log"), "ab")
        changes = {} if uid == 0 else {"user": uid, "group": uid, "extra_groups": []}
        self.processes[name] = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
            env={**os.environ, **(environment or {})}, start_new_session=True, **changes)
        log.close()
        return self.processes[name]

    def start_agent(self, environment=None):
        self.start_process("agent", AGENT_UID, os.path.join(self.bin, "leasehold-agent"), "serve",
                           "--config", self.agent_config,
                           environment=environment or self.preload)
        self.wait_agent()

    def wait_agent(self):
        wait_for("the agent answers", self._agent_ready, 30)

    def _agent_ready(self):
        if self.processes["agent"].poll() is not None:
            raise SiteError("the agent ended: " + self.log_tail("agent"))
        try:
            return call(self.agent_socket, "GET", "/v1/status")[0] == 200
        except OSError:
            return False

    def start_doors(self):
        self.start_process("bootd", BOOTD_UID, os.path.join(self.bin, "leasehold-bootd"),
                           "--config", self.path("bootd", "bootd.json"))
        self.start_process("gateway", GATEWAY_UID, os.path.join(self.bin, "leasehold-gateway"),
                           "--config", self.path("gateway", "gateway.json"))

    def start(self):
        self.prepare()
        self.start_process("simsite", 0, os.path.join(self.bin, "leasehold-simsite"), "--config",
                           self.path("sim", "simsite.json"))
        site_file = self.path("sim", "state", "site.json")
        wait_for("the simulated site is up: " + site_file, lambda: os.path.exists(site_file))
        with open(site_file, encoding="utf-8") as described:
            self.site_facts = {m["name"]: m for m in json.load(described)["machines"]}
        self.start_doors()
        self.start_agent()
        wait_for("gateway and bootd are connected", lambda: self.status()["gateway"] == "connected"
                 and self.status()["bootd"] == "reachable")
        self.tell_policy()

    def log_tail(self, name, count=5):
        try:
            with open(self.path(name + ".log"), encoding="utf-8", errors="replace") as log:
                return "".join(log.readlines()[-count:]).strip()
        except OSError:
            return "(no log)"

    def kill(self, name, number=signal.SIGKILL):
        process = self.processes.pop(name)
        if process.poll() is None:
            process.send_signal(number)
        process.wait()

    def stop(self, keep=False):
        if self.centre is not None:
            self.centre.stop()
        for name in ["agent", "gateway", "bootd", "simsite"]:
            process = self.processes.get(name)
            if process is not None and process.poll() is None:
                process.terminate()
        for process in self.processes.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    # -- telling and asking

    def tell(self, *rows):
        status, answer = call(self.agent_socket, "POST", "/v1/rows", {"rows": list(rows)})
        if status != 200:
            raise SiteError("rows refused: %s" % answer)
        return answer["work_results"]

    def policy_and_profile(self):
        policy = {"hardwareProfile": PROFILE, "tenantRoot": True, "firmwareBaseline": BASELINE}
        policy.update(self.policy)
        return {k: v for k, v in policy.items() if v is not None}, {
            "profile": PROFILE, "driver": "redfish",
            "components": {"bmc": {"ids": ["BMC"]}, "bios": {"ids": ["BIOS"]},
                           "gpu-vbios": {"ids": ["GPU_*_VBIOS"]}},
            "boot": {"target": "Pxe"}, "timeouts": self.timeouts,
            "vetted": {"by": "simulated site", "why": "it does not exist"}}

    def tell_policy(self):
        policy, profile = self.policy_and_profile()
        if self.centre is not None:
            return self._import_policy(policy, profile)
        return self.tell(
            {"table": "hardware_profile", "schema": 1, "revision": 1, **profile},
            {"table": "pool_policy", "schema": 1, "pool": POOL, "revision": 1, "agent": "ramdisk",
             "policy": policy})

    def _import_policy(self, policy, profile):
        """As an operator does it; returns when the site knows."""
        self._write_json(self.path("profile.json"), profile)
        self._write_json(self.path("policy.json"), policy)
        self.centre.leasehold("hardware-profile", "import", self.path("profile.json"))
        self.centre.leasehold("pool", "create", POOL, "--site", SITE, "--policy",
                              self.path("policy.json"))
        wait_for("the site has the pool's rows",
                 lambda: self.centre.json("site", "show", SITE)["behind"] == 0)

    def adopt(self, name, pool=POOL):
        """Gives the agent a machine that a tenant has had."""
        facts = self.site_facts[name]
        described = next(m for m in self.machines if m["name"] == name)
        file = self.path(name + "-adoption.json")
        self._write_json(file, {
            "node": name, "pool": pool, "generation": 7, "bootMac": described["mac"],
            "lease": {"lease": "lease-" + name, "tenant": "acme"},
            "bmc": {"url": facts["url"], "user": "admin", "tlsPin": facts["tls_pin"],
                    "passwordFile": described["bmc"]["password_file"]},
            "disks": [{k: d[k] for k in ("serial", "wwn", "model", "capacity_bytes", "transport",
                                         "hidden_areas")} for d in facts["disks"]],
            "gpus": [gpu["serial"] for gpu in described["gpus"]]})
        self.agent_command("node", "adopt", file)

    def status(self):
        return call(self.agent_socket, "GET", "/v1/status")[1]

    def node(self, name):
        return call(self.agent_socket, "GET", "/v1/nodes/" + name)[1]

    def work(self, name, kind, work=None):
        result = self.tell({"table": "work", "schema": 1, "work": work or "w-" + os.urandom(4).hex(),
                            "node": name, "kind": kind})[0]
        if not result["accepted"]:
            raise SiteError("%s of %s refused: %s" % (kind, name, result["message"]))
        return result["run"]

    def run_row(self, run):
        return call(self.agent_socket, "GET", "/v1/runs/" + run)[1]

    def wait_run(self, run, seconds=60):
        """The finished run's row; patient with an agent that is being restarted."""
        def finished():
            try:
                row = self.run_row(run)
            except OSError:
                return None
            return row if isinstance(row, dict) and row.get("state") not in (None, "open") else None
        return wait_for("run %s ends" % run, finished, seconds)

    def sim(self, method, path, body=None):
        return call(self.sim_socket, method, path, body)

    def fault(self, name, **rule):
        status, answer = self.sim("POST", "/machines/%s/faults" % name, rule)
        if status // 100 != 2:
            raise SiteError("fault refused: %s" % answer)

    def sim_machine(self, name):
        return self.sim("GET", "/machines/" + name)[1]

    def disk_files(self, name):
        return [d["path"] for d in self.site_facts[name]["disks"]]

    def tenant_bytes(self, name):
        """How often the tenant's text stands on the machine's disks."""
        count = 0
        for file in self.disk_files(name):
            with open(file, "rb") as disk:
                count += disk.read().count(b"TENANT-SECRET")
        return count

    def export_evidence(self, run, out):
        self.agent_command("evidence", "export", run, "--out", out)

    def enrol(self, name, pool=POOL, check=True):
        """Makes a machine ready, from its box: the finished command."""
        described = next(m for m in self.machines if m["name"] == name)
        return self.agent_command("enrol", "--pool", pool, "--name", name, "--bmc",
                                  self.site_facts[name]["url"], "--user", "admin", "--password-file",
                                  described["bmc"]["password_file"], check=check)

    def enrolment_file(self, names, pool=POOL):
        """A CSV file of these machines, for `leasehold-agent enrol --csv`: its path."""
        file = self.path("machines.csv")
        with open(file, "w", encoding="utf-8") as out:
            out.write("name,pool,bmc,user,password_file\n")
            for name in names:
                described = next(m for m in self.machines if m["name"] == name)
                out.write("%s,%s,%s,admin,%s\n" % (name, pool, self.site_facts[name]["url"],
                                                   described["bmc"]["password_file"]))
        return file

    def verify(self, file, at=None):
        """`leasehold evidence verify` on a file: the finished process. With a coordinator the file's
        receipt must say by what it is judged."""
        if self.centre is not None:
            return self.centre.leasehold("evidence", "verify", file, check=False)
        with open(os.path.join(self.ca, "site-cas.json"), encoding="utf-8") as recorded:
            site_ca = json.load(recorded)[SITE][0]
        at = at or time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        return self.run("leasehold", "evidence", "verify", file, "--root",
                        os.path.join(self.ca, "root.pem"), "--domain", DOMAIN, "--unreceipted",
                        "--site-ca", site_ca, "--at", at, check=False)
