#include "core/db/wal_vfs.h"

#include <sqlite3.h>

#include <cstddef>
#include <new>
#include <string>

namespace leasehold {
namespace {

constexpr const char* kName = "leasehold-wal";
// The system's VFS writes 128 KiB at most with one call; a larger commit goes out in pieces.
constexpr size_t kGatherBytes = 64 << 10;

// What SQLite holds for an open log: this, then the system's own file.
struct WalFile {
  sqlite3_file base;
  std::string pending;  // written by SQLite, not yet to the file
  sqlite3_int64 pending_at = 0;

  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
static_assert(sizeof(WalFile) % alignof(std::max_align_t) == 0);

WalFile& wal(sqlite3_file* file) { return *reinterpret_cast<WalFile*>(file); }

// After a failure the bytes are dropped: SQLite takes the commit back and writes them anew.
int flush(WalFile& file) {
  if (file.pending.empty()) return SQLITE_OK;
  int code = file.real()->pMethods->xWrite(file.real(), file.pending.data(),
                                           static_cast<int>(file.pending.size()), file.pending_at);
  file.pending.clear();
  return code;
}

int wal_close(sqlite3_file* file) {
  WalFile& self = wal(file);
  int flushed = flush(self);
  int closed = self.real()->pMethods->xClose(self.real());
  self.~WalFile();
  return flushed != SQLITE_OK ? flushed : closed;
}

int wal_read(sqlite3_file* file, void* bytes, int size, sqlite3_int64 at) {
  WalFile& self = wal(file);
  if (int code = flush(self); code != SQLITE_OK) return code;
  return self.real()->pMethods->xRead(self.real(), bytes, size, at);
}

int wal_write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 at) {
  WalFile& self = wal(file);
  bool follows = at == self.pending_at + static_cast<sqlite3_int64>(self.pending.size());
  bool fits = self.pending.size() + static_cast<size_t>(size) <= kGatherBytes;
  if (!follows || !fits) {
    if (int code = flush(self); code != SQLITE_OK) return code;
  }
  if (self.pending.empty()) self.pending_at = at;
  self.pending.append(static_cast<const char*>(bytes), static_cast<size_t>(size));
  return SQLITE_OK;
}

int wal_truncate(sqlite3_file* file, sqlite3_int64 size) {
  WalFile& self = wal(file);
  if (int code = flush(self); code != SQLITE_OK) return code;
  return self.real()->pMethods->xTruncate(self.real(), size);
}

int wal_sync(sqlite3_file* file, int flags) {
  WalFile& self = wal(file);
  if (int code = flush(self); code != SQLITE_OK) return code;
  return self.real()->pMethods->xSync(self.real(), flags);
}

int wal_size(sqlite3_file* file, sqlite3_int64* size) {
  WalFile& self = wal(file);
  if (int code = flush(self); code != SQLITE_OK) return code;
  return self.real()->pMethods->xFileSize(self.real(), size);
}

int wal_lock(sqlite3_file* file, int level) {
  return wal(file).real()->pMethods->xLock(wal(file).real(), level);
}
int wal_unlock(sqlite3_file* file, int level) {
  return wal(file).real()->pMethods->xUnlock(wal(file).real(), level);
}
int wal_check_reserved(sqlite3_file* file, int* reserved) {
  return wal(file).real()->pMethods->xCheckReservedLock(wal(file).real(), reserved);
}
int wal_control(sqlite3_file* file, int verb, void* argument) {
  return wal(file).real()->pMethods->xFileControl(wal(file).real(), verb, argument);
}
int wal_sector(sqlite3_file* file) {
  return wal(file).real()->pMethods->xSectorSize(wal(file).real());
}
int wal_device(sqlite3_file* file) {
  return wal(file).real()->pMethods->xDeviceCharacteristics(wal(file).real());
}

// Version 1: the log itself is neither shared nor mapped.
constexpr sqlite3_io_methods kWalMethods = {
    1,           wal_close,  wal_read,   wal_write,  wal_truncate,
    wal_sync,    wal_size,   wal_lock,   wal_unlock, wal_check_reserved,
    wal_control, wal_sector, wal_device, nullptr,    nullptr,
    nullptr,     nullptr,    nullptr,    nullptr};

int open_file(sqlite3_vfs*, sqlite3_filename name, sqlite3_file* file, int flags, int* out_flags) {
  sqlite3_vfs* system = sqlite3_vfs_find("unix");
  if ((flags & SQLITE_OPEN_WAL) == 0) return system->xOpen(system, name, file, flags, out_flags);
  auto* made = new (file) WalFile();
  int code = system->xOpen(system, name, made->real(), flags, out_flags);
  if (code == SQLITE_OK) {
    made->base.pMethods = &kWalMethods;
    return SQLITE_OK;
  }
  // SQLite closes no file whose methods are missing.
  made->~WalFile();
  file->pMethods = nullptr;
  return code;
}

int register_vfs() {
  sqlite3_vfs* system = sqlite3_vfs_find("unix");
  if (system == nullptr) return SQLITE_NOTFOUND;
  // SQLite keeps the address until the process ends.
  static sqlite3_vfs made = *system;
  made.zName = kName;
  made.pNext = nullptr;
  made.szOsFile = static_cast<int>(sizeof(WalFile)) + system->szOsFile;
  made.xOpen = open_file;
  return sqlite3_vfs_register(&made, 0);
}

}  // namespace

Result<const char*> wal_vfs() {
  static const int kRegistered = register_vfs();
  if (kRegistered == SQLITE_OK) return kName;
  return Error(Code::kInternal, "SQLite takes no VFS: " + std::string(sqlite3_errstr(kRegistered)));
}

}  // namespace leasehold
