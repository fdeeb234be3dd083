// Encodes a call: encode_inputs before it, encode_outputs after it (layout: wire.h).
//
// A Writer has word(uint64_t) and bytes(const void*, size_t). One that faces a program before the driver does has
// readable(const void*, size_t), too: what it refuses is encoded as an address. One that has data(const void*,
// const HostBox&) is shown the memory that a call is about to move data from (inputs) or has filled (outputs), whatever
// Contents says. One that has keeps_contents() is asked whether what a call read from a device is to be encoded.
// Calls are encoded twice, once by a
// SizeWriter and once into the memory so measured; the measure folds to a constant for functions
// without arrays. Cost: a few stores for each argument; no allocation, no lock, no system call.
// noexcept when the writer is. Preconditions, unless the writer has readable(): pointers of the program
// are valid as OpenCL asks. NULL is accepted everywhere. Thread safety: no state.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>

#include "traces/api/properties.h"
#include "traces/api/special.h"
#include "traces/api/wire.h"

namespace gt::api {

// Any scalar, enumerator or pointer as a word.
template <class T>
uint64_t to_word(T v) noexcept {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<uint64_t>(v);
  } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
    return static_cast<uint64_t>(static_cast<int64_t>(v));
  } else if constexpr (std::is_integral_v<T>) {
    return v;
  } else {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
    uint64_t w = 0;
    std::memcpy(&w, &v, sizeof v);
    return w;
  }
}

// The tag that a query's answer gets for the value asked for.
template <class... When>
struct InfoTagOf;
template <>
struct InfoTagOf<> {
  static constexpr uint64_t of(uint64_t) { return InfoBytes; }
};
template <uint64_t V, ObjectKind K, class... Rest>
struct InfoTagOf<role::HandlesWhen<V, K>, Rest...> {
  static constexpr uint64_t of(uint64_t name) {
    return name == V ? InfoHandles + static_cast<uint64_t>(K) : InfoTagOf<Rest...>::of(name);
  }
};
template <uint64_t V, class... Rest>
struct InfoTagOf<role::ListWhen<V>, Rest...> {
  static constexpr uint64_t of(uint64_t name) {
    return name == V ? InfoList : InfoTagOf<Rest...>::of(name);
  }
};
template <uint64_t V, class... Rest>
struct InfoTagOf<role::OpaqueWhen<V>, Rest...> {
  static constexpr uint64_t of(uint64_t name) {
    return name == V ? InfoOpaque : InfoTagOf<Rest...>::of(name);
  }
};

// How much an array of F's arguments holds.
template <FnId F, size_t I, class T>
size_t count_of(role::Count<I>, const T& args) noexcept {
  return static_cast<size_t>(std::get<I>(args));
}
template <FnId F, size_t N, class T>
constexpr size_t count_of(role::Fixed<N>, const T&) noexcept {
  return N;
}
template <FnId F, class T>
size_t count_of(role::Extent, const T& args) noexcept {
  return extent_of<F>(args);
}

// Where a transfer's bytes lie behind its pointer.
template <FnId F, size_t I, class T>
HostBox box_of(role::Count<I> n, const T& args) noexcept {
  return {0, count_of<F>(n, args)};
}
template <FnId F, class T>
HostBox box_of(role::Extent, const T& args) noexcept {
  return BoxOf<F>::of(args);
}

template <FnId F, Contents C, class Writer, class Args>
class Encoder {
 public:
  Encoder(Writer& w, const Args& args) : w_(w), args_(args) {}

  template <size_t I>
  void input() {
    in<I>(ParamRole<F, I>{});
  }
  template <size_t I>
  void output(bool succeeded) {
    out<I>(ParamRole<F, I>{}, succeeded);
  }
  template <class R>
  void result(const R& r) {
    ret(typename Fn<F>::ResultRole{}, r);
  }

