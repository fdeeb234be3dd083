// What all handles of the virtual platform have in common, and how their functions refuse.
//
// A handle is a pointer to one of our objects, whose first word is the ICD's dispatch table: so any loader leads calls
// on it to us. Two counts: `references` are the program's (clRetain, clRelease, CL_..._REFERENCE_COUNT), `holds` are
// ours; all of the program's together are one hold. An object ends with its last hold.
//
// Functions check as they go: what is wrong throws a Failure, which the entry of the function (entry.h) turns into the
// error code that the program gets. Nothing else is thrown but bad_alloc, and nothing leaves an entry.
// Thread safety: counts and type from any thread; what is in an object, as it says.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "traces/api/icd_dispatch.h"

namespace gt::virt {

struct Failure {
  cl_int code;
};
inline void require(bool good, cl_int code) {
  if (!good) throw Failure{code};
}
inline void require_success(cl_int code) { require(code == CL_SUCCESS, code); }

extern const api::IcdDispatch dispatch_table;

// Unlikely numbers, so that a stranger's pointer is told from ours.
enum class Type : uint32_t {
  None = 0,
  Platform = 0x67b10001,
  Device,
  Context,
  Queue,
  Mem,
  Sampler,
  Program,
  Kernel,
  Event,
  CommandBuffer,
  MutableCommand,
  Semaphore,
};

struct Object {
  explicit Object(Type t) : kind(t) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  const api::IcdDispatch* const dispatch = &dispatch_table;  // the first word
  std::atomic<Type> kind;
  std::atomic<uint32_t> references{1};
  std::atomic<uint32_t> holds{1};
};
static_assert(std::is_standard_layout_v<Object>);

template <class T>
void hold(T* p) {
  p->holds.fetch_add(1, std::memory_order_relaxed);
}
// Not when the object is about to end.
template <class T>
bool try_hold(T* p) {
  uint32_t n = p->holds.load(std::memory_order_relaxed);
  while (n != 0 && !p->holds.compare_exchange_weak(n, n + 1)) {
  }
  return n != 0;
}
template <class T>
void unhold(T* p) {
  if (p->holds.fetch_sub(1) != 1) return;
  p->kind = Type::None;
  delete p;
}

// A hold of ours.
template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* p) : p_(p) {
    if (p_) hold(p_);
  }
  static Ref adopt(T* p) {  // takes over a hold that exists
    Ref r;
    r.p_ = p;
    return r;
  }
  Ref(const Ref& o) : Ref(o.p_) {}
  Ref(Ref&& o) noexcept : p_(std::exchange(o.p_, nullptr)) {}
  Ref& operator=(Ref o) noexcept {
    std::swap(p_, o.p_);
    return *this;
  }
  ~Ref() {
    if (p_) unhold(p_);
  }
  T* get() const { return p_; }
  T* operator->() const { return p_; }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }
  T* give() { return std::exchange(p_, nullptr); }  // the hold becomes the program's

 private:
  T* p_ = nullptr;
};

template <class T, class... A>
Ref<T> make(A&&... a) {
  return Ref<T>::adopt(new T(std::forward<A>(a)...));
}

// --- What the program hands in ---
template <class T>
bool is(const T* handle) {
  return handle && reinterpret_cast<uintptr_t>(handle) % alignof(T) == 0 &&
         handle->kind.load(std::memory_order_relaxed) == T::Kind;
}
template <class T>
T& check(T* handle) {
  require(is(handle), T::Invalid);
  return *handle;
}
// What the program has let go of it may have again from what uses it, as pyopencl has a queue's context: by a new hold.
template <class T>
cl_int retain(T* handle) {
  T& object = check(handle);
  if (object.references.fetch_add(1) == 0) hold(&object);
  return CL_SUCCESS;
}
// `last` runs before the program's hold is dropped.
template <class T, class Last>
cl_int release(T* handle, Last last) {
  T& object = check(handle);
  uint32_t n = object.references.load();
  do require(n != 0, T::Invalid);
  while (!object.references.compare_exchange_weak(n, n - 1));
  if (n != 1) return CL_SUCCESS;
  last(object);
  unhold(&object);
  return CL_SUCCESS;
}
template <class T>
cl_int release(T* handle) {
  return release(handle, [](T&) {});
}

}  // namespace gt::virt
