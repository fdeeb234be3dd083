// Counting references and pins.
#include "optimizer-rt/cl/contexts.h"

#include <pthread.h>

#include <cstdint>

#include "optimizer-rt/cl/plan_device.h"
#include "optimizer-rt/cl/real.h"
#include "optimizer-rt/cl/reused_memory.h"
#include "optimizer-rt/cl/staging.h"
#include "optimizer-rt/cl/svm_memory.h"
#include "traces/base/lock.h"
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

constinit pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
constinit Context g_contexts[MaxContexts] = {};
constinit Pin g_pins[MaxPins] = {};
constinit size_t g_next_pin = 0;

Context* find(cl_context handle) {
  for (Context& c : g_contexts)
    if (c.handle == handle && c.references > 0) return &c;
  return nullptr;
}

PinToken token_of(size_t index) { return g_pins[index].generation << 16 | (index + 1); }

Pin* pin_of(PinToken token) {
  const size_t index = (token & 0xffff) - 1;
  if (index >= MaxPins) return nullptr;
  Pin& p = g_pins[index];
  return p.mem && token_of(index) == token ? &p : nullptr;
}

// Takes the buffer out of the table; the caller releases it without the lock.
cl_mem take(Pin& p) {
  cl_mem mem = p.mem;
  p.mem = nullptr;
  ++p.generation;
  if (p.context) --p.context->pins;
  p.context = nullptr;
  return mem;
}

size_t free_pin() {
  for (size_t n = 0; n < MaxPins; ++n) {
    g_next_pin = (g_next_pin + 1) % MaxPins;
    if (!g_pins[g_next_pin].mem) return g_next_pin;
  }
  return MaxPins;
}

memory::ClTable table() {
  memory::ClTable t;
  t.create_buffer = GT_REAL(clCreateBuffer);
  t.release_mem_object = GT_REAL(clReleaseMemObject);
  return t;
}

cl_uint reference_count(cl_context context) {
  cl_uint n = 0;
  const auto info = GT_REAL(clGetContextInfo);
  return info && info(context, CL_CONTEXT_REFERENCE_COUNT, sizeof n, &n, nullptr) == CL_SUCCESS ? n
                                                                                                : 0;
}

void release(cl_mem mem) {
  if (const auto f = GT_REAL(clReleaseMemObject)) f(mem);
}

}  // namespace

void context_created(cl_context context) noexcept {
  cl_platform_id platform = platform_of(context);
  const Lock lock(g_mutex);
  for (Context& c : g_contexts) {
    if (c.references > 0) continue;
    c = {context, platform, 1, 0};
    return;
  }
}

void context_retained(cl_context context) noexcept {
  const Lock lock(g_mutex);
  if (Context* c = find(context)) ++c->references;
}

void context_releasing(cl_context context) noexcept {
  {
    const Lock lock(g_mutex);
    Context* c = find(context);
    if (!c || --c->references > 0) return;
  }
  stop_staging(context);
  stop_reusing(context);
  svm_left(context);
  for (Pin& p : g_pins) {
    cl_mem mem = nullptr;
    {
      const Lock lock(g_mutex);
      if (p.mem && p.context && p.context->handle == context && p.context->references == 0)
        mem = take(p);
    }
    if (mem) release(mem);
  }
}

bool is_known(cl_context context) noexcept {
  const Lock lock(g_mutex);
  return find(context) != nullptr;
}

namespace {

// What a buffer and a queue that has worked add to a context's count: different from driver to driver.
struct Weights {
  cl_uint buffer = 0, queue = 0;
};

// What it is now more than `before`.
cl_uint added_references(cl_context context, cl_uint before) {
  const cl_uint now = reference_count(context);
  return now > before ? now - before : 0;
}

cl_int weigh_buffer(cl_context context, cl_uint before, cl_uint* weight) {
  const memory::ClTable cl = table();
  cl_int err = CL_SUCCESS;
  if (!cl.create_buffer || !cl.release_mem_object) return CL_INVALID_OPERATION;
  cl_mem mem = cl.create_buffer(context, CL_MEM_READ_WRITE, 1, nullptr, &err);
  if (err != CL_SUCCESS) return err;
  *weight = added_references(context, before);
  return cl.release_mem_object(mem);
}

cl_int weigh_queue(cl_context context, cl_uint before, cl_uint* weight) {
  const auto create = GT_REAL(clCreateCommandQueue);
  const auto finish = GT_REAL(clFinish);
  const auto marker = GT_REAL(clEnqueueMarkerWithWaitList);
  const auto release = GT_REAL(clReleaseCommandQueue);
  cl_device_id device = first_device(context);
  cl_int err = CL_SUCCESS;
  if (!create || !finish || !marker || !release || !device) return CL_INVALID_OPERATION;
  cl_command_queue queue = create(context, device, 0, &err);
  if (err != CL_SUCCESS) return err;
  if (marker(queue, 0, nullptr, nullptr) == CL_SUCCESS) finish(queue);
  *weight = added_references(context, before);
  return release(queue);
}

// Tried out when a program asks for the first time on a platform.
Weights weights(cl_context context) {
  struct Learnt {
    cl_platform_id platform = nullptr;
    Weights weights;
  };
  static constinit pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static constinit Learnt learnt[16] = {};
  cl_platform_id platform = platform_of(context);
  const Lock lock(mutex);
  Learnt* free = nullptr;
  for (Learnt& l : learnt) {
    if (l.platform && l.platform == platform) return l.weights;
    if (!l.platform && !free) free = &l;
  }
  Weights w;
  const cl_uint before = reference_count(context);
  const bool known = staging::insist([&] { return weigh_buffer(context, before, &w.buffer); }) &&
                     staging::insist([&] { return weigh_queue(context, before, &w.queue); });
  if (known && free) *free = {platform, w};
  return w;
}

}  // namespace

cl_uint hidden_references(cl_context context) noexcept {
  staging::Stager::Held held = staging_holds(context);
  {
    const Lock lock(g_mutex);
    if (const Context* c = find(context)) held.buffers += c->pins;
  }
  if (held.buffers + held.queues == 0) return 0;
  const Weights w = weights(context);
  return held.buffers * w.buffer + held.queues * w.queue;
}

PinResult pin(cl_context context, void* base, size_t bytes, PinToken* token) noexcept {
  const memory::ClTable cl = table();
  if (!cl.create_buffer || !cl.release_mem_object) return PinResult::Refused;
  {
    const Lock lock(g_mutex);
    if (!find(context)) return PinResult::UnknownContext;
  }
  cl_mem mem = nullptr;
  if (memory::pin_in_place(cl, context, base, bytes, &mem) != CL_SUCCESS) return PinResult::Refused;
  {
    const Lock lock(g_mutex);
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
    const Lock lock(g_mutex);
    if (Pin* p = pin_of(token)) mem = take(*p);
  }
  if (mem) release(mem);
}

PinState pin_state(PinToken token, cl_context context) noexcept {
  const Lock lock(g_mutex);
  const Pin* p = pin_of(token);
  if (!p) return PinState::Gone;
  const Context* c = p->context ? find(context) : nullptr;
  return c && c->platform != p->context->platform ? PinState::Elsewhere : PinState::Here;
}

}  // namespace gt::opt