 private:
  template <size_t I>
  const auto& arg() const {
    return std::get<I>(args_);
  }
  template <size_t I>
  void value() {
    w_.word(to_word(arg<I>()));
  }
  template <class T>
  void array(const T* p, size_t n) {
    w_.word(p ? n : NullWord);
    if (!p) return;
    for (size_t i = 0; i < n; ++i) w_.word(to_word(p[i]));
  }
  void blob(const void* p, size_t n) {
    if (p)
      w_.bytes(p, n);
    else
      w_.word(NullWord);
  }
  // Inputs are the program's own words for it: the driver may refuse the call before it follows a pointer.
  bool readable(const void* p, size_t n, size_t each = 1) noexcept {
    if constexpr (requires { w_.readable(p, n); }) {
      size_t bytes = 0;
      if (p && n && (__builtin_mul_overflow(n, each, &bytes) || !w_.readable(p, bytes))) return followed_ = false;
    }
    return true;
  }
  void unreadable(const void* p) {
    w_.word(UnreadableWord);
    w_.word(to_word(p));
  }
  template <class T>
  void in_array(const T* p, size_t n) {
    readable(p, n, sizeof(T)) ? array(p, n) : unreadable(p);
  }
  void in_blob(const void* p, size_t n) { readable(p, n) ? blob(p, n) : unreadable(p); }
  void in_text(const char* s) {
    size_t n = 0;
    text_length(s, n) ? blob(s, n) : unreadable(s);
  }
  bool text_length(const char* s, size_t& n) noexcept {
    if constexpr (requires { w_.text_length(s, n); }) {
      if (s && !w_.text_length(s, n)) return followed_ = false;
    } else {
      n = s ? std::strlen(s) : 0;
    }
    return true;
  }
  void host(const void* p, size_t n, bool contents) {
    w_.word(to_word(p));
    if (p && contents)
      w_.bytes(p, n);
    else
      w_.word(n | NoContents);
  }
  template <class N>
  void show(const void* p, N n) {
    if constexpr (requires { w_.data(p, HostBox{}); }) {
      if (p && followed_) w_.data(p, box_of<F>(n, args_));
    }
  }

  // One short overload for each role.
  // clang-format off

  // --- Inputs ---
  template <size_t I> void in(role::Val) { value<I>(); }
  template <size_t I> void in(role::Opaque) { value<I>(); }
  template <size_t I> void in(role::UserData) { value<I>(); }
  template <size_t I> void in(role::Callback) { value<I>(); }
  template <size_t I, ObjectKind K, Effect E> void in(role::Use<K, E>) { value<I>(); }
  template <size_t I, ObjectKind K, Effect E> void in(role::Ptr<K, E>) { value<I>(); }
  template <size_t I, class N> void in(role::InArray<N>) { in_array(arg<I>(), count_of<F>(N{}, args_)); }
  template <size_t I, class N, ObjectKind K, Effect E> void in(role::InHandles<N, K, E>) {
    in_array(arg<I>(), count_of<F>(N{}, args_));
  }
  template <size_t I, class N, ObjectKind K, Effect E> void in(role::InPointers<N, K, E>) {
    in_array(arg<I>(), count_of<F>(N{}, args_));
  }
  template <size_t I, class N> void in(role::InBytes<N>) { in_blob(arg<I>(), count_of<F>(N{}, args_)); }
  template <size_t I> void in(role::InString) { in_text(arg<I>()); }
  template <size_t I, class N> void in(role::InStrings<N>) {
    strings(arg<I>(), count_of<F>(N{}, args_), nullptr);
  }
  template <size_t I, class N, size_t L> void in(role::InBlobs<N, L>) {
    strings(arg<I>(), count_of<F>(N{}, args_), std::get<L>(args_));
  }
  template <class S> void strings(S list, size_t n, const size_t* lengths) {
    if (!readable(list, n, sizeof *list) || !readable(lengths, n, sizeof *lengths)) return unreadable(list);
    w_.word(list ? n : NullWord);
    if (!list) return;
    for (size_t i = 0; i < n; ++i) {
      const auto* s = reinterpret_cast<const char*>(list[i]);
      lengths && lengths[i] ? in_blob(s, lengths[i]) : in_text(s);
    }
  }
  template <size_t I> void in(role::InList) {
    const auto* list = arg<I>();
    const size_t n = list ? property_words(list, [this](const void* p) { return readable(p, 8); }) : 0;
    n < MaxPropertyWords ? array(list, n) : unreadable(list);
  }
  template <size_t I, class T, ObjectKind K> void in(role::InStruct<T, K>) {
    const auto* s = static_cast<const T*>(arg<I>());
    readable(s, sizeof(T)) ? structure(s) : unreadable(s);
  }
  void structure(const cl_image_format* f) {
    const uint64_t words[] = {f ? f->image_channel_order : 0, f ? f->image_channel_data_type : 0};
    array(f ? words : nullptr, 2);
  }
  void structure(const cl_buffer_region* r) {
    const uint64_t words[] = {r ? r->origin : 0, r ? r->size : 0};
    array(r ? words : nullptr, 2);
  }
  void structure(const cl_image_desc* d) {
    if (!d) return w_.word(NullWord);
    const uint64_t words[] = {d->image_type, d->image_width, d->image_height, d->image_depth, d->image_array_size,
                              d->image_row_pitch, d->image_slice_pitch, d->num_mip_levels, d->num_samples,
                              to_word(d->mem_object)};
    array(words, std::size(words));
  }
  template <size_t I, size_t A, class N> void in(role::InPlaces<A, N>) {
    const size_t n = count_of<F>(N{}, args_);
    if (!readable(arg<I>(), n, sizeof *arg<I>())) return unreadable(arg<I>());
    w_.word(arg<I>() ? n : NullWord);
    for (size_t i = 0; arg<I>() && i < n; ++i) w_.word(to_word(arg<I>()[i]) - to_word(std::get<A>(args_)));
  }
  template <size_t I, class N> void in(role::HostIn<N>) {
    host(arg<I>(), extent(N{}), C == Contents::Full);
    show(arg<I>(), N{});
  }
  template <size_t I, class N> void in(role::HostOut<N>) { host(arg<I>(), extent(N{}), false); }
  // What an extent follows from comes before its parameter: when that cannot be read, neither is the extent known.
  template <class N> size_t extent(N n) const { return followed_ ? count_of<F>(n, args_) : 0; }
  template <size_t I, class N, size_t Flags> void in(role::HostInit<N, Flags>) {
    const bool asked = std::get<Flags>(args_) & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
    host(arg<I>(), asked && arg<I>() ? extent(N{}) : 0, C == Contents::Full && asked);
    if (asked) show(arg<I>(), N{});
  }
  template <size_t I> void present() { w_.word(arg<I>() != nullptr); }
  template <size_t I> void in(role::ErrcodeRet) { present<I>(); }
  template <size_t I> void in(role::OutScalar) { present<I>(); }
  template <size_t I> void in(role::OutSizeRet) { present<I>(); }
  template <size_t I, class N, size_t R> void in(role::OutArray<N, R>) { present<I>(); }
  template <size_t I, class N, size_t R> void in(role::OutBytes<N, R>) { present<I>(); }
  template <size_t I, ObjectKind K, Effect E> void in(role::OutHandle<K, E>) { present<I>(); }
  template <size_t I, class N, size_t R, ObjectKind K, Effect E> void in(role::OutHandles<N, R, K, E>) {
    present<I>();
  }
  template <size_t I, size_t N, size_t S, size_t R, class... When> void in(role::InfoOut<N, S, R, When...>) {
    present<I>();
  }
  template <size_t I, size_t N, size_t S, class... When> void in(role::InInfo<N, S, When...>) {
    info<When...>(arg<I>(), to_word(std::get<N>(args_)), std::get<S>(args_));
  }
  template <class... When> void info(const void* p, uint64_t name, size_t size) {
    if (!p) return w_.word(InfoNull);
    if (!readable(p, size)) {
      w_.word(InfoUnreadable);
      return w_.word(to_word(p));
    }
    const uint64_t tag = InfoTagOf<When...>::of(name);
    w_.word(tag);
    w_.bytes(p, tag == InfoOpaque ? 0 : size);
  }

