// Rebuilds the arguments of one function from its encoded inputs (invoke.h states the rules).
#pragma once

#include "traces/api/encode.h"
#include "traces/api/invoke_context.h"

namespace gt::api {

// Is `words` a property list that a reader leaves exactly at its end?
inline bool well_formed_list(const uint64_t* words, size_t n) {
  PropertyWalk walk;
  for (size_t i = 0; i < n; ++i) {
    if (walk.at_key() && words[i] == 0) return false;
    walk.is_object(words[i]);
  }
  return walk.at_key();
}

template <FnId F>
class Rebuilder {
 public:
  Rebuilder(ByteView in, InvokeContext& context) : in_(in), inputs_(in), context_(context) {}

  Invoked run() {
    each([&]<size_t I>() {
      if (result_ == Invoked::Done) in<I>(ParamRole<F, I>{});
      if (!in_.ok()) refuse(Invoked::Damaged);
    });
    if (result_ == Invoked::Done && !in_.at_end()) refuse(Invoked::Damaged);
    each([&]<size_t I>() {
      if (result_ == Invoked::Done) check<I>(ParamRole<F, I>{});
    });
    return result_;
  }
  Arguments<F>& arguments() { return args_; }

 private:
  template <size_t I>
  using Type = ParamType<F, I>;
  template <size_t I>
  using Element = std::remove_const_t<std::remove_pointer_t<Type<I>>>;

