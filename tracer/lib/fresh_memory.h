// How much of the memory that a large transfer moves from or to the program has no page yet: nobody has touched it, and
// its pages are made while the driver copies, at 1 to 2.5 us each, which is slower than any link.
//
// The kernel is asked (mincore) for a few stretches of the memory, when the call begins; a Fresh record tells the
// collector, within the call. Of calls that move LeastBytes or more in one piece: reads and writes of buffers.
// Huge pages make no difference: what is there counts, not what it is made of. Mapped files count as touched when the
// system has their contents.
// Thread safety: any thread. Cost: two to eight system calls of 64 pages each, 0.5 to 2 us a call (overhead.fresh_ns).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>

#include "tracer/lib/recorder.h"
#include "traces/api/encode.h"

namespace gt::tracer {

constexpr size_t LeastFreshBytes = 1 << 20;

// Bytes of [p, p + size) without a page; nothing where the kernel does not tell. REQUIRES: size >= LeastFreshBytes.
// Errors are not seen by the program: errno stays.
std::optional<uint64_t> fresh_bytes(const void* p, size_t size) noexcept;

namespace detail {

template <class R>
struct WholePiece {
  static constexpr bool value = false;
};
template <size_t I>
struct WholePiece<api::role::HostIn<api::role::Count<I>>> {
  static constexpr bool value = true;
  static constexpr size_t Size = I;
};
template <size_t I>
struct WholePiece<api::role::HostOut<api::role::Count<I>>> {
  static constexpr bool value = true;
  static constexpr size_t Size = I;
};

// The parameter of F that is one; -1: none.
template <api::FnId F>
constexpr int whole_piece() {
  return []<size_t... I>(std::index_sequence<I...>) {
    int found = -1;
    ((found = WholePiece<api::ParamRole<F, I>>::value ? static_cast<int>(I) : found), ...);
    return found;
  }
  (std::make_index_sequence<api::ParamCount<F>>{});
}

void record_fresh(uint16_t fn, const void* p, size_t size) noexcept;

}  // namespace detail

// REQUIRES: the Enter record of the call is written.
template <api::FnId F, class... A>
void note_fresh(const A&... args) {
  if constexpr (constexpr int P = detail::whole_piece<F>(); P >= 0) {
    const std::tuple<const A&...> all(args...);
    const size_t size = std::get<detail::WholePiece<api::ParamRole<F, static_cast<size_t>(P)>>::Size>(all);
    if (__builtin_expect(size >= LeastFreshBytes, 0))
      detail::record_fresh(api::number(F), std::get<static_cast<size_t>(P)>(all), size);
  }
}

}  // namespace gt::tracer
