/* Kills the process it is loaded into right after its Nth fdatasync or fsync: after the journal's
 * record is durable and before anybody learned of it. Told through a mapped file (named by
 * LEASEHOLD_KILL_CONTROL) of three 64-bit numbers: armed, counted so far, kill at (0: never).
 * Loaded by tests only, with LD_PRELOAD; nothing in the product knows of it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct control {
  _Atomic int64_t armed;
  _Atomic int64_t counted;
  _Atomic int64_t kill_at;
};

static struct control* control(void) {
  static struct control* mapped;
  if (mapped != NULL) return mapped;
  const char* path = getenv("LEASEHOLD_KILL_CONTROL");
  if (path == NULL) return NULL;
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return NULL;
  void* memory = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED) return NULL;
  mapped = memory;
  return mapped;
}

static void count_one(void) {
  struct control* state = control();
  if (state == NULL || !atomic_load(&state->armed)) return;
  int64_t count = atomic_fetch_add(&state->counted, 1) + 1;
  if (count == atomic_load(&state->kill_at)) kill(getpid(), SIGKILL);
}

int fdatasync(int fd) {
  static int (*real)(int);
  if (real == NULL) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  int outcome = real(fd);
  count_one();
  return outcome;
}

int fsync(int fd) {
  static int (*real)(int);
  if (real == NULL) real = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  int outcome = real(fd);
  count_one();
  return outcome;
}
