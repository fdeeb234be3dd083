/* The dumb log's lines: formatted on the stack and written with one write(2) each, so a kill loses nothing. */
#define _GNU_SOURCE
#include "tests/oracle/line.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __thread int t_depth __attribute__((tls_model("initial-exec")));
static __thread int t_number __attribute__((tls_model("initial-exec")));
static int g_threads;
enum { OutOfTheWay = 500 };
static int g_fd = -1;
static pid_t g_pid;

int inside_call(void) { return t_depth != 0; }
void mute_thread(void) { t_depth = 1 << 20; }

void* next_function(const char* name) {
  ++t_depth;
  void* f = dlsym(RTLD_NEXT, name);
  --t_depth;
  return f;
}

/* The log of this process: $DUMB_LOG.<pid>. */
static int log_file(void) {
  const char* base = getenv("DUMB_LOG");
  if (base == NULL) return -1;
  if (g_fd < 0 || g_pid != getpid()) {
    char path[4096];
    g_pid = getpid();
    snprintf(path, sizeof path, "%s.%d", base, (int)g_pid);
    const int low = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    g_fd = fcntl(low, F_DUPFD_CLOEXEC, OutOfTheWay); /* the program's own files keep their numbers */
    close(low);
  }
  return g_fd;
}

static void add(struct line* l, const char* format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct line* l, const char* format, ...) {
  va_list args;
  if (l->quiet) return;
  va_start(args, format);
  const int n = vsnprintf(l->text + l->used, sizeof l->text - l->used, format, args);
  va_end(args);
  l->used += (size_t)n;
  if (l->used >= sizeof l->text) l->used = sizeof l->text - 1;
}

static void add_site(struct line* l, const void* caller) {
  Dl_info info;
  if (l->quiet || dladdr(caller, &info) == 0) return;
  const char* slash = strrchr(info.dli_fname, '/');
  add(l, " site=s:%s+%zu", slash != NULL ? slash + 1 : info.dli_fname,
      (size_t)((const char*)caller - (const char*)info.dli_fbase));
}

void line_begin(struct line* l, const char* function, const void* caller) {
  l->quiet = t_depth++ != 0;
  l->used = 0;
  if (l->quiet) return;
  if (t_number == 0) t_number = __atomic_add_fetch(&g_threads, 1, __ATOMIC_RELAXED);
  add(l, "T%d %s", t_number, function);
  add_site(l, caller);
}

void line_number(struct line* l, const char* name, long long value) { add(l, " %s=i:%lld", name, value); }
void line_object(struct line* l, const char* name, const void* handle) { add(l, " %s=o:%p", name, handle); }
void line_pointer(struct line* l, const char* name, const void* address) { add(l, " %s=p:%p", name, address); }

void line_bytes(struct line* l, const char* name, const void* bytes, size_t size) {
  if (bytes == NULL) return line_pointer(l, name, bytes);
  add(l, " %s=b:", name);
  for (size_t i = 0; i < size; ++i) add(l, "%02x", ((const unsigned char*)bytes)[i]);
}

void line_objects(struct line* l, const char* name, const void* const* list, size_t count) {
  if (list == NULL) return line_pointer(l, name, list);
  add(l, " %s=l:", name);
  for (size_t i = 0; i < count; ++i) add(l, "%s%p", i == 0 ? "" : ",", list[i]);
}

void line_numbers(struct line* l, const char* name, const size_t* list, size_t count) {
  if (list == NULL) return line_pointer(l, name, list);
  add(l, " %s=n:", name);
  for (size_t i = 0; i < count; ++i) add(l, "%s%zu", i == 0 ? "" : ",", list[i]);
}

void line_end(struct line* l) {
  const int error = errno;
  if (!l->quiet) {
    l->text[l->used] = '\n';
    const int fd = log_file();
    if (fd >= 0 && write(fd, l->text, l->used + 1) < 0) _exit(99);
  }
  --t_depth;
  errno = error;
}
