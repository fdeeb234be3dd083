// The C library allocates while it holds locks of its own, and so comes to our hooks under them. Each kind below makes
// such a call the first allocation of the main thread or of another one; each must come back, as it does without us.
//   first_allocation            every kind, in a process of its own: "KIND WHERE ok" for each
//   first_allocation KIND main|thread
// Built with -DLIBRARY: a library whose constructor starts a thread and waits for it, and with a large TLS block.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#ifdef LIBRARY

extern __thread char large_tls[1 << 16];
__thread char large_tls[1 << 16];
extern char* touch_tls(void);
char* touch_tls(void) { return strcpy(large_tls, "touched"); }

static void* nothing(void* p) { return p; }
static int c11_nothing(void* p) { return p != NULL; }

// The loader's lock is held by who loads this, and waits. What may be looked up first is asked for here.
static void* allocate_and_start(void* p) {
  pthread_t joined, detached;
  thrd_t c11;
  free(malloc(1 << 20));
  if (pthread_create(&joined, NULL, nothing, NULL) || pthread_join(joined, NULL)) abort();
  if (pthread_create(&detached, NULL, nothing, NULL) || pthread_detach(detached)) abort();
  if (thrd_create(&c11, c11_nothing, NULL) != thrd_success || thrd_join(c11, NULL) != thrd_success) abort();
  return p;
}
__attribute__((constructor)) static void wait_for_thread(void) {
  pthread_t thread;
  if (!getenv("WAIT_FOR_THREAD")) return;
  if (pthread_create(&thread, NULL, allocate_and_start, NULL) || pthread_join(thread, NULL)) abort();
}

#else

#include <dirent.h>
#include <execinfo.h>
#include <ftw.h>
#include <glob.h>
#include <grp.h>
#include <iconv.h>
#include <langinfo.h>
#include <libintl.h>
#include <link.h>
#include <locale.h>
#include <netdb.h>
#include <pwd.h>
#include <regex.h>
#include <search.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <wordexp.h>

extern char** environ;
static const char* self;
static char library[4096];

