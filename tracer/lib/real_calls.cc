#include "tracer/lib/real_calls.h"

#include "tracer/interpose/real_library.h"
#include "tracer/interpose/substitute.h"
#include "traces/api/api.h"
#include "traces/base/reentry.h"

namespace gt::tracer {

std::atomic<void*> g_real[api::FnCount];

namespace {
std::atomic<bool> g_layered{false};
}

bool layered() { return g_layered.load(std::memory_order_acquire); }
void set_layered(bool yes) { g_layered.store(yes, std::memory_order_release); }

void* find_real(api::FnId fn) {
  if (layered() && interpose::real_library_path()[0] == 0) return nullptr;
  const Reentry guard;
  const char* const name = api::function_name(static_cast<uint16_t>(fn));
  void* symbol = interpose::real_symbol(name);
  if (!symbol && interpose::real_library()) symbol = interpose::substitute(name);
  if (symbol) set_real(fn, symbol);
  return symbol;
}

void set_real(api::FnId fn, void* function) {
  g_real[static_cast<size_t>(fn)].store(function, std::memory_order_relaxed);
}

}  // namespace gt::tracer
