// A program that ends in every way, and knows what it did.
//
//   endings COUNTS WAY [STEPS [THREADS]]
//
// COUNTS is a file that outlives it: what each thread has begun and what it has done, one slot a thread or process.
// A step is one kernel launch; the launches that a trace must hold are those done, and may hold those begun.
#define _GNU_SOURCE
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#ifndef CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#endif
#include <CL/cl.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { Slots = 128 };
struct Counts {
  unsigned long pid, begun[Slots], done[Slots];
};

static volatile struct Counts* counts;
static const char* counts_file;
static unsigned long steps = 100;
static int threads = 4;

#define FUNCTIONS(X)                                                                                        \
  X(clGetPlatformIDs) X(clGetDeviceIDs) X(clCreateContext) X(clCreateCommandQueue) X(clCreateProgramWithSource) \
  X(clBuildProgram) X(clCreateKernel) X(clCreateBuffer) X(clSetKernelArg) X(clEnqueueNDRangeKernel) X(clFinish)
#define DECLARE(name) static __typeof__(name)* p_##name;
FUNCTIONS(DECLARE)

static cl_command_queue queue;
static cl_kernel kernel;

static void must(int ok, const char* what) {
  if (ok) return;
  fprintf(stderr, "endings: %s failed\n", what);
  _exit(99);
}

static void* load(void) {
  void* library = dlopen("libOpenCL.so.1", RTLD_NOW);
  must(library != NULL, "dlopen");
#define FIND(name) p_##name = (__typeof__(name)*)dlsym(library, #name);
  FUNCTIONS(FIND)
  return library;
}

static void set_up(void) {
  load();
  cl_platform_id platform;
  cl_device_id device;
  must(p_clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS, "clGetPlatformIDs");
  must(p_clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS, "clGetDeviceIDs");
  cl_context context = p_clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  queue = p_clCreateCommandQueue(context, device, 0, NULL);
  const char* source = "kernel void nothing(global int* a) {}";
  cl_program program = p_clCreateProgramWithSource(context, 1, &source, NULL, NULL);
  must(p_clBuildProgram(program, 1, &device, "", NULL, NULL) == CL_SUCCESS, "clBuildProgram");
  kernel = p_clCreateKernel(program, "nothing", NULL);
  cl_mem buffer = p_clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
  must(p_clSetKernelArg(kernel, 0, sizeof buffer, &buffer) == CL_SUCCESS, "clSetKernelArg");
}

static void step(int slot) {
  const size_t one = 1;
  ++counts->begun[slot];
  must(p_clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL) == CL_SUCCESS, "launch");
  ++counts->done[slot];
}

static void work(int slot) {
  for (unsigned long i = 0; i < steps; ++i) step(slot);
}

static void* work_of_thread(void* slot) {
  work((int)(long)slot);
  return NULL;
}

static void* work_for_ever(void* slot) {
  for (;;) step((int)(long)slot);
  return NULL;
}

static void in_threads(void* (*what)(void*)) {
  pthread_t ids[Slots];
  for (long i = 0; i < threads; ++i) must(pthread_create(&ids[i], NULL, what, (void*)i) == 0, "pthread_create");
  for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
}

// --- ways to end

static void way_return(void) { work(0); }
static void way_exit(void) { work(0), exit(3); }
static void way_quick_exit(void) { work(0), quick_exit(4); }
static void way_bare_exit(void) { work(0), _exit(5); }
static void way_abort(void) { work(0), abort(); }
static void way_kill(void) { work(0), raise(SIGKILL); }
static void way_segv(void) {
  signal(SIGSEGV, SIG_DFL);
  work(0);
  *(volatile int*)8 = 1;
}

