/*
 * Writes down, in the file CUT_JOURNAL, each change of a file in DATA_DIR and each fsync, in the order in which they took
 * place, and ends the process at change number CUT_AFTER (never at 0). What of it a disk would have kept, disk.ts decides.
 * With CUT_LIES every fsync is acknowledged, and none is made.
 *
 * A line per change: its kind, the file, a position or size, and how many bytes follow it.
 */
#include "data-dir.h"

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int journal = -1;
static long changes_left;

__attribute__((constructor)) static void start(void) {
  const char *after = getenv("CUT_AFTER");
  changes_left = after ? atol(after) : 0;
  journal = open(getenv("CUT_JOURNAL"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void note(char kind, const char *name, long position, const void *data, size_t length) {
  char line[PATH_MAX];
  int size = snprintf(line, sizeof line, "%c %s %ld %zu\n", kind, name, position, length);
  struct iovec parts[] = {{line, size}, {(void *)data, length}};
  if (writev(journal, parts, 2) < 0) abort();
  if (--changes_left == 0) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
}

static ssize_t note_written(const char *name, long position, const void *data, ssize_t written) {
  if (written > 0) note('W', name, position, data, written);
  pthread_mutex_unlock(&turn);
  return written;
}

static int note_done(char kind, const char *name, long position, const char *other, int result) {
  if (result >= 0) note(kind, name, position, other, other ? strlen(other) : 0);
  pthread_mutex_unlock(&turn);
  return result;
}

#define WRITE_AT(function)                                                                 \
  ssize_t function(int fd, const void *data, size_t length, off_t position) {              \
    char path[PATH_MAX];                                                                   \
    const char *name = name_of(fd, path);                                                  \
    NEXT(ssize_t, #function, int, const void *, size_t, off_t);                            \
    if (!name) return next(fd, data, length, position);                                    \
    pthread_mutex_lock(&turn);                                                             \
    return note_written(name, position, data, next(fd, data, length, position));           \
  }
WRITE_AT(pwrite)
WRITE_AT(pwrite64)

ssize_t write(int fd, const void *data, size_t length) {
  char path[PATH_MAX];
  const char *name = name_of(fd, path);
  NEXT(ssize_t, "write", int, const void *, size_t);
  if (!name) return next(fd, data, length);
  pthread_mutex_lock(&turn);
  off_t position = lseek(fd, 0, SEEK_CUR);
  return note_written(name, position, data, next(fd, data, length));
}

#define TRUNCATE(function)                                                \
  int function(int fd, off_t size) {                                      \
    char path[PATH_MAX];                                                  \
    const char *name = name_of(fd, path);                                 \
    NEXT(int, #function, int, off_t);                                     \
    if (!name) return next(fd, size);                                     \
    pthread_mutex_lock(&turn);                                            \
    return note_done('T', name, size, NULL, next(fd, size));              \
  }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

/* The page cache outlives a process, so there is no need for the disk to be waited for. */
#define SYNC(function)                                                    \
  int function(int fd) {                                                  \
    char path[PATH_MAX];                                                  \
    const char *name = name_of(fd, path);                                 \
    NEXT(int, #function, int);                                            \
    if (!name) return next(fd);                                           \
    if (getenv("CUT_LIES")) return 0;                                     \
    pthread_mutex_lock(&turn);                                            \
    return note_done('S', name, 0, NULL, 0);                              \
  }
SYNC(fsync)
SYNC(fdatasync)

#define OPEN(function)                                                    \
  int function(const char *path, int flags, ...) {                        \
    va_list rest;                                                         \
    va_start(rest, flags);                                                \
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;             \
    va_end(rest);                                                         \
    const char *name = name_of_path(path);                                \
    NEXT(int, #function, const char *, int, ...);                         \
    if (!name || !(flags & O_CREAT)) return next(path, flags, mode);      \
    pthread_mutex_lock(&turn);                                            \
    return note_done('C', name, 0, NULL, next(path, flags, mode));        \
  }
OPEN(open)
OPEN(open64)

int unlink(const char *path) {
  const char *name = name_of_path(path);
  NEXT(int, "unlink", const char *);
  if (!name) return next(path);
  pthread_mutex_lock(&turn);
  return note_done('U', name, 0, NULL, next(path));
}

int rename(const char *from, const char *to) {
  const char *name = name_of_path(from);
  NEXT(int, "rename", const char *, const char *);
  if (!name) return next(from, to);
  pthread_mutex_lock(&turn);
  return note_done('R', name, 0, name_of_path(to), next(from, to));
}
