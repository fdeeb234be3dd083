// Random, valid arguments for any OpenCL function of the table.
//
// Counts are 0 to 3, byte lengths 0 to 40, every pointer is NULL now and then (but arrays that go
// with a length array are there with it). Two calls of make() with the same seed give equal
// arguments in separate memory. Ownership: what the arguments point to lives as long as the
// RandomCall.
#pragma once

#include <deque>
#include <random>
#include <string>
#include <vector>

#include "traces/api/special.h"
#include "traces/api/table.h"

namespace gt::fake {

template <api::FnId F>
class RandomCall {
 public:
  explicit RandomCall(uint64_t seed) : random_(seed) {
    // Values first (counts, sizes, flags), then what depends on them.
    each([this]<size_t I>() { by_value<I>(api::ParamRole<F, I>{}); });
    each([this]<size_t I>() { by_pointer<I>(api::ParamRole<F, I>{}); });
    each([this]<size_t I>() { host_memory<I>(api::ParamRole<F, I>{}); });
  }
  RandomCall(const RandomCall&) = delete;
  RandomCall& operator=(const RandomCall&) = delete;
  const api::Arguments<F>& args() const { return args_; }

 private:
  using K = api::ObjectKind;
  using E = api::Effect;
  template <size_t I>
  using Type = api::ParamType<F, I>;
  template <size_t I>
  using Element = std::remove_const_t<std::remove_pointer_t<Type<I>>>;

  template <class Visit>
  void each(Visit visit) {
    [&]<size_t... I>(std::index_sequence<I...>) { (visit.template operator()<I>(), ...); }
    (std::make_index_sequence<api::ParamCount<F>>{});
  }
  template <size_t I>
  Type<I>& arg() {
    return std::get<I>(args_);
  }
  template <size_t C>
  size_t size(api::role::Count<C>) {
    return static_cast<size_t>(std::get<C>(args_));
  }
  template <size_t N>
  size_t size(api::role::Fixed<N>) {
    return N;
  }
  size_t size(api::role::Extent) { return api::extent_of<F>(args_); }

  uint64_t small(uint64_t limit) { return random_() % limit; }
  bool rarely() { return small(8) == 0; }
  // Zeroed, 8-byte aligned, never empty.
  void* memory(size_t bytes) {
    auto& block = blocks_.emplace_back(bytes / 8 + 2);
    return block.data();
  }
  void* random_bytes(size_t n) {
    auto* p = static_cast<uint8_t*>(memory(n));
    for (size_t i = 0; i < n; ++i) p[i] = static_cast<uint8_t>(random_());
    return p;
  }
  char* text() {
    const size_t n = small(20);
    auto* p = static_cast<char*>(memory(n + 1));
    for (size_t i = 0; i < n; ++i) p[i] = static_cast<char>('!' + small(90));
    return p;
  }
  template <class T>
  void number(T& v) {
    if constexpr (std::is_pointer_v<T>)
      v = reinterpret_cast<T>(random_());
    else
      v = static_cast<T>(random_());
  }

  // --- Values ---
  template <size_t I, class Role>
  void by_value(Role) {}
  template <size_t I>
  void by_value(api::role::Val) {
    if constexpr (used_as_count<I>())
      arg<I>() = static_cast<Type<I>>(small(sizeof(Type<I>) == 4 ? 4 : 41));
    else
      number(arg<I>());
  }
  template <size_t I>
  void by_value(api::role::Opaque) {
    number(arg<I>());
  }
  template <size_t I>
  void by_value(api::role::UserData) {
    number(arg<I>());
  }
  template <size_t I>
  void by_value(api::role::Callback) {
    number(arg<I>());
  }
  template <size_t I, K k, E e>
  void by_value(api::role::Use<k, e>) {
    number(arg<I>());
  }
  template <size_t I, K k, E e>
  void by_value(api::role::Ptr<k, e>) {
    number(arg<I>());
  }

  // Numbers of type size_t and cl_uint are small: any may be a count or an extent.
  template <size_t I>
  static constexpr bool used_as_count() {
    return std::is_same_v<Type<I>, size_t> || std::is_same_v<Type<I>, cl_uint>;
  }

