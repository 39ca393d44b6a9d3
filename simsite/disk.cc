#include "simsite/disk.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>

#include "core/base/files.h"

namespace leasehold::simsite {
namespace {

constexpr const char* kBootMagic = "LEASEHOLD-SIM-BOOT\n";
constexpr int64_t kPage = 4096;
constexpr int64_t kScatter = 64 << 10;
constexpr int64_t kEdge = 1 << 20;

Error io_error(const Disk& disk, const char* what) {
  return Error(Code::kIo, std::string(what) + " " + disk.path + ": " + std::strerror(errno));
}

Status write_page(const Disk& disk, int fd, int64_t offset, const std::string& page) {
  if (::pwrite(fd, page.data(), page.size(), offset) != static_cast<ssize_t>(page.size())) {
    return io_error(disk, "cannot write");
  }
  return {};
}

// Pseudo-random bytes with the tenant's text at a pseudo-random place.
std::string tenant_page(std::mt19937_64& chance, const std::string& serial, int64_t offset) {
  std::string page(kPage, '\0');
  for (size_t i = 0; i < page.size(); i += 8) {
    uint64_t word = chance();
    std::memcpy(page.data() + i, &word, 8);
  }
  std::string text = "TENANT-SECRET-" + serial + "-" + std::to_string(offset);
  page.replace(chance() % (page.size() - text.size()), text.size(), text);
  return page;
}

std::string boot_page() {
  std::string page = kBootMagic + dump_json({{"os", "tenant"}, {"kernel", "6.1.0"}}) + "\n";
  page.resize(kPage, '\0');
  return page;
}

// One page in every 64 KiB, and the whole of the first and the last MiB.
Status fill_with_tenant(const Disk& disk, int fd) {
  std::mt19937_64 chance(std::hash<std::string>{}(disk.config.serial));
  int64_t size = disk.bytes();
  for (int64_t block = 0; block < size; block += kScatter) {
    bool edge = block < kEdge || block >= size - kEdge;
    int64_t pages = kScatter / kPage;
    int64_t first = edge ? 0 : static_cast<int64_t>(chance() % static_cast<uint64_t>(pages));
    int64_t last = edge ? pages - 1 : first;
    for (int64_t page = first; page <= last; ++page) {
      int64_t offset = block + page * kPage;
      TRY(write_page(disk, fd, offset, tenant_page(chance, disk.config.serial, offset)));
    }
  }
  return write_page(disk, fd, 0, boot_page());
}

}  // namespace

Json Disk::manifest() const {
  return {{"serial", config.serial},   {"wwn", config.wwn},   {"model", config.model},
          {"capacity_bytes", bytes()}, {"transport", "nvme"}, {"hidden_areas", "none"}};
}

Status create_disk(const Disk& disk) {
  FileDescriptor fd(::open(disk.path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd.valid()) return io_error(disk, "cannot create");
  if (::ftruncate(fd.get(), disk.bytes()) != 0) return io_error(disk, "cannot size");
  if (disk.config.tenant_content) TRY(fill_with_tenant(disk, fd.get()));
  // Once now, or the first flush or erase of a machine would wait for what its tenant wrote.
  if (::fsync(fd.get()) != 0) return io_error(disk, "cannot sync");
  return {};
}

Status erase_disk(const Disk& disk, Erase erase) {
  if (erase == Erase::kNothing) return {};
  FileDescriptor fd(::open(disk.path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd.valid()) return io_error(disk, "cannot open");
  int64_t length = erase == Erase::kHalf ? disk.bytes() / 2 : disk.bytes();
  // Zeroed in place where the file system can: one that discards freed blocks takes its time.
  bool erased = ::fallocate(fd.get(), FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, 0, length) == 0;
  if (!erased &&
      ::fallocate(fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, length) != 0) {
    return io_error(disk, "cannot erase");
  }
  return {};  // not synced: the world that this disk is part of ends with this program
}

std::optional<std::string> bootable_os(const Disk& disk) {
  FileDescriptor fd(::open(disk.path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string page(kPage, '\0');
  if (!fd.valid() || ::pread(fd.get(), page.data(), page.size(), 0) != kPage) return std::nullopt;
  if (page.rfind(kBootMagic, 0) != 0) return std::nullopt;
  size_t start = std::strlen(kBootMagic);
  size_t end = page.find('\n', start);
  if (end == std::string::npos) return std::nullopt;
  Result<Json> record = parse_json(page.substr(start, end - start));
  if (!record.ok()) return std::nullopt;
  std::string os = json_text(record.value(), "os");
  if (os.empty()) return std::nullopt;
  return os;
}

}  // namespace leasehold::simsite