// No more memory in the middle of the work, as the program sees it: malloc fails.
static void way_no_memory(void) {
  work(0);
  const struct rlimit limit = {4ul << 30, 4ul << 30};
  must(setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
  for (int i = 0; i < 1000; ++i) {
    if (!malloc(64ul << 20)) abort();
    step(0);
  }
}

// Until the kernel's out-of-memory killer comes.
static void way_eat_memory(void) {
  enum { Bite = 1 << 20 };
  for (;;) {
    char* p = malloc(Bite);
    if (p) memset(p, 1, Bite);
    step(0);
  }
}

static void at_the_end(void) { work(1); }
static void way_atexit(void) { work(0), atexit(at_the_end); }

static int destroy;
__attribute__((destructor)) static void destructor(void) {
  if (destroy) work(1);
}
static void way_destructor(void) { work(0), destroy = 1; }

static void way_threads(void) { in_threads(work_of_thread); }
static void way_for_ever(void) { in_threads(work_for_ever); }
static void way_exit_with_threads(void) {  // the others are in the middle of a call
  pthread_t id;
  for (long i = 1; i < threads; ++i) must(pthread_create(&id, NULL, work_for_ever, (void*)i) == 0, "pthread_create");
  work(0);
  exit(0);
}

// --- children

static void wait_for(pid_t child) {
  int state = 0;
  while (waitpid(child, &state, 0) < 0 && errno == EINTR) {
  }
  must(WIFEXITED(state) && WEXITSTATUS(state) == 0, "the child");
}

static void way_fork(void) {
  work(0);
  const pid_t child = fork();
  if (child == 0) work(1), _exit(0);
  work(0);
  wait_for(child);
  work(0);
}

static char* again[] = {NULL, NULL, "again", NULL, NULL};  // the same program, with slot 1
static void way_again(void) { work(1); }

static void way_exec(void) { work(0), execv("/proc/self/exe", again); }
static void way_vfork(void) {
  work(0);
  const pid_t child = vfork();
  if (child == 0) execv("/proc/self/exe", again), _exit(1);
  wait_for(child);
  work(0);
}
static void way_spawn(void) {
  extern char** environ;
  pid_t child;
  work(0);
  must(posix_spawn(&child, "/proc/self/exe", NULL, NULL, again, environ) == 0, "posix_spawn");
  wait_for(child);
  work(0);
}

// Detaches as daemons do, and works only when the file "go" appears beside COUNTS.
static void way_daemon(void) {
  if (fork() != 0) _exit(0);
  setsid();
  if (fork() != 0) _exit(0);
  for (int fd = 0; fd < 1024; ++fd) close(fd);
  counts->pid = (unsigned long)getpid();
  char go[4096];
  snprintf(go, sizeof go, "%s.go", counts_file);
  must(chdir("/") == 0, "chdir");
  while (access(go, F_OK) != 0) usleep(1000);
  set_up();
  work(0);
}

// --- signals

static sigjmp_buf before_fault;
static volatile int children_ended;
static void on_fault(int number) { (void)number, siglongjmp(before_fault, 1); }
static void on_child(int number) { (void)number, ++children_ended; }

static void way_handlers(void) {
  stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
  sigaltstack(&stack, NULL);
  struct sigaction fault = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK}, child = {.sa_handler = on_child};
  sigaction(SIGSEGV, &fault, NULL);
  sigaction(SIGCHLD, &child, NULL);
  volatile int i;
  for (i = 0; i < 5; ++i) {
    work(0);
    if (sigsetjmp(before_fault, 1) == 0) *(volatile int*)8 = 1;
    const pid_t id = fork();
    if (id == 0) _exit(0);
    wait_for(id);
  }
  printf("%d children ended\n", children_ended);
}

static void way_all_blocked(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  work(0);
}

static volatile sig_atomic_t told;
static void on_usr(int number) { told = number; }
static void way_until_told(void) {  // by SIGUSR1 or SIGUSR2
  struct sigaction action = {.sa_handler = on_usr};
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGUSR2, &action, NULL);
  while (!told) step(0), usleep(100);
  exit(told == SIGUSR1 ? 41 : 42);
}

// Steps as often as the last slot's `done` says, and ends when that is the largest number.
static void way_on_demand(void) {
  for (unsigned long made = 0;;) {
    const unsigned long wanted = counts->done[Slots - 1];
    if (wanted == ~0ul) return;
    if (made == wanted) usleep(200);
    for (; made < wanted; ++made) step(0);
  }
}

static void way_dlclose(void) {
  cl_uint n;
  for (unsigned long i = 0; i < steps; ++i) {
    void* library = load();
    p_clGetPlatformIDs(0, NULL, &n);
    dlclose(library);
  }
}

static const struct {
  const char* name;
  void (*end)(void);
} Ways[] = {{"return", way_return}, {"exit", way_exit}, {"quick_exit", way_quick_exit}, {"_exit", way_bare_exit},
            {"abort", way_abort}, {"kill", way_kill}, {"segv", way_segv}, {"no_memory", way_no_memory},
            {"eat_memory", way_eat_memory}, {"atexit", way_atexit}, {"destructor", way_destructor},
            {"threads", way_threads}, {"for_ever", way_for_ever}, {"exit_with_threads", way_exit_with_threads},
            {"fork", way_fork}, {"again", way_again}, {"exec", way_exec}, {"vfork", way_vfork}, {"spawn", way_spawn},
            {"daemon", way_daemon}, {"handlers", way_handlers}, {"all_blocked", way_all_blocked},
            {"until_told", way_until_told}, {"on_demand", way_on_demand}, {"dlclose", way_dlclose}};

int main(int argc, char** argv) {
  must(argc >= 3, "endings COUNTS WAY [STEPS [THREADS]]");
  if (argc > 3) steps = strtoul(argv[3], NULL, 10);
  if (argc > 4) threads = atoi(argv[4]);
  again[0] = argv[0], again[1] = argv[1], again[3] = argc > 3 ? argv[3] : NULL;
  const int fd = open(argv[1], O_RDWR | O_CREAT, 0600);
  must(fd >= 0 && ftruncate(fd, sizeof *counts) == 0, "opening COUNTS");
  counts_file = realpath(argv[1], NULL);
  counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  must(counts != MAP_FAILED, "mmap");
  close(fd);
  for (size_t i = 0; i < sizeof Ways / sizeof Ways[0]; ++i) {
    if (strcmp(argv[2], Ways[i].name) != 0) continue;
    if (strcmp(argv[2], "daemon") != 0 && strcmp(argv[2], "dlclose") != 0) set_up();
    if (strcmp(argv[2], "daemon") != 0) counts->pid = (unsigned long)getpid();
    Ways[i].end();
    return 0;
  }
  must(0, "finding that way to end");
}