  // --- Arrays ---
  template <size_t I, class Role>
  void by_pointer(Role) {}
  template <size_t I>
  void array(size_t n) {
    if (rarely()) return;
    auto* p = static_cast<Element<I>*>(memory(n * sizeof(Element<I>)));
    for (size_t i = 0; i < n; ++i) number(p[i]);
    arg<I>() = p;
  }
  template <size_t I, class N>
  void by_pointer(api::role::InArray<N>) {
    array<I>(size(N{}));
    // Lengths of strings and sides of boxes stay small.
    using T = Element<I>;
    if constexpr (std::is_same_v<T, size_t>) {
      for (size_t i = 0; arg<I>() && i < size(N{}); ++i) const_cast<T*>(arg<I>())[i] = small(4);
    }
  }
  template <size_t I, class N, K k, E e>
  void by_pointer(api::role::InHandles<N, k, e>) {
    array<I>(size(N{}));
  }
  template <size_t I, class N, K k, E e>
  void by_pointer(api::role::InPointers<N, k, e>) {
    array<I>(size(N{}));
  }
  template <size_t I, class N>
  void by_pointer(api::role::InBytes<N>) {
    if (!rarely()) arg<I>() = random_bytes(size(N{}));
  }
  template <size_t I>
  void by_pointer(api::role::InString) {
    if (!rarely()) arg<I>() = text();
  }
  template <size_t I>
  void strings(size_t n) {
    auto** list = static_cast<const char**>(memory(n * 8));
    for (size_t i = 0; i < n; ++i) list[i] = text();
    arg<I>() = reinterpret_cast<Type<I>>(list);
  }
  template <size_t I, class N>
  void by_pointer(api::role::InStrings<N>) {
    strings<I>(size(N{}));
  }
  // Text is at most 19 bytes and a NUL in zeroed memory, lengths are at most 3: always inside.
  template <size_t I, class N, size_t L>
  void by_pointer(api::role::InBlobs<N, L>) {
    strings<I>(size(N{}));
  }
  template <size_t I>
  void by_pointer(api::role::InList) {
    if (rarely()) return;
    const size_t pairs = small(3);
    auto* list = static_cast<Element<I>*>(memory((2 * pairs + 1) * sizeof(Element<I>)));
    for (size_t i = 0; i < pairs; ++i) {
      const uint64_t keys[] = {CL_CONTEXT_PLATFORM, CL_QUEUE_PROPERTIES,
                               CL_DEVICE_PARTITION_EQUALLY, 0x7777};
      list[2 * i] = static_cast<Element<I>>(keys[small(4)]);
      list[2 * i + 1] = static_cast<Element<I>>(random_());
    }
    arg<I>() = list;
  }
  template <size_t I, class T, K k>
  void by_pointer(api::role::InStruct<T, k>) {
    if (rarely()) return;
    auto* s = static_cast<T*>(random_bytes(sizeof(T)));
    small_struct(s);
    arg<I>() = s;
  }
  void small_struct(cl_buffer_region*) {}
  void small_struct(cl_image_format* f) { *f = {CL_RGBA, CL_FLOAT}; }
  void small_struct(cl_image_desc* d) {
    d->image_type = CL_MEM_OBJECT_IMAGE3D;
    for (size_t* v : {&d->image_width, &d->image_height, &d->image_depth}) *v = small(4);
    d->image_row_pitch = d->image_slice_pitch = 0;
  }
  template <size_t I, size_t A, class N>
  void by_pointer(api::role::InPlaces<A, N>) {
    constexpr size_t Room = 8;
    if (std::get<A + 1>(args_) < Room || !arg<A>()) {
      std::get<I - 2>(args_) = 0;  // no place: no handles
      return;
    }
    auto** places = static_cast<const void**>(memory(size(N{}) * 8));
    for (size_t i = 0; i < size(N{}); ++i)
      places[i] = static_cast<char*>(arg<A>()) + small(std::get<A + 1>(args_) - Room + 1);
    arg<I>() = places;
  }
  template <size_t I, size_t N, size_t S, class... W>
  void by_pointer(api::role::InInfo<N, S, W...>) {
    if (!rarely()) arg<I>() = random_bytes(std::get<S>(args_));
  }

  // --- Memory whose size follows from everything else, and room for outputs ---
  template <size_t I, class Role>
  void host_memory(Role) {
    if constexpr (Role::in == api::Wire::Present) {
      if (!rarely()) arg<I>() = reinterpret_cast<Type<I>>(memory(1024));
    }
  }
  template <size_t I, class N>
  void host_memory(api::role::HostIn<N>) {
    host<I>(size(N{}));
  }
  template <size_t I, class N>
  void host_memory(api::role::HostOut<N>) {
    host<I>(size(N{}));
  }
  template <size_t I, class N, size_t Flags>
  void host_memory(api::role::HostInit<N, Flags>) {
    host<I>(size(N{}));
  }
  // An extent of nothing stays NULL: an invoked call would be given NULL as well.
  template <size_t I>
  void host(size_t n) {
    if (n != 0 && !rarely()) arg<I>() = random_bytes(n);
  }

  std::mt19937_64 random_;
  std::deque<std::vector<uint64_t>> blocks_;
  api::Arguments<F> args_{};
};

}  // namespace gt::fake
