#include "tests/support/faulty_vfs.h"

#include <sqlite3.h>

#include <cstring>

namespace leasehold::test {
namespace {

// What SQLite sees as an open file; the system's own file object follows it in memory.
struct File {
  sqlite3_file base;
  FaultyVfs* owner;
  bool is_log;
  sqlite3_file* inner() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

File* self(sqlite3_file* file) { return reinterpret_cast<File*>(file); }
sqlite3_file* inner(sqlite3_file* file) { return self(file)->inner(); }

// What a change of the file answers instead of being made, or SQLITE_OK.
int verdict(FaultyVfs& owner, bool grows) {
  if (owner.ended) {
    owner.refused = true;
    return SQLITE_IOERR_WRITE;
  }
  if (owner.full && grows) {
    ++owner.full_hits;
    return SQLITE_FULL;
  }
  return SQLITE_OK;
}

int file_close(sqlite3_file* f) { return inner(f)->pMethods->xClose(inner(f)); }
int file_read(sqlite3_file* f, void* to, int size, sqlite3_int64 at) {
  return inner(f)->pMethods->xRead(inner(f), to, size, at);
}
int file_write(sqlite3_file* f, const void* from, int size, sqlite3_int64 at) {
  int code = verdict(*self(f)->owner, true);
  return code != SQLITE_OK ? code : inner(f)->pMethods->xWrite(inner(f), from, size, at);
}
int file_truncate(sqlite3_file* f, sqlite3_int64 size) {
  int code = verdict(*self(f)->owner, false);
  return code != SQLITE_OK ? code : inner(f)->pMethods->xTruncate(inner(f), size);
}
int file_sync(sqlite3_file* f, int) {
  FaultyVfs& owner = *self(f)->owner;
  int code = verdict(owner, false);
  if (code != SQLITE_OK) return code;
  // The disk is not asked: what counts here is the order of the calls.
  if (self(f)->is_log && ++owner.log_syncs == owner.end_after) owner.ended = true;
  return SQLITE_OK;
}
int file_size(sqlite3_file* f, sqlite3_int64* size) {
  return inner(f)->pMethods->xFileSize(inner(f), size);
}
int file_lock(sqlite3_file* f, int level) { return inner(f)->pMethods->xLock(inner(f), level); }
int file_unlock(sqlite3_file* f, int level) { return inner(f)->pMethods->xUnlock(inner(f), level); }
int file_check_lock(sqlite3_file* f, int* held) {
  return inner(f)->pMethods->xCheckReservedLock(inner(f), held);
}
int file_control(sqlite3_file* f, int what, void* argument) {
  return inner(f)->pMethods->xFileControl(inner(f), what, argument);
}
int file_sector(sqlite3_file* f) { return inner(f)->pMethods->xSectorSize(inner(f)); }
int file_traits(sqlite3_file* f) { return inner(f)->pMethods->xDeviceCharacteristics(inner(f)); }

// Version 1: no shared memory, which the exclusive lock does without.
const sqlite3_io_methods kMethods = {
    1,         file_close,  file_read,       file_write,   file_truncate, file_sync,   file_size,
    file_lock, file_unlock, file_check_lock, file_control, file_sector,   file_traits, nullptr,
    nullptr,   nullptr,     nullptr,         nullptr,      nullptr};

}  // namespace

struct FaultyVfs::Impl {
  sqlite3_vfs vfs{};
  sqlite3_vfs* system = nullptr;

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* f, int flags, int* out) {
    auto* owner = static_cast<FaultyVfs*>(vfs->pAppData);
    f->pMethods = nullptr;
    self(f)->owner = owner;
    self(f)->is_log = (flags & SQLITE_OPEN_WAL) != 0;
    std::memset(static_cast<void*>(inner(f)), 0, static_cast<size_t>(system_of(vfs)->szOsFile));
    int code = system_of(vfs)->xOpen(system_of(vfs), name, inner(f), flags, out);
    if (code == SQLITE_OK) f->pMethods = &kMethods;
    return code;
  }
  static int remove(sqlite3_vfs* vfs, const char* name, int sync) {
    int code = verdict(*static_cast<FaultyVfs*>(vfs->pAppData), false);
    return code != SQLITE_OK ? code : system_of(vfs)->xDelete(system_of(vfs), name, sync);
  }
  static sqlite3_vfs* system_of(sqlite3_vfs* vfs) {
    return static_cast<FaultyVfs*>(vfs->pAppData)->impl_->system;
  }
};

FaultyVfs::FaultyVfs() : impl_(new Impl) {
  static std::atomic<int> made{0};
  name_ = "faulty-" + std::to_string(++made);
  impl_->system = sqlite3_vfs_find(nullptr);
  impl_->vfs = *impl_->system;  // whatever is no file operation goes to the system's functions
  impl_->vfs.iVersion = 1;
  impl_->vfs.pNext = nullptr;
  impl_->vfs.szOsFile = static_cast<int>(sizeof(File)) + impl_->system->szOsFile;
  impl_->vfs.zName = name_.c_str();
  impl_->vfs.pAppData = this;
  impl_->vfs.xOpen = &Impl::open;
  impl_->vfs.xDelete = &Impl::remove;
  sqlite3_vfs_register(&impl_->vfs, 0);
}

FaultyVfs::~FaultyVfs() {
  sqlite3_vfs_unregister(&impl_->vfs);
  delete impl_;
}

}  // namespace leasehold::test
