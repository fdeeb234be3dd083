#include "optimizer-rt/virtual/sessions.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "optimizer-rt/virtual/serial_thread.h"

namespace gt::virt {
namespace {

// Never taken apart, so that a child of fork() can walk along it without a lock.
struct Link {
  Session* session;
  Link* next;
};
std::atomic<Link*> g_first{nullptr};

template <class Visit>
void each_session(Visit visit) {
  for (const Link* l = g_first.load(std::memory_order_acquire); l; l = l->next) visit(*l->session);
}

void at_exit() {
  each_session([](Session& s) { s.close(); });
}
void in_child() {
  each_session([](Session& s) { s.forget(); });
  forget_threads();
}

void add(Session* session) {
  static std::once_flag once;
  std::call_once(once, [] {
    std::atexit(&at_exit);
    ::pthread_atfork(nullptr, nullptr, &in_child);
  });
  auto* const link = new Link{session, g_first.load()};
  while (!g_first.compare_exchange_weak(link->next, link)) {
  }
}

}  // namespace

Result<Session*> open_session(Connection connection, wire::Surveyed& surveyed) {
  auto* session = new Session(std::move(connection));
  Result<wire::Surveyed> told = session->begin();
  if (!told.ok()) return told.status();
  surveyed = std::move(*told);
  add(session);
  return session;
}

bool conceal_everywhere(const void* base, size_t bytes) {
  bool all = true;
  each_session([&](Session& s) { all = all && (!s.shares_memory() || s.exposures().conceal(s.link(), base, bytes)); });
  return all;
}

}  // namespace gt::virt