  // --- Outputs. `done`: the call succeeded, so what it should have written is there. ---
  // How much of the room for N was filled: parameter R tells, if the program wanted to know.
  template <class N, size_t R> size_t filled(N n) const {
    const size_t room = count_of<F>(n, args_);
    if constexpr (R == role::NoRet) {
      return room;
    } else {
      const auto* ret_ptr = std::get<R>(args_);
      return ret_ptr ? std::min<size_t>(room, *ret_ptr) : room;
    }
  }
  template <size_t I, class Role> void out(Role, bool) {
    static_assert(Role::out == Wire::None, "a role with outputs needs its own overload");
  }
  template <size_t I> void scalar(bool done) { array(done ? arg<I>() : nullptr, 1); }
  template <size_t I> void out(role::ErrcodeRet, bool) { scalar<I>(true); }
  template <size_t I> void out(role::OutScalar, bool done) { scalar<I>(done); }
  template <size_t I> void out(role::OutSizeRet, bool done) { scalar<I>(done); }
  template <size_t I, ObjectKind K, Effect E> void out(role::OutHandle<K, E>, bool done) { scalar<I>(done); }
  template <size_t I, class N, size_t R> void out(role::OutArray<N, R>, bool done) {
    array(done ? arg<I>() : nullptr, done ? filled<N, R>(N{}) : 0);
  }
  template <size_t I, class N, size_t R, ObjectKind K, Effect E> void out(role::OutHandles<N, R, K, E>, bool done) {
    array(done ? arg<I>() : nullptr, done ? filled<N, R>(N{}) : 0);
  }
  template <size_t I, class N, size_t R> void out(role::OutBytes<N, R>, bool done) {
    blob(done ? arg<I>() : nullptr, done ? filled<N, R>(N{}) : 0);
  }
  template <size_t I, class N> void out(role::HostOut<N>, bool done) {
    bool here = done;
    if constexpr (Fn<F>::attributes.blocking >= 0) {
      here = here && std::get<static_cast<size_t>(Fn<F>::attributes.blocking)>(args_);
    }
    if (here) show(arg<I>(), N{});
    if constexpr (C == Contents::Full && requires { w_.keeps_contents(); }) here = here && w_.keeps_contents();
    here = here && C == Contents::Full;
    blob(here ? arg<I>() : nullptr, here ? count_of<F>(N{}, args_) : 0);
  }
  template <size_t I, size_t N, size_t S, size_t R, class... When>
  void out(role::InfoOut<N, S, R, When...>, bool done) {
    info<When...>(done ? arg<I>() : nullptr, to_word(std::get<N>(args_)),
                  done ? filled<role::Count<S>, R>(role::Count<S>{}) : 0);
  }

