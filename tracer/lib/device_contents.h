// --capture-kernel, --capture-range, --capture-results: what the device holds before and after the calls that were
// chosen (capture_choice.h), between their records.
//
//   Enter clEnqueueNDRangeKernel, SharedContent(Chosen), SharedContent(b0, Object), ... the call ...
//   SharedContent(b0, WrittenObject), ... Exit
//
// Before a call: each memory object that it names, its kernel has or its command buffer's commands use, and each
// allocation, if no chosen call before it had it. After a launch: all that its kernel may have written.
// Thread safety: any thread. Cost: a comparison for each call where nothing of the kind is wanted.
#pragma once

#include <tuple>

#include "tracer/lib/bound_kernels.h"
#include "tracer/lib/capture_choice.h"
#include "tracer/lib/contents.h"
#include "tracer/lib/read_back.h"
#include "tracer/lib/recorded_commands.h"

namespace gt::tracer {

inline bool follows_kernels() { return keeping_contents() && (chooses() || spool()->choice.results != 0); }

// What the kernel of the call may have written, when `event` is over, which is the call's.
void record_written(uint16_t fn, cl_command_queue queue, cl_kernel kernel, cl_event event) noexcept;

namespace detail {

template <api::FnId F, class First = void, class... A>
constexpr bool enqueues() {
  constexpr api::Attributes a = api::Fn<F>::attributes;
  return std::is_same_v<First, cl_command_queue> && (a.launch || a.transfer != api::Transfer::None) && !a.records;
}

constexpr bool counted(api::ObjectKind kind) {
  return kind == api::ObjectKind::Buffer || kind == api::ObjectKind::Kernel || kind == api::ObjectKind::CommandBuffer;
}

// Of a call that is about to be made.
class Before {
 public:
  Before(uint16_t fn, const ReadPlace& place) : fn_(fn), place_(place) {}
  void object(LiveObject& object) noexcept;
  void memory(LiveAllocation& memory) noexcept;
  void kernel(cl_kernel kernel) noexcept;
  void commands(_cl_command_buffer_khr* buffer) noexcept;