#define NEED(condition) \
  do {                  \
    if (!(condition)) { \
      perror(#condition); \
      _exit(1);         \
    }                   \
  } while (0)

static void nothing(void) {}
static void nothing_with(int status, void* p) { (void)status, (void)p; }
static void* run_thread(void* (*start)(void*)) {
  pthread_t thread;
  void* result = NULL;
  NEED(pthread_create(&thread, NULL, start, NULL) == 0 && pthread_join(thread, &result) == 0);
  return result;
}
static void* allocate(void* p) { return free(malloc(1 << 20)), p; }

static void getattr(void) {
  pthread_attr_t attr;
  NEED(pthread_getattr_np(pthread_self(), &attr) == 0);
}
static void affinity(void) {
  pthread_attr_t attr;
  NEED(pthread_getattr_default_np(&attr) == 0 && pthread_setattr_default_np(&attr) == 0);
}
static void files(void) { NEED(fopen("/proc/self/maps", "re")); }
static void locked_file(void) {
  flockfile(stdout);
  printf("%s", "");
  putc_unlocked('\n', stdout);
  funlockfile(stdout);
}
static void wide_file(void) {
  FILE* f = tmpfile();
  NEED(f && fwide(f, 1) > 0 && fputws(L"wide", f) >= 0);
}
static void long_line(void) {
  char* line = NULL;
  size_t room = 0;
  FILE* f = tmpfile();
  NEED(f);
  for (int i = 0; i < 4 << 20; ++i) putc('x', f);
  rewind(f);
  NEED(getline(&line, &room, f) == 4 << 20);
}
static void scanned(void) {
  char* word = NULL;
  FILE* f = fopen("/proc/self/status", "re");
  NEED(f && fscanf(f, "%ms", &word) == 1);
}
static void streams(void) {
  char* text = NULL;
  size_t size = 0;
  FILE* f = open_memstream(&text, &size);
  NEED(f && fprintf(f, "%5000d", 1) == 5000 && fclose(f) == 0 && size == 5000);
}
static void pipes(void) { NEED(pclose(popen("exit 0", "re")) == 0); }
static void spawned(void) {
  pid_t pid;
  int status = -1;
  char* argv[] = {"sh", "-c", "exit 0", NULL};
  NEED(posix_spawnp(&pid, "sh", NULL, NULL, argv, environ) == 0 && waitpid(pid, &status, 0) == pid && status == 0);
}
static void folders(void) { NEED(opendir("/")); }
static void scanned_folder(void) {
  struct dirent** names;
  NEED(scandir("/", &names, NULL, alphasort) > 0);
}
static int walked(const char* name, const struct stat* st, int kind) { return (void)name, (void)st, (void)kind, 1; }
static void walks(void) { NEED(ftw("/", walked, 4) == 1); }
static void globs(void) {
  glob_t found;
  NEED(glob("/*", 0, NULL, &found) == 0);
}
static void words(void) {
  wordexp_t found;
  NEED(wordexp("$HOME ~ `echo x`", &found, 0) == 0);
}
static void paths(void) { NEED(realpath("/proc/self/exe", NULL) && getcwd(NULL, 0)); }
static void exit_handlers(void) {
  for (int i = 0; i < 100; ++i) NEED(atexit(nothing) == 0 && on_exit(nothing_with, NULL) == 0);
}
static void allocate_at_exit(void) { free(malloc(1 << 20)); }
static void at_exit(void) {
  NEED(atexit(allocate_at_exit) == 0);
  exit(0);
}
extern int __cxa_thread_atexit_impl(void (*)(void*), void*, void*) __attribute__((weak));
static void ended(void* p) { allocate(p); }
static void thread_exit_handlers(void) {
  if (__cxa_thread_atexit_impl) NEED(__cxa_thread_atexit_impl(ended, NULL, &library) == 0);
}
static void fork_handlers(void) {
  for (int i = 0; i < 100; ++i) NEED(pthread_atfork(nothing, nothing, nothing) == 0);
}
static void allocates(void) { allocate(NULL); }
static void expect_child(pid_t pid) {
  int status = -1;
  if (pid == 0) {
    allocate(NULL);
    run_thread(allocate);
    _exit(0);
  }
  NEED(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}
static void in_fork_handlers(void) {
  NEED(pthread_atfork(allocates, allocates, allocates) == 0);
  expect_child(fork());
}
static int compare(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }
static int numbers[1 << 18];
static void sorts(void) { qsort(numbers, 1 << 18, sizeof *numbers, compare); }
static void expressions(void) {
  regex_t r;
  NEED(regcomp(&r, "a(b|c)*[[:alpha:]]", REG_EXTENDED) == 0);
}
static void locales(void) { NEED(setlocale(LC_ALL, "C.UTF-8") || setlocale(LC_ALL, "")); }
static void new_locales(void) { NEED(newlocale(LC_ALL_MASK, "C.UTF-8", 0) || newlocale(LC_ALL_MASK, "C", 0)); }
static void messages(void) { NEED(bindtextdomain("x", "/tmp") && textdomain("x") && gettext("text")); }
static void conversions(void) { iconv_open("UTF-16", "ISO-8859-1"); }
static void users(void) { getpwuid(getuid()), getgrgid(getgid()); }
static void hosts(void) {
  struct addrinfo hint = {.ai_flags = AI_NUMERICSERV}, *found = NULL;
  getaddrinfo("localhost", "80", &hint, &found);
}
static void times(void) {
  const time_t now = 0;
  setenv("TZ", "Europe/Berlin", 1);
  tzset();
  NEED(localtime(&now));
}
static void variables(void) { NEED(setenv("NEW_VARIABLE", "x", 1) == 0 && putenv("ANOTHER=1") == 0); }
static void logs(void) { syslog(LOG_DEBUG, "%s", "nothing"); }
static void tables(void) { NEED(hcreate(1000)); }
static void traces(void) {
  void* frames[10];
  NEED(backtrace(frames, 10) > 0);
}
static void libraries(void) { NEED(dlopen(library, RTLD_NOW)); }
static void missing_libraries(void) { NEED(!dlopen("libnot_there.so", RTLD_NOW) && dlerror()); }
static void missing_symbols(void) { NEED(!dlsym(RTLD_DEFAULT, "not_there") && dlerror()); }
static void tls(void) {
  char* (*touch)(void) = (char* (*)(void))dlsym(dlopen(library, RTLD_NOW), "touch_tls");
  NEED(touch && strcmp(touch(), "touched") == 0);
}
static void closed_libraries(void) { NEED(dlclose(dlopen(library, RTLD_NOW)) == 0); }
static void waiting_library(void) {
  setenv("WAIT_FOR_THREAD", "1", 1);
  NEED(dlopen(library, RTLD_NOW));
}
// The dynamic linker's list is locked.
static int in_list(struct dl_phdr_info* info, size_t size, void* p) {
  (void)info, (void)size, (void)p;
  allocate(NULL);
  run_thread(allocate);
  return 1;
}
static void listed(void) { NEED(dl_iterate_phdr(in_list, NULL) == 1); }
static pthread_barrier_t both;
static int wait_in_list(struct dl_phdr_info* info, size_t size, void* p) {
  (void)info, (void)size, (void)p;
  pthread_barrier_wait(&both);
  pthread_barrier_wait(&both);
  return 1;
}
static void* hold_list(void* p) { return dl_iterate_phdr(wait_in_list, NULL), p; }
static void forked_while_listed(void) {
  pthread_t thread;
  pthread_barrier_init(&both, NULL, 2);
  NEED(pthread_create(&thread, NULL, hold_list, NULL) == 0);
  pthread_barrier_wait(&both);
  expect_child(fork());
  pthread_barrier_wait(&both);
  NEED(pthread_join(thread, NULL) == 0);
}
static void threads(void) { run_thread(allocate); }
static void keys(void) {
  pthread_key_t key = 0;
  for (int i = 0; i < 64; ++i) NEED(pthread_key_create(&key, ended) == 0);
  NEED(pthread_setspecific(key, &key) == 0);  // the table's second level is allocated
}
static void expired(union sigval v) { (void)v; }
static void timers(void) {
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = expired};
  NEED(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_delete(timer) == 0);
}
// malloc is no cancellation point.
static volatile int allocated;
static void* cancelled_at_once(void* p) {
  pthread_cancel(pthread_self());
  allocate(NULL);
  allocated = 1;
  pthread_testcancel();
  return p;
}
static void cancellations(void) { NEED(run_thread(cancelled_at_once) == PTHREAD_CANCELED && allocated); }

static const struct {
  const char* name;
  void (*run)(void);
} kinds[] = {
    {"getattr", getattr}, {"affinity", affinity}, {"files", files}, {"locked_file", locked_file},
    {"wide_file", wide_file}, {"long_line", long_line}, {"scanned", scanned}, {"streams", streams}, {"pipes", pipes},
    {"spawned", spawned}, {"folders", folders}, {"scanned_folder", scanned_folder}, {"walks", walks}, {"globs", globs},
    {"words", words}, {"paths", paths}, {"exit_handlers", exit_handlers}, {"at_exit", at_exit},
    {"thread_exit_handlers", thread_exit_handlers}, {"fork_handlers", fork_handlers},
    {"in_fork_handlers", in_fork_handlers}, {"sorts", sorts}, {"expressions", expressions}, {"locales", locales},
    {"new_locales", new_locales}, {"messages", messages}, {"conversions", conversions}, {"users", users},
    {"hosts", hosts}, {"times", times}, {"variables", variables}, {"logs", logs}, {"tables", tables},
    {"traces", traces}, {"libraries", libraries}, {"missing_libraries", missing_libraries},
    {"missing_symbols", missing_symbols}, {"tls", tls}, {"closed_libraries", closed_libraries},
    {"waiting_library", waiting_library}, {"listed", listed}, {"forked_while_listed", forked_while_listed},
    {"threads", threads}, {"keys", keys}, {"timers", timers}, {"cancellations", cancellations},
};

static void (*chosen)(void);
static void* run_chosen(void* p) { return chosen(), p; }

static int run_one(const char* name, const char* where) {
  alarm(20);  // a hang is what this is about
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (strcmp(kinds[i].name, name) == 0) chosen = kinds[i].run;
  NEED(chosen);
  if (strcmp(where, "thread") == 0)
    run_thread(run_chosen);
  else
    chosen();
  allocate(NULL);
  return 0;
}

static int run_all(void) {
  int failed = 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    for (int thread = 0; thread < 2; ++thread) {
      char* argv[] = {(char*)self, (char*)kinds[i].name, thread ? "thread" : "main", NULL};
      pid_t pid;
      int status = -1;
      if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ) != 0) return 2;
      if (waitpid(pid, &status, 0) != pid) return 2;
      failed |= status != 0;
      char line[128];
      const int n = snprintf(line, sizeof line, "%s %s %s %d\n", argv[1], argv[2], status ? "FAILED" : "ok", status);
      if (write(STDERR_FILENO, line, (size_t)n) != n) return 2;
    }
  }
  return failed;
}

int main(int argc, char** argv) {
  self = argv[0];
  const ssize_t n = readlink("/proc/self/exe", library, sizeof library - 1);
  NEED(n > 0);
  char* slash = strrchr(library, '/');
  strcpy(slash, "/libfirst_allocation_library.so");
  return argc < 3 ? run_all() : run_one(argv[1], argv[2]);
}

#endif
