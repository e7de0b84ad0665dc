/* Makes fsync and fdatasync 2 ms slower. The service loads it with LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

static int delayed(const char *name, int fd) {
  const struct timespec delay = {0, 2 * 1000 * 1000};
  int (*next)(int);
  *(void **)&next = dlsym(RTLD_NEXT, name);
  nanosleep(&delay, 0);
  return next(fd);
}

int fsync(int fd) { return delayed("fsync", fd); }

int fdatasync(int fd) { return delayed("fdatasync", fd); }
