#include "tracer/lib/mutable_update.h"

#include <cstring>

#include "tracer/lib/readable.h"
#include "tracer/lib/ring_writer.h"
#include "traces/api/later_forms.h"

namespace gt::tracer {

using api::DispatchUpdate;
using api::UpdateArg;
using api::UpdatePart;

namespace {

constexpr uint64_t NotRead = ~uint64_t{0};

template <class T>
bool may_read(const T* list, cl_uint count) {
  constexpr cl_uint Most = 4096;
  return count == 0 || (list && count <= Most && readable(list, count * sizeof(T)));
}

// What may not be read: false, and nothing is visited.
template <class T, class Visit>
bool each(const T* list, cl_uint count, Visit visit) {
  if (!may_read(list, count)) return false;
  for (cl_uint i = 0; i < count; ++i) visit(list[i]);
  return true;
}

// The words of a record, but for the command's.
struct Told {
  CommandArgKind kind;
  UpdatePart part;
  uint64_t index, size;
  CommandArgForm form;
  uint64_t value;
};

// Of one command.
class Recorded {
 public:
  Recorded(uint16_t fn, const DispatchUpdate& dispatch)
      : fn_(fn), command_(reinterpret_cast<uint64_t>(dispatch.command)) {
    tell({CommandArgKind::Command, {}, dispatch.work_dim, 0, CommandArgForm::None, 0});
  }

  void word(UpdatePart part, uint64_t index, uint64_t size, uint64_t value) {
    tell({CommandArgKind::Change, part, index, size, CommandArgForm::Word, value});
  }
  void address(UpdatePart part, uint64_t index, uint64_t size, const void* at) {
    tell({CommandArgKind::Change, part, index, size, CommandArgForm::Address, reinterpret_cast<uint64_t>(at)});
  }
  void unread() { tell({CommandArgKind::Change, UpdatePart::Unread, 0, 0, CommandArgForm::None, 0}); }

  // As many bytes as there are at `at`.
  void value(UpdatePart part, uint64_t index, uint64_t size, const void* at) {
    if (size > InlineBytes || !readable(at, size)) return unread();
    uint64_t first = 0;
    std::memcpy(&first, at, std::min(size, sizeof first));
    if (size <= sizeof first) return word(part, index, size, first);
    const Told told{CommandArgKind::Change, part, index, size, CommandArgForm::Bytes, 0};
    tell(told, at, size);
  }

 private:
  void tell(const Told& told, const void* bytes = nullptr, size_t size = 0) {
    Ring* const ring = this_ring();
    if (!ring) return;
    const auto padded = static_cast<uint32_t>((size + 7) & ~size_t{7});
    const auto all = static_cast<uint32_t>(sizeof(RecordHeader) + 7 * sizeof(uint64_t)) + padded;
    uint8_t* const at = reserve(*ring, RecordType::CommandArg, fn_, all, ticks());
    if (!at) return;
    RingWriter out(at);
    out.word(static_cast<uint64_t>(told.kind));
    out.word(command_);
    out.word(static_cast<uint64_t>(told.part));
    out.word(told.index);
    out.word(told.size);
    out.word(static_cast<uint64_t>(told.form));
    if (size == 0) {
      out.word(told.value);
    } else {
      out.bytes(bytes, size);
    }
    commit(*ring, all);
  }

  uint16_t fn_;
  uint64_t command_;
};

void record_argument(Recorded& out, const UpdateArg& arg) {
  if (arg.value) return out.value(UpdatePart::Argument, arg.index, arg.size, arg.value);
  out.address(UpdatePart::Argument, arg.index, arg.size, nullptr);  // local memory
}

void record_exec_info(Recorded& out, const api::UpdateExecInfo& info) {
  if (!api::lists_pointers(info.name) || info.size < sizeof(void*))
    return out.value(UpdatePart::ExecInfo, info.name, info.size, info.value);
  const auto* const list = static_cast<const void* const*>(info.value);
  const auto count = static_cast<cl_uint>(info.size / sizeof(void*));
  if (!each(list, count, [&](const void* p) { out.address(UpdatePart::ExecPointer, info.name, info.size, p); }))
    out.unread();
}

void record_dispatch(uint16_t fn, const DispatchUpdate& dispatch) {
  Recorded out(fn, dispatch);
  const auto whole = [&](bool read) {
    if (!read) out.unread();
  };
  whole(each(dispatch.arg_list, dispatch.args, [&](const UpdateArg& arg) { record_argument(out, arg); }));
  whole(each(dispatch.svm_list, dispatch.svm_args,
             [&](const UpdateArg& arg) { out.address(UpdatePart::Pointer, arg.index, sizeof(void*), arg.value); }));
  whole(each(dispatch.exec_info_list, dispatch.exec_infos,
             [&](const api::UpdateExecInfo& info) { record_exec_info(out, info); }));
  const auto sizes = [&](UpdatePart part, const size_t* list) {
    constexpr cl_uint Most = 3;
    uint64_t dimension = 0;
    if (list)
      whole(dispatch.work_dim <= Most &&
            each(list, dispatch.work_dim, [&](size_t v) { out.word(part, dimension++, sizeof v, v); }));
  };
  sizes(UpdatePart::Offset, dispatch.global_work_offset);
  sizes(UpdatePart::Global, dispatch.global_work_size);
  sizes(UpdatePart::Local, dispatch.local_work_size);
}

// How many there will be, or that they cannot be read.
bool begin(uint16_t fn, bool read, cl_uint count) {
  record(RecordType::CommandArg, fn, ticks(), CommandArgKind::Commands, 0, 0, 0, 0, CommandArgForm::Word,
         read ? count : NotRead);
  return read;
}

void record_list(uint16_t fn, const UpdateList& list) {
  if (!begin(fn, may_read(list.types, list.count) && may_read(list.configs, list.count), list.count)) return;
  for (cl_uint i = 0; i < list.count; ++i) {
    const auto* const config = static_cast<const DispatchUpdate*>(list.configs[i]);
    if (list.types[i] != api::LaterDispatchConfig || !config || !readable(config, sizeof *config)) continue;
    record_dispatch(fn, *config);
  }
}

}  // namespace

__thread const UpdateList* t_update_list __attribute__((tls_model("initial-exec"))) = nullptr;

void record_update(uint16_t fn, const void* config) {
  if (config && config == t_update_list) return record_list(fn, *t_update_list);
  const auto* all = static_cast<const api::UpdateConfig*>(config);
  const bool read = all && readable(all, sizeof *all) && may_read(all->list, all->dispatches);
  if (!begin(fn, read, read ? all->dispatches : 0)) return;
  for (cl_uint i = 0; i < all->dispatches; ++i) record_dispatch(fn, all->list[i].of);
}

}  // namespace gt::tracer
