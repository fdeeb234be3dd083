// --capture: what transfers move, as numbers that are equal when the bytes are.
//
//   clEnqueueWriteBuffer(q, b, CL_FALSE, 0, 4096, p, ...) = CL_SUCCESS   hash of the 4096 bytes at p, before the call
//   clEnqueueReadBuffer(q, b, CL_TRUE, 0, 4096, p, ...) = CL_SUCCESS     the same, after it
//   clEnqueueMapBuffer(q, b, CL_TRUE, CL_MAP_READ, 0, 4096, ...) = p     the same
//   clEnqueueUnmapMemObject(q, b, p, ...)    of what was mapped for writing: what the program left there, before it
//
// Each call that moves data from or to the program's memory leaves one Content record behind its Enter record: a hash,
// the number of bytes, and how long that took; 0 bytes when they are not to be had: the call does not wait for its
// data, it failed, the memory cannot be read, or it is OpenCL's own, which only a map call makes readable.
// Thread safety: any thread; no lock. Cost: one comparison for each such call when off; else docs/gtrace.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tracer/lib/capture_choice.h"
#include "tracer/lib/content_sender.h"
#include "tracer/lib/mappings.h"
#include "tracer/lib/readable.h"
#include "tracer/lib/recorder.h"
#include "traces/api/encode.h"

namespace gt::tracer {

// Of the bytes in the box behind `p`, row by row: how they lie makes no difference. Reads nothing that it may not.
Content content_of(const void* p, const api::HostBox& box) noexcept;
// The same; with --capture full the bytes go to the collector as well. REQUIRES: the thread records a call.
Content take_content(const void* p, const api::HostBox& box) noexcept;

// Memory of OpenCL's own, until it is given back. Once the table was full, every place is taken for such.
void note_svm(const void* p, size_t size) noexcept;
void forget_svm(const void* p) noexcept;
bool maybe_svm(const void* p) noexcept;

// An image that was just made. What its elements are is asked of its driver; a handle that is none of an image's
// driver is not followed.
void note_image(cl_mem image) noexcept;
api::ImageElements elements_of(cl_mem image) noexcept;

namespace detail {

// A writer of encode.h that only looks at the data.
class ContentFinder {
 public:
  void word(uint64_t) {}
  void bytes(const void*, size_t) {}
  bool readable(const void* p, size_t size) const { return tracer::readable(p, size); }
  void data(const void* p, const api::HostBox& box) {
    content = take_content(p, box);
    found = true;
  }

  Content content;
  bool found = false;
};

template <class R>
struct RoleTraits {
  static constexpr bool data_in = false, data_out = false, from = false, to = false, svm = false, mapping = false;
};
template <class N>
struct RoleTraits<api::role::HostIn<N>> : RoleTraits<void> {
  static constexpr bool data_in = true;
};
template <class N, size_t Flags>
struct RoleTraits<api::role::HostInit<N, Flags>> : RoleTraits<void> {
  static constexpr bool data_in = true;
};
template <class N>
struct RoleTraits<api::role::HostOut<N>> : RoleTraits<void> {
  static constexpr bool data_out = true;
};
template <>
struct RoleTraits<api::role::Ptr<api::ObjectKind::Svm, api::Effect::Use>> : RoleTraits<void> {
  static constexpr bool from = true;
};
template <>
struct RoleTraits<api::role::Ptr<api::ObjectKind::Svm, api::Effect::UseDef>> : RoleTraits<void> {
  static constexpr bool to = true;
};
template <>
struct RoleTraits<api::role::Ptr<api::ObjectKind::Mapping, api::Effect::Release>> : RoleTraits<void> {
  static constexpr bool mapping = true;
};
template <class N>
struct RoleTraits<api::role::NewMemory<api::ObjectKind::Svm, N>> : RoleTraits<void> {
  static constexpr bool svm = true;
  template <api::FnId F, class Args>
  static size_t size(const Args& args) {
    return api::count_of<F>(N{}, args);
  }
};

// The parameter of F whose role has a trait; -1: none.
template <api::FnId F, class Pick>
constexpr int param_with(Pick pick) {
  return [&]<size_t... I>(std::index_sequence<I...>) {
    int found = -1;
    ((found = pick(RoleTraits<api::ParamRole<F, I>>{}) ? static_cast<int>(I) : found), ...);
    return found;
  }
  (std::make_index_sequence<api::ParamCount<F>>{});
}

template <api::FnId F>
struct Captured {
  static constexpr bool pointers = api::Fn<F>::attributes.direction == api::DirectionRule::Pointers;
  static constexpr bool before = param_with<F>([](auto t) { return t.data_in; }) >= 0;
  static constexpr bool after = param_with<F>([](auto t) { return t.data_out; }) >= 0;
  static constexpr int from = pointers ? param_with<F>([](auto t) { return t.from; }) : -1;
  static constexpr int to = pointers ? param_with<F>([](auto t) { return t.to; }) : -1;
  static constexpr bool maps = api::Fn<F>::attributes.direction == api::DirectionRule::Map;
  static constexpr bool unmaps = api::Fn<F>::attributes.direction == api::DirectionRule::Unmap;
  // The pointer that is mapped or unmapped; -1: it is what the call returns.
  static constexpr int mapped = maps || unmaps ? param_with<F>([](auto t) { return t.mapping || t.to; }) : -1;
  using Made = RoleTraits<typename api::Fn<F>::ResultRole>;
  static constexpr bool makes_image = api::Fn<F>::attributes.creates == api::ObjectKind::Image;
  static constexpr bool makes_svm = Made::svm && !api::Fn<F>::attributes.on_host;
};

inline void record_content(api::FnId fn, const Content& content, uint64_t began) {
  const uint64_t now = ticks();
  record(RecordType::Content, api::number(fn), now, content.hash, content.bytes, now - began);
}

template <api::FnId F, class Args>
bool waits_for_data(const Args& args) {
  constexpr int Blocking = api::Fn<F>::attributes.blocking;
  if constexpr (Blocking >= 0) return std::get<static_cast<size_t>(Blocking)>(args);
  return false;
}

// Where a map call has mapped what. REQUIRES: it succeeded.
template <api::FnId F, class Args>
Mapping mapping_of(const Args& args) {
  constexpr api::Attributes Of = api::Fn<F>::attributes;
  const cl_map_flags flags = std::get<static_cast<size_t>(Of.flags)>(args);
  const bool written = flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION);
  if constexpr (Of.region >= 0) {
    return {api::BoxOf<F>::of(args), written};
  } else {
    return {{0, std::get<static_cast<size_t>(Of.size)>(args)}, written};
  }
}

template <api::FnId F, class R, class Args>
void capture_map(R result, const Args& args) {
  const uint64_t began = ticks();
  const void* p = nullptr;
  if constexpr (Captured<F>::mapped >= 0) {
    p = std::get<static_cast<size_t>(Captured<F>::mapped)>(args);
  } else {
    p = result;
  }
  const bool done = api::succeeded(result);
  const Mapping mapping = done ? mapping_of<F>(args) : Mapping{};
  if (done) note_mapping(p, mapping);
  if (!capturing() || !(std::get<static_cast<size_t>(api::Fn<F>::attributes.flags)>(args) & CL_MAP_READ)) return;
  const bool here = done && waits_for_data<F>(args);
  record_content(F, here ? take_content(p, mapping.box) : Content{}, began);
}

template <api::FnId F, class Args>
void capture_unmap(const Args& args) {
  const uint64_t began = ticks();
  const void* p = std::get<static_cast<size_t>(Captured<F>::mapped)>(args);
  Mapping mapping;
  const bool known = take_mapping(p, mapping);
  if (!capturing() || (known && !mapping.written)) return;
  record_content(F, known ? take_content(p, mapping.box) : Content{}, began);
}

}  // namespace detail

