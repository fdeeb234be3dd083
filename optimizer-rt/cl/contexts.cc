// Counting references and pins.
#include "optimizer-rt/cl/contexts.h"

#include <cstdint>

#include "optimizer-rt/cl/plan_device.h"
#include "optimizer-rt/cl/real.h"
#include "traces/base/mutex.h"
#include "transport/memory/pin.h"

namespace gt::opt {
namespace {

constexpr size_t MaxContexts = 64;
constexpr size_t MaxPins = 8192;

struct Context {
  cl_context handle = nullptr;
  cl_platform_id platform = nullptr;
  cl_uint references = 0;  // the program's
  cl_uint pins = 0;
};

// A token is (generation << 16 | index + 1): tokens of dropped pins are recognized.
struct Pin {
  cl_mem mem = nullptr;
  Context* context = nullptr;
  uint64_t generation = 0;
};

constinit Mutex g_mutex;
constinit Context g_contexts[MaxContexts] GT_GUARDED_BY(g_mutex) = {};
constinit Pin g_pins[MaxPins] GT_GUARDED_BY(g_mutex) = {};
constinit size_t g_next_pin GT_GUARDED_BY(g_mutex) = 0;

Context* find(cl_context handle) GT_REQUIRES(g_mutex) {
  for (Context& c : g_contexts)
    if (c.handle == handle && c.references > 0) return &c;
  return nullptr;
}

PinToken token_of(size_t index) GT_REQUIRES(g_mutex) { return g_pins[index].generation << 16 | (index + 1); }

Pin* pin_of(PinToken token) GT_REQUIRES(g_mutex) {
  const size_t index = (token & 0xffff) - 1;
  if (index >= MaxPins) return nullptr;
  Pin& p = g_pins[index];
  return p.mem && token_of(index) == token ? &p : nullptr;
}

// Takes the buffer out of the table; the caller releases it without the lock.
cl_mem take(Pin& p) GT_REQUIRES(g_mutex) {
  cl_mem mem = p.mem;
  p.mem = nullptr;
  ++p.generation;
  if (p.context) --p.context->pins;
  p.context = nullptr;
  return mem;
}

size_t free_pin() GT_REQUIRES(g_mutex) {
  for (size_t n = 0; n < MaxPins; ++n) {
    g_next_pin = (g_next_pin + 1) % MaxPins;
    if (!g_pins[g_next_pin].mem) return g_next_pin;
  }
  return MaxPins;
}

ClFunctions functions_for_pins() {
  ClFunctions f;
  f.clCreateBuffer = GT_REAL(clCreateBuffer);
  f.clReleaseMemObject = GT_REAL(clReleaseMemObject);
  return f;
}

void release(cl_mem mem) {
  if (const auto f = GT_REAL(clReleaseMemObject)) f(mem);
}

}  // namespace

void context_created(cl_context context) noexcept {
  cl_platform_id platform = platform_of(context);
  const MutexLock lock(g_mutex);
  for (Context& c : g_contexts) {
    if (c.references > 0) continue;
    c = {context, platform, 1, 0};
    return;
  }
}

void context_retained(cl_context context) noexcept {
  const MutexLock lock(g_mutex);
  if (Context* c = find(context)) ++c->references;
}

bool last_reference_goes(cl_context context) noexcept {
  const MutexLock lock(g_mutex);
  Context* c = find(context);
  return c && --c->references == 0;
}

void drop_pins(cl_context context) noexcept {
  for (Pin& p : g_pins) {
    cl_mem mem = nullptr;
    {
      const MutexLock lock(g_mutex);
      if (p.mem && p.context && p.context->handle == context && p.context->references == 0)
        mem = take(p);
    }
    if (mem) release(mem);
  }
}

bool is_known(cl_context context) noexcept {
  const MutexLock lock(g_mutex);
  return find(context) != nullptr;
}

cl_uint pins_in(cl_context context) noexcept {
  const MutexLock lock(g_mutex);
  const Context* c = find(context);
  return c ? c->pins : 0;
}

PinResult pin(cl_context context, void* base, size_t bytes, PinToken* token) noexcept {
  const ClFunctions cl = functions_for_pins();
  if (!cl.clCreateBuffer || !cl.clReleaseMemObject) return PinResult::Refused;
  {
    const MutexLock lock(g_mutex);
    if (!find(context)) return PinResult::UnknownContext;
  }
  cl_mem mem = nullptr;
  if (memory::pin_in_place(cl, context, base, bytes, &mem) != CL_SUCCESS) return PinResult::Refused;
  {
    const MutexLock lock(g_mutex);
    Context* c = find(context);
    const size_t index = c ? free_pin() : MaxPins;
    if (index < MaxPins) {
      g_pins[index].mem = mem;
      g_pins[index].context = c;
      ++c->pins;
      *token = token_of(index);
      return PinResult::Done;
    }
  }
  memory::unpin(cl, mem);
  return PinResult::TableFull;
}

void unpin(PinToken token) noexcept {
  cl_mem mem = nullptr;
  {
    const MutexLock lock(g_mutex);
    if (Pin* p = pin_of(token)) mem = take(*p);
  }
  if (mem) release(mem);
}

PinState pin_state(PinToken token, cl_context context) noexcept {
  const MutexLock lock(g_mutex);
  const Pin* p = pin_of(token);
  if (!p) return PinState::Gone;
  const Context* c = p->context ? find(context) : nullptr;
  return c && c->platform != p->context->platform ? PinState::Elsewhere : PinState::Here;
}

}  // namespace gt::opt
