#include "tracer/lib/mutable_update.h"

#include <cstring>

#include "tracer/lib/readable.h"
#include "traces/api/later_forms.h"

namespace gt::tracer {

namespace {

// All elements of a list, or none.
template <class T, class Visit>
void each(const T* list, cl_uint count, Visit visit) {
  constexpr cl_uint Most = 4096;
  if (!list || count == 0 || count > Most || !readable(list, count * sizeof(T))) return;
  for (cl_uint i = 0; i < count; ++i) visit(list[i]);
}

// A value of at most a word; 0 for local memory and larger ones.
uint64_t value_of(const MutableArg& arg) {
  uint64_t value = 0;
  if (arg.value && arg.size != 0 && arg.size <= sizeof value && readable(arg.value, arg.size))
    std::memcpy(&value, arg.value, arg.size);
  return value;
}

void record_dispatch(uint16_t fn, const LaterMutableDispatch& dispatch) {
  const auto tell = [&](const MutableArg& arg, CommandArgKind kind, uint64_t value) {
    const auto command = reinterpret_cast<uint64_t>(dispatch.command);
    record(RecordType::CommandArg, fn, ticks(), command, kind, arg.index, arg.size, value);
  };
  each(dispatch.arg_list, dispatch.args,
       [&](const MutableArg& arg) { tell(arg, CommandArgKind::Value, value_of(arg)); });
  each(dispatch.svm_list, dispatch.svm_args, [&](const MutableArg& arg) {
    tell(arg, CommandArgKind::Pointer, reinterpret_cast<uint64_t>(arg.value));
  });
}

void record_list(uint16_t fn, const UpdateList& list) {
  const cl_uint* type = list.types;
  const bool typed = type && readable(type, list.count * sizeof *type);
  each(list.configs, typed ? list.count : 0, [&](const void* config) {
    if (*type++ != api::LaterDispatchConfig || !config || !readable(config, sizeof(LaterMutableDispatch))) return;
    record_dispatch(fn, *static_cast<const LaterMutableDispatch*>(config));
  });
}

}  // namespace

__thread const UpdateList* t_update_list __attribute__((tls_model("initial-exec"))) = nullptr;

void record_update(uint16_t fn, const void* config) {
  if (config && config == t_update_list) return record_list(fn, *t_update_list);
  const auto* all = static_cast<const MutableConfig*>(config);
  if (!all || !readable(all, sizeof *all)) return;
  each(all->list, all->dispatches, [fn](const MutableDispatch& dispatch) { record_dispatch(fn, dispatch.of); });
}

}  // namespace gt::tracer
