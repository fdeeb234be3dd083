#include "tracer/interpose/threads.h"

#include <atomic>
#include <cerrno>

#include "tracer/interpose/libc_alloc.h"

namespace gt::interpose {

namespace {

using Create = int (*)(pthread_t*, const pthread_attr_t*, ThreadStart, void*);
constinit std::atomic<Create> g_create{nullptr};

struct MutedStart {
  ThreadStart start;
  void* arg;
};

void* run_muted(void* p) {
  const MutedStart muted = *static_cast<MutedStart*>(p);
  libc.free(p);
  t_flags.muted = 1;
  return muted.start(muted.arg);
}

}  // namespace

// Looked up when first used: before glibc 2.34 libpthread may have come later than we.
int real_pthread_create(pthread_t* thread, const pthread_attr_t* attr, ThreadStart start,
                        void* arg) {
  Create create = g_create.load(std::memory_order_acquire);
  if (!create) {
    const Reentry guard;
    create = reinterpret_cast<Create>(next_symbol("pthread_create"));
    if (!create) return EAGAIN;
    g_create.store(create, std::memory_order_release);
  }
  return create(thread, attr, start, arg);
}

int create_muted_thread(pthread_t* thread, const pthread_attr_t* attr, ThreadStart start,
                        void* arg) {
  auto* muted = static_cast<MutedStart*>(libc.malloc(sizeof(MutedStart)));
  if (!muted) return EAGAIN;
  *muted = {start, arg};
  const int err = real_pthread_create(thread, attr, run_muted, muted);
  if (err != 0) libc.free(muted);
  return err;
}

}  // namespace gt::interpose