  template <class Visit>
  void each(Visit visit) {
    [&]<size_t... I>(std::index_sequence<I...>) { (visit.template operator()<I>(), ...); }
    (std::make_index_sequence<ParamCount<F>>{});
  }
  void refuse(Invoked why) {
    if (result_ == Invoked::Done) result_ = why;
  }
  template <size_t I>
  Type<I>& arg() {
    return std::get<I>(args_);
  }
  template <class T = uint8_t>
  T* take(size_t n) {
    size_t bytes = 0;
    void* p = __builtin_mul_overflow(n, sizeof(T), &bytes) ? nullptr : context_.arena.take(bytes);
    if (!p) refuse(Invoked::TooLarge);
    return static_cast<T*>(p);
  }
  template <class T>
  static T from_word(uint64_t word) {
    if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<T>(word);
    } else {
      T v;
      std::memcpy(&v, &word, sizeof v);
      return v;
    }
  }
  uint64_t object(ObjectKind kind, uint64_t name) {
    return context_.objects && name != 0 ? context_.objects->object(kind, name) : name;
  }
  ByteView string_bytes(uint64_t length) {
    if (!(length & External)) return in_.bytes(length);
    if (!context_.external || context_.next_external >= context_.external->size()) {
      in_.fail();
      return {};
    }
    return (*context_.external)[context_.next_external++];
  }
  // What the recorded program's pointer led to is not known: there is nothing to call again.
  uint64_t list_count() {
    const uint64_t n = in_.count();
    if (n == UnreadableWord) in_.fail();
    return n;
  }
  // A copy with a NUL behind it; nullptr for NULL.
  char* string(uint64_t* length_out) {
    const uint64_t length = in_.word();
    *length_out = NullWord;
    if (length == UnreadableWord) in_.fail();
    if (!in_.ok() || length == NullWord) return nullptr;
    const size_t at = position();
    const ByteView bytes = string_bytes(length);
    char* copy = in_.ok() ? take<char>(bytes.size() + 1) : nullptr;
    if (!copy) return nullptr;
    if (!bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
    if (!(length & External)) placed(at, copy, bytes.size());
    *length_out = bytes.size();
    return copy;
  }
  template <size_t I, class Convert>
  void array(Convert convert, size_t room = 0) {
    const uint64_t n = list_count();
    counts_[I] = n;
    if (!in_.ok() || n == NullWord) return;
    auto* list = take<Element<I>>(n + room + 1);
    arg<I>() = list;
    for (uint64_t i = 0; list && i < n; ++i) {
      const size_t at = position();
      const uint64_t word = in_.word(), converted = convert(word);
      list[i] = from_word<Element<I>>(converted);
      if (converted == word) placed(at, &list[i], sizeof list[i]);
    }
  }
  size_t position() { return static_cast<size_t>(in_.bytes(0).data() - inputs_.data()); }
  void placed(size_t at, void* place, size_t size) {
    if (context_.placed) context_.placed->push_back({at, place, size});
  }

  // One short overload for each role.
  // clang-format off

  // --- Inputs ---
  template <size_t I> void in(role::Val) { arg<I>() = from_word<Type<I>>(in_.word()); }
  template <size_t I> void in(role::Opaque) { arg<I>() = from_word<Type<I>>(raw()); }
  template <size_t I> void in(role::UserData) { arg<I>() = from_word<Type<I>>(raw()); }
  uint64_t raw() {
    const uint64_t value = in_.word();
    return context_.objects ? context_.objects->raw(value) : value;
  }
  template <size_t I> void in(role::Callback) {
    const uint64_t address = in_.word();
    arg<I>() = from_word<Type<I>>(context_.objects && address ? context_.objects->code(address) : address);
  }
  template <size_t I, ObjectKind K, Effect E> void in(role::Use<K, E>) {
    arg<I>() = from_word<Type<I>>(object(K, in_.word()));
  }
  template <size_t I, ObjectKind K, Effect E> void in(role::Ptr<K, E>) {
    arg<I>() = from_word<Type<I>>(object(K, in_.word()));
  }
  template <size_t I, class N> void in(role::InArray<N>) {
    array<I>([](uint64_t w) { return w; });
  }
  template <size_t I, class N, ObjectKind K, Effect E> void in(role::InHandles<N, K, E>) {
    array<I>([this](uint64_t w) { return object(K, w); });
  }
  template <size_t I, class N, ObjectKind K, Effect E> void in(role::InPointers<N, K, E>) {
    array<I>([this](uint64_t w) { return object(K, w); });
  }
  template <size_t I, class N> void in(role::InBytes<N>) { arg<I>() = string(&counts_[I]); }
  template <size_t I> void in(role::InString) { arg<I>() = string(&counts_[I]); }
  template <size_t I, class N> void in(role::InStrings<N>) { strings<I>(); }
  template <size_t I, class N, size_t L> void in(role::InBlobs<N, L>) { strings<I>(); }
  template <size_t I> void strings() {
    const uint64_t n = list_count();
    counts_[I] = n;
    if (!in_.ok() || n == NullWord) return;
    auto* list = take<const char*>(n + 1);
    lengths_[I] = take<uint64_t>(n + 1);
    if (!list || !lengths_[I]) return;
    for (uint64_t i = 0; i < n && result_ == Invoked::Done; ++i) list[i] = string(&lengths_[I][i]);
    arg<I>() = reinterpret_cast<Type<I>>(list);
  }
  template <size_t I> void in(role::InList) {
    const uint64_t n = list_count();
    if (!in_.ok() || n == NullWord) return;
    auto* words = take<uint64_t>(n + 1);
    auto* list = take<Element<I>>(n + 1);  // ends with a zero
    for (uint64_t i = 0; words && i < n; ++i) words[i] = in_.word();
    if (!words || !list) return;
    if (!well_formed_list(words, n)) return refuse(Invoked::Damaged);
    PropertyWalk walk;
    for (uint64_t i = 0; i < n; ++i)
      list[i] = from_word<Element<I>>(walk.is_object(words[i]) ? object(walk.kind(), words[i]) : words[i]);
    arg<I>() = list;
  }
  template <size_t I, class T, ObjectKind K> void in(role::InStruct<T, K>) {
    const uint64_t n = list_count();
    if (!in_.ok() || n == NullWord) return;
    T* out = take<T>(1);
    if (!out || n != fields(out)) return refuse(Invoked::Damaged);
    fill(out);
    arg<I>() = out;
  }
  static constexpr uint64_t fields(const cl_image_format*) { return 2; }
  static constexpr uint64_t fields(const cl_buffer_region*) { return 2; }
  static constexpr uint64_t fields(const cl_image_desc*) { return 10; }
  void fill(cl_image_format* f) {
    f->image_channel_order = static_cast<cl_channel_order>(in_.word());
    f->image_channel_data_type = static_cast<cl_channel_type>(in_.word());
  }
  void fill(cl_buffer_region* r) {
    r->origin = in_.word();
    r->size = in_.word();
  }
  void fill(cl_image_desc* d) {
    d->image_type = static_cast<cl_mem_object_type>(in_.word());
    for (size_t* field : {&d->image_width, &d->image_height, &d->image_depth, &d->image_array_size,
                          &d->image_row_pitch, &d->image_slice_pitch})
      *field = in_.word();
    d->num_mip_levels = static_cast<cl_uint>(in_.word());
    d->num_samples = static_cast<cl_uint>(in_.word());
    d->mem_object = from_word<cl_mem>(object(ObjectKind::Buffer, in_.word()));
  }
  template <size_t I, size_t A, class N> void in(role::InPlaces<A, N>) {
    auto* base = static_cast<char*>(arg<A>());
    array<I>([&](uint64_t offset) {
      const bool inside = base && counts_[A] >= sizeof(void*) && offset <= counts_[A] - sizeof(void*);
      if (!inside) refuse(Invoked::Damaged);
      return inside ? to_word(base + offset) : 0;
    });
  }
  template <size_t I> void host(bool used = false) {
    const uint64_t address = in_.word();
    const uint64_t length_word = in_.word();
    const bool here = !(length_word & NoContents);
    const ByteView bytes = here ? string_bytes(length_word) : ByteView{};
    counts_[I] = NullWord;
    if (!in_.ok() || address == 0) return;
    if (length_word == MapsMemory) {
      of_map_[I] = address;
      return;
    }
    counts_[I] = here ? bytes.size() : length_word & ~NoContents;
    if (void* const own = used && context_.objects ? context_.objects->memory(address, counts_[I]) : nullptr) {
      arg<I>() = own;
      return;
    }
    auto* copy = take(counts_[I] + 1);
    if (copy && !bytes.empty()) std::memcpy(copy, bytes.data(), bytes.size());
    arg<I>() = copy;
  }
  template <size_t I, class N> void in(role::HostIn<N>) { host<I>(); }
  template <size_t I, class N> void in(role::HostOut<N>) { host<I>(); }
  template <size_t I, class N, size_t Flags> void in(role::HostInit<N, Flags>) {
    host<I>(arg<Flags>() & CL_MEM_USE_HOST_PTR);
  }

  // --- Room for outputs ---
  template <size_t I> void room(size_t bytes) {
    if (in_.word() != 0 && in_.ok()) arg<I>() = reinterpret_cast<Type<I>>(take(std::max<size_t>(bytes, 8)));
  }
  template <size_t I, class N> size_t count() {
    if constexpr (requires(N n) { role_index(n); }) static_assert(role_index(N{}) < I, "the count must come first");
    return count_of<F>(N{}, args_);
  }
  template <size_t C> static constexpr size_t role_index(role::Count<C>) { return C; }
  template <size_t I, class T> void room_for(size_t n) {
    size_t bytes = 0;
    if (__builtin_mul_overflow(n, sizeof(T), &bytes)) return refuse(Invoked::TooLarge);
    room<I>(bytes);
  }
  template <size_t I> void in(role::ErrcodeRet) { room<I>(8); }
  template <size_t I> void in(role::OutScalar) { room<I>(8); }
  template <size_t I> void in(role::OutSizeRet) { room<I>(8); }
  template <size_t I, ObjectKind K, Effect E> void in(role::OutHandle<K, E>) { room<I>(8); }
  template <size_t I, class N, size_t R> void in(role::OutArray<N, R>) { room_for<I, Element<I>>(count<I, N>()); }
  template <size_t I, class N, size_t R, ObjectKind K, Effect E> void in(role::OutHandles<N, R, K, E>) {
    room_for<I, Element<I>>(count<I, N>());
  }
  template <size_t I, class N, size_t R> void in(role::OutBytes<N, R>) { room<I>(count<I, N>()); }
  template <size_t I, size_t N, size_t S, size_t R, class... When> void in(role::InfoOut<N, S, R, When...>) {
    room<I>(count<I, role::Count<S>>());
  }
  template <size_t I, size_t N, size_t S, class... When> void in(role::InInfo<N, S, When...>) {
    const uint64_t tag = in_.word();
    counts_[I] = NullWord;
    if (tag == InfoUnreadable) in_.fail();
    if (!in_.ok() || tag == InfoNull) return;
    auto* bytes = reinterpret_cast<uint8_t*>(string(&counts_[I]));
    if (!bytes) return;
    if (tag >= InfoHandles && counts_[I] % 8 == 0) {
      for (size_t i = 0; i < counts_[I]; i += 8) {
        uint64_t word = 0;
        std::memcpy(&word, bytes + i, 8);
        word = object(static_cast<ObjectKind>(tag - InfoHandles), word);
        std::memcpy(bytes + i, &word, 8);
      }
    }
    arg<I>() = bytes;
  }

  // --- Do lengths and counts agree? ---
  template <size_t I, class Role> void check(Role) {}
  template <size_t I, class N> void same_count() {
    if (arg<I>() && counts_[I] != count_of<F>(N{}, args_)) refuse(Invoked::Damaged);
  }
  template <size_t I, class N> void check(role::InArray<N>) { same_count<I, N>(); }
  template <size_t I, class N, ObjectKind K, Effect E> void check(role::InHandles<N, K, E>) { same_count<I, N>(); }
  template <size_t I, class N, ObjectKind K, Effect E> void check(role::InPointers<N, K, E>) { same_count<I, N>(); }
  template <size_t I, class N> void check(role::InBytes<N>) { same_count<I, N>(); }
  template <size_t I, class N> void check(role::InStrings<N>) { same_count<I, N>(); }
  template <size_t I, size_t A, class N> void check(role::InPlaces<A, N>) { same_count<I, N>(); }
  template <size_t I, size_t N, size_t S, class... When> void check(role::InInfo<N, S, When...>) {
    same_count<I, role::Count<S>>();
  }
  template <size_t I, class N, size_t L> void check(role::InBlobs<N, L>) {
    same_count<I, N>();
    const size_t* lengths = arg<L>();
    if (result_ != Invoked::Done || !arg<I>() || !lengths || counts_[L] != counts_[I]) return;
    for (size_t i = 0; i < counts_[I]; ++i)
      if (lengths[i] != 0 && lengths_[I][i] != NullWord && lengths[i] > lengths_[I][i]) refuse(Invoked::Damaged);
  }
  // Memory for a transfer whose extent is nothing or not known is never touched: the driver gets NULL.
  template <size_t I, class N> void enough() {
    if (of_map_[I] != 0) return ask_map<I>(box_of<F>(N{}, args_));
    if (!arg<I>()) return;
    const size_t needed = count_of<F>(N{}, args_);
    if (needed > counts_[I]) return refuse(Invoked::Damaged);
    if (needed == 0 && std::is_same_v<N, role::Extent>) arg<I>() = nullptr;
  }
  template <size_t I> void ask_map(const HostBox& box) {
    void* const memory = context_.objects ? context_.objects->host(of_map_[I], box) : nullptr;
    if (!memory) return refuse(Invoked::TooLarge);
    arg<I>() = memory;
  }
  template <size_t I, class N> void check(role::HostIn<N>) { enough<I, N>(); }
  template <size_t I, class N> void check(role::HostOut<N>) { enough<I, N>(); }
  template <size_t I, class N, size_t Flags> void check(role::HostInit<N, Flags>) {
    const bool asked = arg<Flags>() & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
    if (asked) return enough<I, N>();
    if (of_map_[I] != 0) ask_map<I>({});  // a pointer that the driver has to refuse
  }
  // clang-format on

  WordReader in_;
  const ByteView inputs_;
  InvokeContext& context_;
  Arguments<F> args_{};
  std::array<uint64_t, ParamCount<F> + 1> counts_{};
  std::array<uint64_t*, ParamCount<F> + 1> lengths_{};
  std::array<uint64_t, ParamCount<F> + 1> of_map_{};  // addresses of memory that the map gives
  Invoked result_ = Invoked::Done;
};

}  // namespace gt::api
