/*
 * Writes each change of a file in DATA_DIR and each fsync to the file CUT_JOURNAL, in order, and kills the process at
 * change number CUT_AFTER (0: never). disk.ts decides which changes a disk would have kept. With CUT_NO_FSYNC, each
 * fsync succeeds without an entry in the journal.
 *
 * An entry is a line with the kind, the file, a position or size, and the number of bytes that follow the line.
 */
#include "data-dir.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int journal = -1;
static long changes_left;

__attribute__((constructor)) static void start(void) {
  const char *after = getenv("CUT_AFTER");
  changes_left = after ? atol(after) : 0;
  journal = open(getenv("CUT_JOURNAL"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void record(char kind, const char *name, long position, const void *data, size_t length) {
  char line[PATH_MAX];
  int size = snprintf(line, sizeof line, "%c %s %ld %zu\n", kind, name, position, length);
  struct iovec parts[] = {{line, size}, {(void *)data, length}};
  if (writev(journal, parts, 2) < 0) abort();
  if (--changes_left == 0) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
  }
}

static ssize_t record_write(const char *name, long position, const void *data, ssize_t written) {
  if (written > 0) record('W', name, position, data, written);
  pthread_mutex_unlock(&mutex);
  return written;
}

static int record_change(char kind, const char *name, long position, const char *other, int result) {
  if (result >= 0) record(kind, name, position, other, other ? strlen(other) : 0);
  pthread_mutex_unlock(&mutex);
  return result;
}

#define WRITE_AT(function)                                                                 \
  ssize_t function(int fd, const void *data, size_t length, off_t position) {              \
    char path[PATH_MAX];                                                                   \
    const char *name = name_of(fd, path);                                                  \
    NEXT(ssize_t, #function, int, const void *, size_t, off_t);                            \
    if (!name) return next(fd, data, length, position);                                    \
    pthread_mutex_lock(&mutex);                                                             \
    return record_write(name, position, data, next(fd, data, length, position));           \
  }
WRITE_AT(pwrite)
WRITE_AT(pwrite64)

ssize_t write(int fd, const void *data, size_t length) {
  char path[PATH_MAX];
  const char *name = name_of(fd, path);
  NEXT(ssize_t, "write", int, const void *, size_t);
  if (!name) return next(fd, data, length);
  pthread_mutex_lock(&mutex);
  off_t position = lseek(fd, 0, SEEK_CUR);
  return record_write(name, position, data, next(fd, data, length));
}

#define TRUNCATE(function)                                                \
  int function(int fd, off_t size) {                                      \
    char path[PATH_MAX];                                                  \
    const char *name = name_of(fd, path);                                 \
    NEXT(int, #function, int, off_t);                                     \
    if (!name) return next(fd, size);                                     \
    pthread_mutex_lock(&mutex);                                            \
    return record_change('T', name, size, NULL, next(fd, size));              \
  }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)

/* No real fsync is needed: the page cache survives the end of the process. */
#define SYNC(function)                                                    \
  int function(int fd) {                                                  \
    char path[PATH_MAX];                                                  \
    const char *name = name_of(fd, path);                                 \
    NEXT(int, #function, int);                                            \
    if (!name) return next(fd);                                           \
    if (getenv("CUT_NO_FSYNC")) return 0;                                 \
    pthread_mutex_lock(&mutex);                                            \
    return record_change('S', name, 0, NULL, 0);                              \
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
    pthread_mutex_lock(&mutex);                                            \
    return record_change('C', name, 0, NULL, next(path, flags, mode));        \
  }
OPEN(open)
OPEN(open64)

int unlink(const char *path) {
  const char *name = name_of_path(path);
  NEXT(int, "unlink", const char *);
  if (!name) return next(path);
  pthread_mutex_lock(&mutex);
  return record_change('U', name, 0, NULL, next(path));
}

int rename(const char *from, const char *to) {
  const char *name = name_of_path(from);
  NEXT(int, "rename", const char *, const char *);
  if (!name) return next(from, to);
  pthread_mutex_lock(&mutex);
  return record_change('R', name, 0, name_of_path(to), next(from, to));
}
