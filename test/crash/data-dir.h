/* Shared by the interposers: finds the files of the service among all files, and the original functions. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* Declares `next`, the original function of this name. */
#define NEXT(type, name, ...) type (*next)(__VA_ARGS__) = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

/* Returns a path relative to DATA_DIR, "." for DATA_DIR itself, NULL for a path outside of it. */
static inline const char *name_of_path(const char *path) {
  const char *directory = getenv("DATA_DIR");
  size_t length = directory ? strlen(directory) : 0;
  if (length == 0 || strncmp(path, directory, length) != 0) return NULL;
  if (path[length] == '\0') return ".";
  return path[length] == '/' ? path + length + 1 : NULL;
}

/* The same for a descriptor. The result points into `path`, a buffer of PATH_MAX bytes. */
static inline const char *name_of(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return NULL;
  path[length] = '\0';
  return name_of_path(path);
}
