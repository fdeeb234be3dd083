// Threads that allocate; threads that a driver starts; destructors of thread keys; a signal handler
// that maps memory; fork, vfork and exec. Reports the counts of each part after its name.
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/programs/check.h"

namespace {

constexpr int Threads = 8, Rounds = 10000;

void* allocate(void* size) {
  for (int i = 0; i < Rounds; ++i) {
    void* volatile p = malloc(reinterpret_cast<size_t>(size));
    free(p);
  }
  return nullptr;
}

void* allocate_below(void*) {  // a thread of the driver starts another one
  pthread_t t;
  CHECK(pthread_create(&t, nullptr, allocate, reinterpret_cast<void*>(100)) == 0);
  pthread_join(t, nullptr);
  return allocate(reinterpret_cast<void*>(50));
}

void run(void* (*f)(void*), int n) {
  pthread_t t[Threads];
  for (int i = 0; i < n; ++i)
    CHECK(pthread_create(&t[i], nullptr, f, reinterpret_cast<void*>(20)) == 0);
  for (int i = 0; i < n; ++i) pthread_join(t[i], nullptr);
}

pthread_key_t key;
void* with_key(void*) {
  pthread_setspecific(key, malloc(30));
  return nullptr;
}

void* volatile mapped;
void on_timer(int) {
  void* p = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p != MAP_FAILED) munmap(p, 4096);
  mapped = p;
}

void* volatile raised;
void on_raise(int) { raised = malloc(40); }

}  // namespace

int main(int argc, char** argv) {
  auto reset = INTERPOSER(void (*)(), "count_alloc_reset");
  auto report = INTERPOSER(void (*)(int), "count_alloc_report");
  auto as_driver = INTERPOSER(void (*)(void (*)(void*), void*), "as_driver");
  CHECK(reset && report && as_driver && argc > 0);
  const auto part = [&](const char* name) {
    if (write(1, name, __builtin_strlen(name)) < 0) exit(2);
    report(1);
    reset();
  };

  reset();
  run(allocate, Threads);
  part("threads\n");

  as_driver(
      [](void*) {
        run(allocate_below, 2);
        allocate(reinterpret_cast<void*>(70));
      },
      nullptr);
  part("driver\n");

  pthread_key_create(&key, free);
  run(with_key, 1);
  part("key\n");

  signal(SIGUSR1, on_raise);
  raise(SIGUSR1);
  free(raised);
  part("signal\n");

  signal(SIGALRM, on_timer);
  itimerval every{{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &every, nullptr);
  for (int i = 0; i < 300; ++i) allocate(reinterpret_cast<void*>(4000));
  every = {};
  setitimer(ITIMER_REAL, &every, nullptr);
  reset();

  if (fork() == 0) {
    allocate(reinterpret_cast<void*>(60));
    part("child\n");
    _exit(0);
  }
  wait(nullptr);
  if (vfork() == 0) {
    execl("/bin/echo", "echo", "vforked", static_cast<char*>(nullptr));
    _exit(1);
  }
  wait(nullptr);
  raised = malloc(1);
  free(raised);
  part("parent\n");
}