 private:
  uint16_t fn_;
  ReadPlace place_;
};

// The wait list of a command, or none.
template <class Args, size_t... I>
void find_events(const Args& args, ReadPlace& place, std::index_sequence<I...>) {
  const auto look = [&]<size_t K>() {
    if constexpr (K > 0 && std::is_same_v<std::tuple_element_t<K, Args>, const cl_event*>) {
      if constexpr (std::is_same_v<std::tuple_element_t<K - 1, Args>, cl_uint>) {
        place.events = std::get<K>(args);
        place.count = place.events ? std::get<K - 1>(args) : 0;
      }
    }
  };
  (look.template operator()<I>(), ...);
}

template <api::FnId F, class Args>
void look_before(const Args& args) {
  using Of = Captured<F>;
  ReadPlace place{std::get<0>(args), 0, nullptr};
  find_events(args, place, std::make_index_sequence<std::tuple_size_v<Args>>{});
  Before before(api::number(F), place);
  [&]<size_t... I>(std::index_sequence<I...>) {
    const auto look = [&]<size_t K>() {
      using T = std::tuple_element_t<K, Args>;
      using Role = RoleTraits<api::ParamRole<F, K>>;
      if constexpr (std::is_same_v<T, cl_mem>) {
        if (LiveObject* const object = live_object(std::get<K>(args))) before.object(*object);
      } else if constexpr (std::is_same_v<T, cl_kernel>) {
        before.kernel(std::get<K>(args));
      } else if constexpr (std::is_pointer_v<T> && (Role::from || Role::to) && !Of::unmaps) {
        if (LiveAllocation* const memory = live_allocation(std::get<K>(args))) before.memory(*memory);
      }
    };
    (look.template operator()<I>(), ...);
  }
  (std::make_index_sequence<std::tuple_size_v<Args>>{});
}

// A run of a command buffer: in the queue that it names, or its own.
template <api::FnId F, class Args>
void look_before_run(const Args& args) {
  _cl_command_buffer_khr* const buffer = std::get<static_cast<size_t>(api::Fn<F>::attributes.replays)>(args);
  const auto [count, queues] = std::pair(std::get<0>(args), std::get<1>(args));
  ReadPlace place{count > 0 && queues ? queues[0] : queue_of(buffer), 0, nullptr};
  find_events(args, place, std::make_index_sequence<std::tuple_size_v<Args>>{});
  Before(api::number(F), place).commands(buffer);
}

// What a command uses that is being recorded.
template <api::FnId F, class Args>
void note_recorded(const Args& args) {
  _cl_command_buffer_khr* const buffer = std::get<0>(args);
  [&]<size_t... I>(std::index_sequence<I...>) {
    const auto look = [&]<size_t K>() {
      using T = std::tuple_element_t<K, Args>;
      using Role = RoleTraits<api::ParamRole<F, K>>;
      if constexpr (std::is_same_v<T, cl_mem>) {
        record_object(buffer, std::get<K>(args));
      } else if constexpr (std::is_same_v<T, cl_kernel>) {
        record_kernel(buffer, std::get<K>(args));
      } else if constexpr (std::is_pointer_v<T> && (Role::from || Role::to)) {
        record_pointer(buffer, std::get<K>(args));
      }
    };
    (look.template operator()<I>(), ...);
  }
  (std::make_index_sequence<std::tuple_size_v<Args>>{});
}

template <api::FnId F, class Args>
void note_binding(const Args& args) {
  constexpr auto Index = static_cast<size_t>(api::Fn<F>::attributes.kernel_index);
  constexpr auto Value = static_cast<size_t>(api::Fn<F>::attributes.kernel_value);
  const cl_kernel kernel = std::get<0>(args);
  const cl_uint index = std::get<Index>(args);
  const auto value = std::get<Value>(args);
  if constexpr (!std::is_pointer_v<std::remove_const_t<decltype(value)>>) {
    bind_pointer(kernel, index, nullptr);  // a device's address: which buffer it is in is not known here
  } else if constexpr (Value == Index + 1) {
    bind_pointer(kernel, index, value);
  } else {
    uint64_t word = 0;
    if (std::get<Value - 1>(args) == sizeof word && value && readable(value, sizeof word))
      std::memcpy(&word, value, sizeof word);
    bind_word(kernel, index, word);
  }
}

}  // namespace detail

// REQUIRES: the Enter record of the call is written.
template <api::FnId F, class... A>
void choose_before(const Ring& ring, [[maybe_unused]] const A&... args) {
  if (!follows_kernels()) return;
  constexpr api::Attributes Of = api::Fn<F>::attributes;
  const std::tuple<A...> all(args...);
  if constexpr (detail::counted(Of.releases))
    count_references(std::get<0>(all), -1);  // its handle may be another's before the call has returned
  if (chooses()) {
    cl_kernel kernel = nullptr;
    if constexpr (Of.launch && detail::enqueues<F, A...>()) kernel = std::get<1>(all);
    choose(ring, api::number(F), kernel, detail::enqueues<F, A...>() || Of.replays >= 0);
    if constexpr (Of.replays >= 0) {
      if (t_choice.chosen) detail::look_before_run<F>(all);
    } else if constexpr (detail::enqueues<F, A...>() && !detail::Captured<F>::unmaps) {
      if (t_choice.chosen) detail::look_before<F>(all);
    }
  }
}

// REQUIRES: the call has returned `result`.
template <api::FnId F, class R, class... A>
void follow_after([[maybe_unused]] R result, [[maybe_unused]] const A&... args) {
  if (!follows_kernels() || !api::succeeded(result)) return;
  constexpr api::Attributes Of = api::Fn<F>::attributes;
  const std::tuple<A...> all(args...);
  if constexpr (Of.kernel_value >= 0) {
    detail::note_binding<F>(all);
  } else if constexpr (std::is_same_v<R, cl_mem>) {
    if (result) note_object(result, Of.creates);
  } else if constexpr (detail::Captured<F>::Made::svm) {
    constexpr bool Usm = F != api::FnId::clSVMAlloc && F != api::FnId::clSVMAllocARM &&
                         F != api::FnId::clSVMAllocWithPropertiesKHR;
    if (result) note_allocation(result, detail::Captured<F>::Made::template size<F>(all), Usm);
  } else if constexpr (F == api::FnId::clCloneKernel) {
    copy_kernel(std::get<0>(all), result);
  } else if constexpr (std::is_same_v<R, cl_kernel>) {
    note_kernel(result);
  } else if constexpr (F == api::FnId::clCreateCommandBufferKHR) {
    note_command_buffer(result, std::get<1>(all), std::get<0>(all));
  } else if constexpr (Of.records) {
    detail::note_recorded<F>(all);
  } else if constexpr (Of.updates >= 0) {
    forget_whole(std::get<0>(all));
  } else if constexpr (detail::counted(Of.retains)) {
    count_references(std::get<0>(all), 1);
  } else if constexpr (F == api::FnId::clCreateUserEvent) {
    count_user_events(1);
  } else if constexpr (F == api::FnId::clSetUserEventStatus) {
    count_user_events(-1);
  }
}

}  // namespace gt::tracer
