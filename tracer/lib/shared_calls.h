// The calls that make, give back, use and wait for memory which host and devices share (shared_memory.h), and those
// that read without waiting (pending_reads.h): told apart by their roles.
// Thread safety: any thread. Cost: one comparison for each of these calls when contents are not kept.
#pragma once

#include <tuple>

#include "tracer/lib/contents.h"
#include "tracer/lib/device_contents.h"
#include "tracer/lib/pending_reads.h"
#include "tracer/lib/queue_states.h"
#include "tracer/lib/shared_memory.h"

namespace gt::tracer {

namespace detail {

// Memory that a parameter names: to be used in place, or given back.
template <class R>
struct SharedRole {
  static constexpr bool in_place = false, gives_back = false, give_back = false, data_out = false;
};
template <class N, size_t Flags>
struct SharedRole<api::role::HostInit<N, Flags>> : SharedRole<void> {
  static constexpr bool in_place = true;
  template <api::FnId F, class Args>
  static bool used(const Args& args) {
    return std::get<Flags>(args) & CL_MEM_USE_HOST_PTR;
  }
  template <api::FnId F, class Args>
  static size_t size(const Args& args) {
    return api::count_of<F>(N{}, args);
  }
};
template <class N>
struct SharedRole<api::role::HostOut<N>> : SharedRole<void> {
  static constexpr bool data_out = true;
  template <api::FnId F, class Args>
  static api::HostBox box(const Args& args) {
    return api::box_of<F>(N{}, args);
  }
};
template <>
struct SharedRole<api::role::Ptr<api::ObjectKind::Svm, api::Effect::Release>> : SharedRole<void> {
  static constexpr bool gives_back = true;
};
template <class N>
struct SharedRole<api::role::InPointers<N, api::ObjectKind::Svm, api::Effect::Release>> : SharedRole<void> {
  static constexpr bool give_back = true;
  template <api::FnId F, class Args>
  static size_t count(const Args& args) {
    return api::count_of<F>(N{}, args);
  }
};

// Calls visit(SharedRole, value) for each parameter.
template <api::FnId F, class Args, class Visit>
void each_shared_role(const Args& args, Visit visit) {
  [&]<size_t... I>(std::index_sequence<I...>) {
    (visit(SharedRole<api::ParamRole<F, I>>{}, std::get<I>(args)), ...);
  }
  (std::make_index_sequence<api::ParamCount<F>>{});
}

// May the host write this allocation while it is not mapped?
template <api::FnId F, class Args>
bool host_writes(const Args& args) {
  using api::FnId;
  if constexpr (F == FnId::clSVMAlloc || F == FnId::clSVMAllocARM) {
    return std::get<1>(args) & CL_MEM_SVM_FINE_GRAIN_BUFFER;
  } else {
    return api::Fn<F>::attributes.on_host || F == FnId::clSharedMemAllocINTEL;
  }
}

// Of a call that has not waited.
template <api::FnId F, class R, class Args>
void note_reads([[maybe_unused]] R result, cl_event event, const Args& args) {
  using Of = Captured<F>;
  const cl_command_queue queue = std::get<0>(args);
  if constexpr (Of::maps) {
    const void* p = nullptr;
    if constexpr (Of::mapped >= 0) {
      p = std::get<static_cast<size_t>(Of::mapped)>(args);
    } else {
      p = result;
    }
    if (std::get<static_cast<size_t>(api::Fn<F>::attributes.flags)>(args) & CL_MAP_READ)
      note_read(api::number(F), queue, event, p, mapping_of<F>(args).box);
  } else if constexpr (Of::pointers) {
    const void* to = std::get<static_cast<size_t>(Of::to)>(args);
    const size_t size = std::get<static_cast<size_t>(api::Fn<F>::attributes.size)>(args);
    if (!maybe_svm(to)) note_read(api::number(F), queue, event, to, {0, size});
  } else {
    each_shared_role<F>(args, [&]([[maybe_unused]] auto role, [[maybe_unused]] const auto& value) {
      using Role = decltype(role);
      if constexpr (Role::data_out) note_read(api::number(F), queue, event, value, Role::template box<F>(args));
    });
  }
}

}  // namespace detail

// REQUIRES: the Enter record of the call is written.
template <api::FnId F, class... A>
void share_before([[maybe_unused]] const A&... args) {
  if (!keeping_contents()) return;
  constexpr api::Attributes Of = api::Fn<F>::attributes;
  const std::tuple<const A&...> all(args...);
  if constexpr (detail::enqueues<F, A...>() || F == api::FnId::clFinish) t_reads_begun = reads_so_far();
  if constexpr (detail::enqueues<F, A...>()) {
    if (any_shared()) {
      if (capturing() && (Of.launch || Of.direction == api::DirectionRule::Pointers)) record_shared(api::number(F));
      t_notes_begun = note_enqueuing(std::get<0>(all));
    }
  } else if constexpr (Of.replays >= 0) {
    note_unseen();
  } else if constexpr (F == api::FnId::clFinish) {
    t_notes_begun = note_finishing(std::get<0>(all));
  }
  detail::each_shared_role<F>(all, [&]([[maybe_unused]] auto role, [[maybe_unused]] const auto& value) {
    using Role = decltype(role);
    if constexpr (Role::gives_back) {
      forget_shared(value);
      forget_allocation(value);
      forget_svm(value);
    } else if constexpr (Role::give_back) {
      const size_t count = Role::template count<F>(all);
      if (!value || count == 0 || !readable(value, count * sizeof *value)) return;
      for (size_t i = 0; i < count; ++i) {
        forget_shared(value[i]);
        forget_allocation(value[i]);
        forget_svm(value[i]);
      }
    }
  });
}

// REQUIRES: the call has returned `result`.
template <api::FnId F, class R, class... A>
void share_after([[maybe_unused]] R result, [[maybe_unused]] const A&... args) {
  if (!keeping_contents() || !api::succeeded(result)) return;
  constexpr api::Attributes Of = api::Fn<F>::attributes;
  const std::tuple<const A&...> all(args...);
  if constexpr (detail::Captured<F>::Made::svm) {
    if (detail::host_writes<F>(all))
      note_shared(result, detail::Captured<F>::Made::template size<F>(all), nullptr);
  } else if constexpr (Of.retains == api::ObjectKind::Buffer || Of.releases == api::ObjectKind::Buffer) {
    if (any_shared()) count_owners(std::get<0>(all), Of.retains == api::ObjectKind::Buffer ? 1 : -1);
  } else if constexpr (F == api::FnId::clFinish) {
    note_finished(std::get<0>(all), t_notes_begun);
    record_reads_of(api::number(F), std::get<0>(all), false, t_reads_begun);
  } else if constexpr (F == api::FnId::clWaitForEvents) {
    note_waited(std::get<1>(all), std::get<0>(all));
    record_reads_with(api::number(F), std::get<1>(all), std::get<0>(all));
  } else if constexpr (detail::enqueues<F, A...>()) {
    cl_event event = nullptr;
    const auto look = [&event](const auto& arg) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(arg)>, cl_event*>) event = arg ? *arg : nullptr;
    };
    (look(args), ...);
    const bool waited = detail::waits_for_data<F>(all);
    if (any_shared()) note_enqueued(std::get<0>(all), t_notes_begun, event, waited);
    if (waited) {
      record_reads_of(api::number(F), std::get<0>(all), true, t_reads_begun);
    } else if (capturing()) {
      detail::note_reads<F>(result, event, all);
    }
  }
  if constexpr (std::is_same_v<R, cl_mem>) {
    detail::each_shared_role<F>(all, [&]([[maybe_unused]] auto role, [[maybe_unused]] const auto& value) {
      using Role = decltype(role);
      if constexpr (Role::in_place) {
        if (Role::template used<F>(all)) note_shared(value, Role::template size<F>(all), result);
      }
    });
  }
}

}  // namespace gt::tracer
