#include "tracer/lib/registration.h"

namespace gt::tracer {

namespace {

// Registrations that are live at once; beyond that callbacks go unrecorded. 2.5 MB of address space, used as needed.
constexpr uint64_t MaxRegistrations = 1 << 16;
constexpr uint64_t MaxTries = 256;  // places looked at before giving up
Registration g_registrations[MaxRegistrations];
std::atomic<uint64_t> g_next{0};
constexpr uint64_t Filling = ~uint64_t{0};

}  // namespace

Registration* take_registration(void* function, void* data, void* print) {
  for (uint64_t tries = 0; tries < MaxTries; ++tries) {
    const uint64_t ticket = g_next.fetch_add(1, std::memory_order_relaxed);
    Registration& r = g_registrations[ticket % MaxRegistrations];
    uint64_t free = 0;
    if (!r.id.compare_exchange_strong(free, Filling, std::memory_order_acquire)) continue;
    r.function = function;
    r.data = data;
    r.print = print;
    r.context = nullptr;
    r.id.store(ticket + 1, std::memory_order_release);
    return &r;
  }
  return nullptr;
}

void free_registration(Registration& registration, uint64_t id) {
  registration.id.compare_exchange_strong(id, 0, std::memory_order_release);
}

namespace detail {

Called called(Registration& registration, CallbackFn kind) {
  const uint64_t id = registration.id.load(std::memory_order_acquire);
  void* const function = kind == CallbackFn::Printf ? registration.print : registration.function;
  const Called callback{id, function, registration.data};
  if (id != 0 && api::called_once(kind)) free_registration(registration, id);
  return callback;
}

}  // namespace detail

void* print_function_of(cl_context context) {
  const Registration* newest = nullptr;
  for (const Registration& r : g_registrations)
    if (r.print && r.context == context && (!newest || r.id > newest->id)) newest = &r;
  return newest ? newest->print : nullptr;
}

}  // namespace gt::tracer
