#include "tracer/interpose/threads.h"

#include <atomic>
#include <cerrno>

#include "tracer/interpose/libc_alloc.h"
#include "tracer/interpose/memory_epoch.h"
#include "tracer/interpose/thread_slots.h"

namespace gt::interpose {

__thread ThreadPath t_path __attribute__((tls_model("initial-exec")));

namespace {

// What a new thread is told. Lives from its creation until it runs: in one of a few slots, so that starting a thread
// takes nothing from the program's heap; in a block of that heap when all slots are taken.
struct Birth {
  void* start;  // a ThreadStart or a C11ThreadStart
  void* arg;
  ThreadPath path;
  ThreadSlot thread_slot;
  bool driver;
};

struct Slot {
  std::atomic<bool> taken{false};
  Birth birth{};
};
constexpr size_t Slots = 64;
constinit Slot g_slots[Slots];

Birth* take_birth() {
  for (Slot& slot : g_slots) {
    if (!slot.taken.load(std::memory_order_relaxed) && !slot.taken.exchange(true, std::memory_order_acquire))
      return &slot.birth;
  }
  return static_cast<Birth*>(libc.malloc(sizeof(Birth)));
}

void free_birth(Birth* birth) {
  for (Slot& slot : g_slots) {
    if (birth == &slot.birth) return slot.taken.store(false, std::memory_order_release);
  }
  libc.free(birth);
}

// Starts a thread through `create(birth)`. What the C library allocates for it is not the program's. Threads that could
// not be started leave no gap in the numbering.
template <class Create>
int bear(void* start, void* arg, bool detached, const pthread_t* thread, int no_memory, const Create& create) {
  const bool driver = !program_runs();
  const Reentry guard;
  Birth* birth = take_birth();
  if (!birth) return no_memory;
  const ThreadSlot thread_slot = take_thread_slot(t_path, driver);
  if (detached) meet(thread_slot, Fate::Detached);
  *birth = {start, arg, t_path.child(driver ? thread_slot.number | ThreadPath::Driver : thread_slot.number),
            thread_slot, driver};
  const int err = create(birth);
  if (err == 0) {
    name_thread_slot(thread_slot, *thread);
  } else {
    give_back(thread_slot);
    free_birth(birth);
  }
  return err;
}

bool is_detached(const pthread_attr_t* attr) {
  int state = PTHREAD_CREATE_JOINABLE;
  return attr && pthread_attr_getdetachstate(attr, &state) == 0 && state == PTHREAD_CREATE_DETACHED;
}

// However a thread ends: by a destructor of a thread key.
__thread ThreadSlot t_thread_slot __attribute__((tls_model("initial-exec")));
pthread_key_t g_end_of_thread;
const bool g_ends_are_seen = pthread_key_create(&g_end_of_thread, [](void*) {
                               meet(t_thread_slot, Fate::Ended);
                               begin_memory_epoch();  // its stack may go, and those of threads that ended before
                             }) == 0;

template <class Result>
Result run(void* p) {
  const Birth birth = *static_cast<Birth*>(p);
  free_birth(static_cast<Birth*>(p));
  t_path = birth.path;
  t_thread_slot = birth.thread_slot;
  t_flags.muted = birth.driver;
  if (g_ends_are_seen) pthread_setspecific(g_end_of_thread, &t_thread_slot);
  return reinterpret_cast<Result (*)(void*)>(birth.start)(birth.arg);
}

// Looked up by the constructor below: later the dynamic linker's lock may be held by somebody who waits for the thread
// that asks (a library whose constructor starts one). When used, if that found nothing: before glibc 2.34 libpthread
// may have come later than we.
template <class Function>
Function find(std::atomic<Function>& known, const char* name) {
  Function function = known.load(std::memory_order_acquire);
  if (function) return function;
  const Reentry guard;
  function = reinterpret_cast<Function>(next_symbol(name));
  if (function) known.store(function, std::memory_order_release);
  return function;
}

using Create = int (*)(pthread_t*, const pthread_attr_t*, ThreadStart, void*);
using C11Create = int (*)(thrd_t*, C11ThreadStart, void*);
using Join = int (*)(pthread_t, void**);
using JoinUntil = int (*)(pthread_t, void**, const timespec*);
using C11Join = int (*)(thrd_t, int*);
using Detach = int (*)(pthread_t);
constinit std::atomic<Create> g_create{nullptr};
constinit std::atomic<C11Create> g_c11_create{nullptr};
constinit std::atomic<Join> g_join{nullptr}, g_try_join{nullptr};
constinit std::atomic<JoinUntil> g_join_until{nullptr};
constinit std::atomic<C11Join> g_c11_join{nullptr};
constinit std::atomic<Detach> g_detach{nullptr};

__attribute__((constructor(102))) void find_early() {
  find(g_create, "pthread_create");
  find(g_c11_create, "thrd_create");
  find(g_join, "pthread_join");
  find(g_try_join, "pthread_tryjoin_np");
  find(g_join_until, "pthread_timedjoin_np");
  find(g_c11_join, "thrd_join");
  find(g_detach, "pthread_detach");
}

// Joins by `join()`, which returns 0 when it has: the thread slot is looked up before, for the thread's number may be
// another's the moment after.
template <class Function>
int joined(pthread_t thread, const Function& join) {
  const Reentry guard;  // what the C library frees of the thread
  const ThreadSlot thread_slot = thread_slot_of(thread);
  const int err = join();
  if (err == 0) give_back(thread_slot);
  if (err == 0) begin_memory_epoch();
  return err;
}

}  // namespace

int create_thread(pthread_t* thread, const pthread_attr_t* attr, ThreadStart start, void* arg) {
  const Create create = find(g_create, "pthread_create");
  if (!create) return EAGAIN;
  return bear(reinterpret_cast<void*>(start), arg, is_detached(attr), thread, EAGAIN,
              [&](Birth* birth) { return create(thread, attr, run<void*>, birth); });
}

int create_c11_thread(thrd_t* thread, C11ThreadStart start, void* arg) {
  const C11Create create = find(g_c11_create, "thrd_create");
  if (!create) return thrd_error;
  return bear(reinterpret_cast<void*>(start), arg, false, thread, thrd_nomem,
              [&](Birth* birth) { return create(thread, run<int>, birth); });
}

int join_thread(pthread_t thread, void** result) {
  const Join join = find(g_join, "pthread_join");
  return join ? joined(thread, [&] { return join(thread, result); }) : EINVAL;
}

int try_join_thread(pthread_t thread, void** result) {
  const Join join = find(g_try_join, "pthread_tryjoin_np");
  return join ? joined(thread, [&] { return join(thread, result); }) : EINVAL;
}

int join_thread_until(pthread_t thread, void** result, const timespec* until) {
  const JoinUntil join = find(g_join_until, "pthread_timedjoin_np");
  return join ? joined(thread, [&] { return join(thread, result, until); }) : EINVAL;
}

int join_c11_thread(thrd_t thread, int* result) {
  const C11Join join = find(g_c11_join, "thrd_join");
  return join ? joined(thread, [&] { return join(thread, result); }) : thrd_error;
}

int detach_thread(pthread_t thread) {
  const Detach detach = find(g_detach, "pthread_detach");
  if (!detach) return EINVAL;
  const ThreadSlot thread_slot = pthread_equal(thread, pthread_self()) ? t_thread_slot : thread_slot_of(thread);
  const int err = detach(thread);
  if (err == 0) meet(thread_slot, Fate::Detached);
  return err;
}

}  // namespace gt::interpose
