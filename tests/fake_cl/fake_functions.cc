// The fake functions, expanded from the table.
#include "tests/fake_cl/fake_functions.h"

#include <cstring>

#include "traces/api/special.h"
#include "traces/api/table.h"

namespace gt::fake {
namespace {

using namespace gt::api;  // NOLINT: this file is about the table
using namespace gt::api::role;

uint64_t g_seed = 0;
bool g_succeed = true;
std::string g_log;

uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e3779b97f4a7c15 + b + 0x632be59bd9b4e019;
  x ^= x >> 31;
  x *= 0xbf58476d1ce4e5b9;
  return x ^ (x >> 29);
}

template <FnId F, class Args>
class Logger {
 public:
  explicit Logger(const Args& args) : args_(args) {}

  template <size_t I>
  void see() {
    g_log += " | ";
    see<I>(ParamRole<F, I>{});
  }
  template <size_t I>
  void fill() {
    fill<I>(ParamRole<F, I>{});
  }

 private:
  template <size_t I>
  auto arg() const {
    return std::get<I>(args_);
  }
  template <size_t C>
  size_t size(Count<C>) const {
    return static_cast<size_t>(std::get<C>(args_));
  }
  template <size_t N>
  size_t size(Fixed<N>) const {
    return N;
  }
  size_t size(Extent) const { return extent_of<F>(args_); }

  template <class T>
  void scalar(T v) {
    if constexpr (std::is_pointer_v<T>)
      g_log += std::to_string(reinterpret_cast<uint64_t>(v));
    else
      g_log += std::to_string(v);
  }
  void bytes(const void* p, size_t n) {
    if (!p) {
      g_log += "null";
      return;
    }
    static constexpr char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; ++i) {
      const uint8_t b = static_cast<const uint8_t*>(p)[i];
      g_log += digits[b >> 4];
      g_log += digits[b & 15];
    }
    g_log += "/" + std::to_string(n);
  }
  template <class T>
  void list(const T* p, size_t n) {
    if (!p) g_log += "null";
    for (size_t i = 0; p && i < n; ++i) {
      scalar(p[i]);
      g_log += ",";
    }
  }
  void room(const void* p) { g_log += p ? "room" : "null"; }

  template <size_t I>
  void see(Val) {
    scalar(arg<I>());
  }
  template <size_t I>
  void see(Opaque) {
    scalar(arg<I>());
  }
  template <size_t I>
  void see(UserData) {
    scalar(arg<I>());
  }
  template <size_t I>
  void see(Callback) {
    scalar(arg<I>());
  }
  template <size_t I, K k, E e>
  void see(Use<k, e>) {
    scalar(arg<I>());
  }
  template <size_t I, K k, E e>
  void see(Ptr<k, e>) {
    scalar(arg<I>());
  }
  template <size_t I, class N>
  void see(InArray<N>) {
    list(arg<I>(), size(N{}));
  }
  template <size_t I, class N, K k, E e>
  void see(InHandles<N, k, e>) {
    list(arg<I>(), size(N{}));
  }
  template <size_t I, class N, K k, E e>
  void see(InPointers<N, k, e>) {
    list(arg<I>(), size(N{}));
  }
  template <size_t I, class N>
  void see(InBytes<N>) {
    bytes(arg<I>(), size(N{}));
  }
  template <size_t I>
  void see(InString) {
    bytes(arg<I>(), arg<I>() ? std::strlen(arg<I>()) : 0);
  }
  template <size_t I, class N>
  void see(InStrings<N>) {
    if (!arg<I>()) g_log += "null";
    for (size_t i = 0; arg<I>() && i < size(N{}); ++i) bytes(arg<I>()[i], std::strlen(arg<I>()[i]));
  }
  template <size_t I, class N, size_t L>
  void see(InBlobs<N, L>) {
    if (!arg<I>()) g_log += "null";
    for (size_t i = 0; arg<I>() && i < size(N{}); ++i) {
      const void* s = arg<I>()[i];
      const size_t* lengths = std::get<L>(args_);
      bytes(s, lengths && lengths[i] ? lengths[i] : std::strlen(static_cast<const char*>(s)));
    }
  }
  // The random lists of the test are pairs, so that this needs no knowledge of keys.
  template <size_t I>
  void see(InList) {
    if (!arg<I>()) g_log += "null";
    for (size_t i = 0; arg<I>() && arg<I>()[i] != 0; i += 2) list(arg<I>() + i, 2);
  }
  template <size_t I, class T, K k>
  void see(InStruct<T, k>) {
    const auto* s = static_cast<const T*>(arg<I>());
    if constexpr (std::is_same_v<T, cl_image_desc>) {
      // Field by field: there is padding.
      if (!s) return bytes(nullptr, 0);
      for (const size_t v : {size_t{s->image_type}, s->image_width, s->image_height, s->image_depth,
                             s->image_array_size, s->image_row_pitch, s->image_slice_pitch,
                             size_t{s->num_mip_levels}, size_t{s->num_samples}})
        scalar(v), g_log += ",";
      scalar(s->mem_object);
    } else {
      bytes(s, sizeof(T));
    }
  }
  template <size_t I, size_t A, class N>
  void see(InPlaces<A, N>) {
    if (!arg<I>()) g_log += "null";
    for (size_t i = 0; arg<I>() && i < size(N{}); ++i) {
      scalar(static_cast<const char*>(arg<I>()[i]) - static_cast<const char*>(arg<A>()));
      g_log += ",";
    }
  }
  template <size_t I, class N>
  void see(HostIn<N>) {
    bytes(arg<I>(), arg<I>() ? size(N{}) : 0);
  }
  template <size_t I, class N>
  void see(HostOut<N>) {
    room(arg<I>());
  }
  template <size_t I, class N, size_t Flags>
  void see(HostInit<N, Flags>) {
    const bool asked = std::get<Flags>(args_) & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
    if (asked)
      bytes(arg<I>(), arg<I>() ? size(N{}) : 0);
    else
      room(arg<I>());
  }
  template <size_t I, size_t N, size_t S, class... W>
  void see(InInfo<N, S, W...>) {
    bytes(arg<I>(), std::get<S>(args_));
  }
  template <size_t I, class Role>
  void see(Role) {
    static_assert(Role::in == Wire::Present, "a role that the fake does not know");
    room(arg<I>());
  }

