/*
 * A failing disk. While the file FAULTS_WHILE exists, writes to files in DATA_DIR fail with ENOSPC or EIO, or write only
 * a part. FAULT_ENOSPC, FAULT_EIO and FAULT_SHORT are the rates in per cent. FAULT_SYNC is the rate of
 * an fsync that does nothing and fails, FAULT_LATE_SYNC of one that works and fails. FAULT_KILL is the rate of kill -9 at each
 * fsync of a thread after the first that failed. Each fault appends its letter (N, E, S, Y, L or K) to the file FAULT_LOG.
 * FAULT_SEED is the seed of the random numbers.
 */
#include "data-dir.h"

static int fault_log = -1;
static __thread unsigned seed;
static __thread int has_failed_sync;

__attribute__((constructor)) static void start(void) {
  fault_log = open(getenv("FAULT_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int is_hit(const char *rate, const char *letter) {
  const char *percent = getenv(rate);
  if (!percent) return 0;
  if (seed == 0) seed = getenv("FAULT_SEED") ? atoi(getenv("FAULT_SEED")) : (unsigned)(size_t)&seed ^ (unsigned)getpid();
  if (rand_r(&seed) % 100 >= atoi(percent)) return 0;
  NEXT(ssize_t, "write", int, const void *, size_t);
  if (next(fault_log, letter, 1) != 1) abort();
  return 1;
}

static int fails_now(int fd) {
  char path[PATH_MAX];
  return name_of(fd, path) && access(getenv("FAULTS_WHILE"), F_OK) == 0;
}

static int fail(int code) {
  errno = code;
  return -1;
}

#define WRITE_AT(function)                                                                     \
  ssize_t function(int fd, const void *data, size_t length, off_t position) {                  \
    NEXT(ssize_t, #function, int, const void *, size_t, off_t);                                \
    if (!fails_now(fd)) return next(fd, data, length, position);                               \
    if (is_hit("FAULT_ENOSPC", "N")) return fail(ENOSPC);                                      \
    if (is_hit("FAULT_EIO", "E")) return fail(EIO);                                            \
    if (length > 1 && is_hit("FAULT_SHORT", "S")) length = 1 + rand_r(&seed) % (length - 1);   \
    return next(fd, data, length, position);                                                   \
  }
WRITE_AT(pwrite)
WRITE_AT(pwrite64)

#define TRUNCATE(function)                                                \
  int function(int fd, off_t size) {                                      \
    NEXT(int, #function, int, off_t);                                     \
    if (!fails_now(fd)) return next(fd, size);                            \
    if (is_hit("FAULT_ENOSPC", "N")) return fail(ENOSPC);                 \
    return is_hit("FAULT_EIO", "E") ? fail(EIO) : next(fd, size);         \
  }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

static int fail_sync(int code) {
  has_failed_sync = 1;
  return fail(code);
}

#define SYNC(function)                                                    \
  int function(int fd) {                                                  \
    NEXT(int, #function, int);                                            \
    if (!fails_now(fd)) return next(fd);                                  \
    if (has_failed_sync && is_hit("FAULT_KILL", "K")) raise(SIGKILL);     \
    if (is_hit("FAULT_SYNC", "Y")) return fail_sync(EIO);                 \
    int result = next(fd);                                                \
    return is_hit("FAULT_LATE_SYNC", "L") ? fail_sync(EIO) : result;      \
  }
SYNC(fsync)
SYNC(fdatasync)
