#include "tracer/interpose/threads.h"

#include <atomic>
#include <cerrno>

#include "tracer/interpose/libc_alloc.h"

namespace gt::interpose {

__thread Lineage t_lineage __attribute__((tls_model("initial-exec")));

namespace {

// What a new thread is told. Lives from its creation until it runs: in one of a few slots, so that starting a thread
// takes nothing from the program's heap; in a block of that heap when all slots are taken.
struct Birth {
  void* start;  // a ThreadStart or a C11ThreadStart
  void* arg;
  ThreadPath path;
  uint32_t muted;
};

struct Slot {
  std::atomic<bool> taken{false};
  Birth birth;
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

void give_back(Birth* birth) {
  for (Slot& slot : g_slots) {
    if (birth == &slot.birth) return slot.taken.store(false, std::memory_order_release);
  }
  libc.free(birth);
}

// Starts a thread through `create(run, birth)`. What the C library allocates for it is not the program's. Threads that
// could not be started leave no gap in the numbering.
template <class Create>
int bear(void* start, void* arg, int no_memory, const Create& create) {
  const bool driver = !program_runs();
  const Reentry guard;
  Birth* birth = take_birth();
  if (!birth) return no_memory;
  uint32_t& ordinal = driver ? t_lineage.driver_children : t_lineage.children;
  *birth = {start, arg, t_lineage.path.child(driver ? ordinal | ThreadPath::Driver : ordinal), driver};
  const int err = create(birth);
  if (err == 0) {
    ++ordinal;
  } else {
    give_back(birth);
  }
  return err;
}

template <class Result>
Result run(void* p) {
  const Birth birth = *static_cast<Birth*>(p);
  give_back(static_cast<Birth*>(p));
  t_lineage.path = birth.path;
  t_flags.muted = birth.muted;
  return reinterpret_cast<Result (*)(void*)>(birth.start)(birth.arg);
}

// Looked up when first used: before glibc 2.34 libpthread may have come later than we.
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
constinit std::atomic<Create> g_create{nullptr};
constinit std::atomic<C11Create> g_c11_create{nullptr};

}  // namespace

int create_thread(pthread_t* thread, const pthread_attr_t* attr, ThreadStart start, void* arg) {
  const Create create = find(g_create, "pthread_create");
  if (!create) return EAGAIN;
  return bear(reinterpret_cast<void*>(start), arg, EAGAIN,
              [&](Birth* birth) { return create(thread, attr, run<void*>, birth); });
}

int create_c11_thread(thrd_t* thread, C11ThreadStart start, void* arg) {
  const C11Create create = find(g_c11_create, "thrd_create");
  if (!create) return thrd_error;
  return bear(reinterpret_cast<void*>(start), arg, thrd_nomem,
              [&](Birth* birth) { return create(thread, run<int>, birth); });
}

}  // namespace gt::interpose