  // --- Outputs ---
  template <class T>
  void write(T* p, size_t n, uint64_t salt) {
    for (size_t i = 0; p && i < n; ++i) {
      const uint64_t v = mix(mix(g_seed, salt), i);
      std::memcpy(&p[i], &v, sizeof(T) < 8 ? sizeof(T) : 8);
    }
  }
  template <size_t I, class Role>
  void fill(Role) {
    static_assert(Role::out == Wire::None, "an output that the fake does not know");
  }
  template <size_t I>
  void fill(ErrcodeRet) {
    if (arg<I>()) *arg<I>() = g_succeed ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
  }
  template <size_t I>
  void fill(OutScalar) {
    if (g_succeed) write(arg<I>(), 1, I);
  }
  template <size_t I>
  void fill(OutSizeRet) {
    if (g_succeed && arg<I>())
      *arg<I>() = static_cast<std::remove_pointer_t<ParamType<F, I>>>(mix(g_seed, I) % 24);
  }
  template <size_t I, K k, E e>
  void fill(OutHandle<k, e>) {
    if (g_succeed) write(arg<I>(), 1, I);
  }
  template <size_t I, class N, size_t R>
  void fill(OutArray<N, R>) {
    if (g_succeed) write(arg<I>(), size(N{}), I);
  }
  template <size_t I, class N, size_t R, K k, E e>
  void fill(OutHandles<N, R, k, e>) {
    if (g_succeed) write(arg<I>(), size(N{}), I);
  }
  template <size_t I>
  void fill_bytes(void* p, size_t n) {
    if (g_succeed) write(static_cast<uint8_t*>(p), p ? n : 0, I);
  }
  template <size_t I, class N, size_t R>
  void fill(OutBytes<N, R>) {
    fill_bytes<I>(arg<I>(), size(N{}));
  }
  template <size_t I, class N>
  void fill(HostOut<N>) {
    fill_bytes<I>(arg<I>(), arg<I>() ? size(N{}) : 0);
  }
  template <size_t I, size_t N, size_t S, size_t R, class... W>
  void fill(InfoOut<N, S, R, W...>) {
    fill_bytes<I>(arg<I>(), std::get<S>(args_));
  }

  const Args& args_;
};

template <FnId F, class Is = std::make_index_sequence<ParamCount<F>>>
struct Fake;
template <FnId F, size_t... I>
struct Fake<F, std::index_sequence<I...>> {
  using Result = typename Fn<F>::Result;
  static Result CL_API_CALL call(ParamType<F, I>... a) {
    const std::tuple<ParamType<F, I>...> args(a...);
    Logger<F, decltype(args)> logger(args);
    g_log += "call " + std::to_string(number(F));
    (logger.template see<I>(), ...);
    (logger.template fill<I>(), ...);
    if constexpr (std::is_pointer_v<Result>) {
      return g_succeed ? reinterpret_cast<Result>(mix(g_seed, 99) | 1) : nullptr;
    } else if constexpr (!std::is_void_v<Result>) {
      return g_succeed ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
    }
  }
};

}  // namespace

AnyFunction function(FnId fn) {
  switch (fn) {
#define GT_FN_ID(name, id) \
  case FnId::name:         \
    return reinterpret_cast<AnyFunction>(&Fake<FnId::name>::call);
#include "traces/api/gen/fn_ids.inc"
#undef GT_FN_ID
    default:
      return nullptr;
  }
}

void set_seed(uint64_t seed, bool succeed) {
  g_seed = seed;
  g_succeed = succeed;
}

std::string take_log() { return std::exchange(g_log, {}); }

}  // namespace gt::fake