  // --- Return values ---
  template <class R> void ret(role::Nothing, const R&) {}
  template <class R> void ret(role::Code, const R& r) { w_.word(to_word(r)); }
  template <class R> void ret(role::Address, const R& r) { w_.word(to_word(r)); }
  template <ObjectKind K, class R> void ret(role::NewHandle<K>, const R& r) { w_.word(to_word(r)); }
  template <ObjectKind K, class N, class R> void ret(role::NewMemory<K, N>, const R& r) {
    host(r, r ? count_of<F>(N{}, args_) : 0, false);
  }
  // clang-format on

  Writer& w_;
  const Args& args_;
  bool followed_ = true;  // every pointer so far
};

// Did a call that returned `r` succeed?
template <class R>
constexpr bool succeeded(const R& r) {
  if constexpr (std::is_null_pointer_v<R>)
    return true;  // the function returns nothing
  else if constexpr (std::is_pointer_v<R>)
    return r != nullptr;
  else
    return r == CL_SUCCESS;
}

template <FnId F, Contents C = Contents::None, class Writer, class... A>
inline void encode_inputs(Writer& w, const A&... args) noexcept {
  static_assert(sizeof...(A) == ParamCount<F>);
  const std::tuple<const A&...> all(args...);
  Encoder<F, C, Writer, decltype(all)> encoder(w, all);
  [&]<size_t... I>(std::index_sequence<I...>) { (encoder.template input<I>(), ...); }
  (std::index_sequence_for<A...>{});
}

// The return value comes first. A function that returns nothing: pass nullptr.
template <FnId F, Contents C = Contents::None, class Writer, class Ret, class... A>
inline void encode_outputs(Writer& w, const Ret& r, const A&... args) noexcept {
  static_assert(sizeof...(A) == ParamCount<F>);
  const std::tuple<const A&...> all(args...);
  Encoder<F, C, Writer, decltype(all)> encoder(w, all);
  encoder.result(r);
  [&]<size_t... I>(std::index_sequence<I...>) { (encoder.template output<I>(succeeded(r)), ...); }
  (std::index_sequence_for<A...>{});
}

// Queries whose caller does not ask for the size of the answer leave the end of its buffer as it
// was. To know the size all the same, call the driver with `pass<I>(arg)` in place of each argument
// and encode those. A caller that asks for nothing at all may be refused for that: it stays so.
template <FnId F>
class SizeProbe {
 public:
  template <class... A>
  explicit SizeProbe(const A&... args) noexcept {
    if constexpr (RetIndex != role::NoRet) asked_ = std::get<OutIndex>(std::tie(args...)) != nullptr;
  }
  template <size_t I, class T>
  T pass(T arg) noexcept {
    if constexpr (I == RetIndex) {
      return arg || !asked_ ? arg : reinterpret_cast<T>(&room_);
    } else {
      return arg;
    }
  }

 private:
  template <class Role>
  static constexpr size_t ret_of(Role) {
    return role::NoRet;
  }
  template <class N, size_t R>
  static constexpr size_t ret_of(role::OutArray<N, R>) {
    return R;
  }
  template <class N, size_t R>
  static constexpr size_t ret_of(role::OutBytes<N, R>) {
    return R;
  }
  template <class N, size_t R, ObjectKind K, Effect E>
  static constexpr size_t ret_of(role::OutHandles<N, R, K, E>) {
    return R;
  }
  template <size_t N, size_t S, size_t R, class... When>
  static constexpr size_t ret_of(role::InfoOut<N, S, R, When...>) {
    return R;
  }
  // Of the parameter that takes the answer.
  static constexpr size_t OutIndex = []<size_t... I>(std::index_sequence<I...>) {
    size_t found = role::NoRet;
    ((found = ret_of(ParamRole<F, I>{}) != role::NoRet ? I : found), ...);
    return found;
  }
  (std::make_index_sequence<ParamCount<F>>{});
  static constexpr size_t RetIndex = []<size_t... I>(std::index_sequence<I...>) {
    size_t found = role::NoRet;
    ((found = I == OutIndex ? ret_of(ParamRole<F, I>{}) : found), ...);
    return found;
  }
  (std::make_index_sequence<ParamCount<F>>{});

  bool asked_ = false;
  size_t room_ = 0;
};

}  // namespace gt::api