// REQUIRES: the Enter record of the call is written.
template <api::FnId F, class... A>
void capture_before(const A&... args) {
  using Of = detail::Captured<F>;
  if constexpr (Of::before) {
    if (!capturing()) return;
    const uint64_t began = ticks();
    detail::ContentFinder finder;
    api::encode_inputs<F>(finder, args...);
    if (finder.found) detail::record_content(F, finder.content, began);
  } else if constexpr (Of::pointers) {
    if (!capturing()) return;
    const uint64_t began = ticks();
    const std::tuple<const A&...> all(args...);
    const void* from = std::get<static_cast<size_t>(Of::from)>(all);
    if (maybe_svm(from)) return;
    const size_t size = std::get<static_cast<size_t>(api::Fn<F>::attributes.size)>(all);
    detail::record_content(F, take_content(from, {0, size}), began);
  } else if constexpr (Of::unmaps) {
    if (capture_on()) detail::capture_unmap<F>(std::tuple<const A&...>(args...));
  }
}

// REQUIRES: the call has returned `result`, and its Exit record is still to be written.
template <api::FnId F, class R, class... A>
void capture_after(R result, const A&... args) {
  using Of = detail::Captured<F>;
  if constexpr (Of::makes_svm) {
    const std::tuple<const A&...> all(args...);
    if (capture_on() && result) note_svm(result, Of::Made::template size<F>(all));
  } else if constexpr (Of::makes_image) {
    if (capture_on() && result) note_image(result);
  } else if constexpr (Of::maps) {
    if (capture_on()) detail::capture_map<F>(result, std::tuple<const A&...>(args...));
  } else if constexpr (Of::after) {
    if (!capturing()) return;
    const uint64_t began = ticks();
    detail::ContentFinder finder;
    api::encode_outputs<F>(finder, result, args...);
    detail::record_content(F, finder.content, began);
  } else if constexpr (Of::pointers) {
    if (!capturing()) return;
    const uint64_t began = ticks();
    const std::tuple<const A&...> all(args...);
    if (!maybe_svm(std::get<static_cast<size_t>(Of::from)>(all))) return;  // was captured before the call
    const void* to = std::get<static_cast<size_t>(Of::to)>(all);
    const size_t size = std::get<static_cast<size_t>(api::Fn<F>::attributes.size)>(all);
    const bool here = api::succeeded(result) && detail::waits_for_data<F>(all) && !maybe_svm(to);
    detail::record_content(F, here ? take_content(to, {0, size}) : Content{}, began);
  }
}

}  // namespace gt::tracer
