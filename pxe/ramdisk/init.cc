#include "pxe/ramdisk/init.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/route.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/limits.h"
#include "core/base/log.h"

namespace leasehold {
namespace {

constexpr int64_t kInterfacePollMs = 50;

void log_failure(const std::string& message) {
  log_line(LogEvent::kProgramFailed, {{"message", message}});
}

Error system_error(const std::string& what) {
  return Error(Code::kIo, what + ": " + std::strerror(errno));
}

void mount_one(const char* type, const char* where) {
  ::mkdir(where, 0755);
  if (::mount(type, where, type, MS_NOSUID, nullptr) != 0 && errno != EBUSY) {
    log_failure(std::string("cannot mount ") + where + ": " + std::strerror(errno));
  }
}

// The console that the kernel opened, if any, was that of the initial root's /dev.
void open_console() {
  int console = ::open("/dev/console", O_RDWR | O_NOCTTY);
  if (console < 0) return;
  for (int fd : {0, 1, 2}) ::dup2(console, fd);
  if (console > 2) ::close(console);
}

Status load_module(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return system_error("cannot open " + path);
  if (::syscall(SYS_finit_module, file.get(), "", 0) != 0 && errno != EEXIST) {
    return system_error("cannot load " + path);
  }
  return {};
}

sockaddr ipv4(uint32_t network_order) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = network_order;
  sockaddr out{};
  std::memcpy(&out, &address, sizeof out);
  return out;
}

// The driver's probe runs beside us; the interface may show a moment after its module was loaded.
Status await_interface(int control, ifreq request) {
  SystemClock clock;
  int64_t deadline_ms = clock.monotonic_ms() + limits::kRamdiskInterfaceMs;
  while (::ioctl(control, SIOCGIFFLAGS, &request) != 0) {
    if (clock.monotonic_ms() >= deadline_ms) {
      return system_error(std::string("no network interface ") + request.ifr_name);
    }
    clock.sleep_ms(kInterfacePollMs);
  }
  return {};
}

Status set_up(int control, ifreq request) {
  if (::ioctl(control, SIOCGIFFLAGS, &request) != 0) return system_error("interface flags");
  request.ifr_flags |= IFF_UP | IFF_RUNNING;
  if (::ioctl(control, SIOCSIFFLAGS, &request) != 0) return system_error("interface up");
  return {};
}

Status configure(const NetworkConfig& config) {
  FileDescriptor control(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!control.valid()) return system_error("socket");
  ifreq request{};
  config.interface.copy(request.ifr_name, IFNAMSIZ - 1);
  TRY(await_interface(control.get(), request));
  ifreq address = request;
  address.ifr_addr = ipv4(::inet_addr(config.address.c_str()));
  if (::ioctl(control.get(), SIOCSIFADDR, &address) != 0) return system_error("set the address");
  ifreq mask = request;
  mask.ifr_netmask = ipv4(netmask(config.prefix));
  if (::ioctl(control.get(), SIOCSIFNETMASK, &mask) != 0) return system_error("set the netmask");
  TRY(set_up(control.get(), request));
  if (config.gateway.empty()) return {};
  rtentry route{};
  route.rt_dst = ipv4(0);
  route.rt_genmask = ipv4(0);
  route.rt_gateway = ipv4(::inet_addr(config.gateway.c_str()));
  route.rt_flags = RTF_UP | RTF_GATEWAY;
  if (::ioctl(control.get(), SIOCADDRT, &route) != 0) return system_error("set the route");
  return {};
}

void start_network(const Sysroot& root) {
  Result<NetworkConfig> config = read_network_config(root);
  if (!config.ok()) return log_failure(config.error().message);
  Status up = configure(config.value());
  if (!up.ok()) return log_failure(up.error().message);
  log_line(LogEvent::kRamdiskNetwork,
           {{"interface", config.value().interface}, {"address", config.value().address}});
}

bool is_ipv4(const std::string& text) {
  in_addr address{};
  return ::inet_pton(AF_INET, text.c_str(), &address) == 1;
}

Result<NetworkConfig> parse_network(const Json& json) {
  TRY(check_keys(json, {"interface", "address", "prefix", "gateway"}, "the network"));
  NetworkConfig config;
  config.interface = TRY(json_string(json, "interface"));
  config.address = TRY(json_string(json, "address"));
  config.prefix = TRY(json_int(json, "prefix"));
  config.gateway = TRY(json_string_or(json, "gateway", ""));
  if (config.interface.empty() || config.interface.size() >= IFNAMSIZ) {
    return Error(Code::kInvalidInput, "\"interface\" is no interface's name", "interface");
  }
  if (!is_ipv4(config.address) || config.prefix < 1 || config.prefix > 32) {
    return Error(Code::kInvalidInput, "\"address\" and \"prefix\" must be IPv4", "address");
  }
  if (!config.gateway.empty() && !is_ipv4(config.gateway)) {
    return Error(Code::kInvalidInput, "\"gateway\" must be IPv4", "gateway");
  }
  return config;
}

}  // namespace

Result<NetworkConfig> read_network_config(const Sysroot& root) {
  std::string path = root.path("etc/leasehold/network.json");
  Json json = TRY(read_json_file(path, limits::kConfigBytes));
  Result<NetworkConfig> config = parse_network(json);
  if (!config.ok()) return Error(Code::kConfig, path + ": " + config.error().message);
  return config;
}

std::vector<std::string> module_paths(const Sysroot& root) {
  std::string path = root.path("etc/leasehold/modules");
  std::istringstream lines(read_file(path, limits::kConfigBytes).value_or(""));
  std::vector<std::string> paths;
  std::string line;
  while (std::getline(lines, line) && paths.size() < limits::kRamdiskModules) {
    line = trimmed(line);
    if (!line.empty() && line.front() != '#') paths.push_back(line);
  }
  return paths;
}

uint32_t netmask(int64_t prefix) { return htonl(prefix == 0 ? 0 : ~uint32_t{0} << (32 - prefix)); }

void become_init(const Sysroot& root) {
  mount_one("devtmpfs", "/dev");
  open_console();
  mount_one("proc", "/proc");
  mount_one("sysfs", "/sys");
  mount_one("tmpfs", "/tmp");
  mount_one("tmpfs", "/run");
  ::setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
  for (const std::string& path : module_paths(root)) {
    Status loaded = load_module(path);
    if (!loaded.ok()) log_failure(loaded.error().message);
  }
  start_network(root);
}

void wait_for_power_off() {
  SystemClock clock;
  while (true) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    clock.sleep_ms(1000);
  }
}

}  // namespace leasehold
