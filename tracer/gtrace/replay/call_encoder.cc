#include "tracer/gtrace/replay/call_encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace gt::tracer {

using api::Wire;
using model::Arg;
using model::ArgForm;
using model::ObjectKind;

namespace {

// Is the parameter the options of a compiler? A linker has others.
bool compiles(const ShapePlan& plan, uint16_t param) {
  return param == plan.fn->attributes.options && plan.fn->attributes.creates == ObjectKind::Unknown;
}

}  // namespace

bool CallEncoder::encode(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values,
                         bool with_event, bool goes_on) {
  with_event_ = with_event;
  goes_on_ = goes_on;
  writer_.view().clear();
  places_.clear();
  pointers_.clear();
  numbers_.clear();
  sound_ = true;
  lost_ = false;
  const Row row{shape, plan, values};
  for (uint16_t p = 0; p < plan.fn->param_count && sound_; ++p) parameter(row, p);
  return sound_;
}

std::optional<uint64_t> CallEncoder::word_of(const model::Shape& shape, const ShapePlan& plan,
                                             std::span<const int64_t> values, size_t arg) {
  sound_ = true;
  lost_ = false;
  const uint64_t word = pointer({shape, plan, values}, arg);
  return sound_ ? std::optional(word) : std::nullopt;
}

void CallEncoder::refuse(std::string why) {
  if (sound_) why_ = std::move(why);
  sound_ = false;
}

void CallEncoder::parameter(const Row& row, uint16_t param) {
  const size_t begin = row.plan.input_at[param], end = row.plan.input_at[param + 1];
  const ArgForm form = begin < end ? row.shape.args[begin].form : ArgForm::Null;
  const Wire wire = row.plan.fn->params[param].in;
  switch (wire) {
    case Wire::None:
      return;
    case Wire::Int:
      if (goes_on_ && param == row.plan.fn->attributes.blocking) return writer_.word(CL_FALSE);
      if (form != ArgForm::Int || is_left_out(row, param)) return writer_.word(0);
      if (param == row.plan.fn->attributes.kernel_value)
        return writer_.word(device_address(static_cast<uint64_t>(row.value(begin))));
      return writer_.word(static_cast<uint64_t>(row.value(begin)));
    case Wire::Handle:
      return writer_.word(form == ArgForm::Null ? 0 : object(row, begin));
    case Wire::Code:  // builds are waited for; others call back somebody who does not listen
      return writer_.word(form == ArgForm::Code && row.plan.fn->attributes.options < 0 ? 1 : 0);
    case Wire::Raw:
      return writer_.word(0);
    case Wire::Pointer:
      pointers_.push_back(pointer(row, begin));
      return writer_.word(pointers_.back());
    case Wire::HostData:
      return host_data(row, begin);
    case Wire::Bytes:
      return compiles(row.plan, param) && (describes_kernels_ || headers_ || options_of_source(row))
                 ? options(row, begin)
                 : bytes(row, param, begin);
    case Wire::Present:
      return writer_.word(form == ArgForm::Empty || api::is_error_code(row.shape.fn, param) ||
                          (with_event_ && row.plan.fn->params[param].kind == ObjectKind::Event));
    case Wire::Info:
      return info(row, begin, end);
    default:
      return list(row, param, begin, end);
  }
}

uint64_t CallEncoder::device_address(uint64_t recorded) const {
  std::array<uint8_t, sizeof recorded> bytes;
  std::memcpy(bytes.data(), &recorded, sizeof recorded);
  if (addresses_) addresses_->to_here(bytes);
  std::memcpy(&recorded, bytes.data(), sizeof recorded);
  return recorded;
}

void CallEncoder::list(const Row& row, uint16_t param, size_t begin, size_t end) {
  const Wire wire = row.plan.fn->params[param].in;
  const ArgForm form = row.shape.args[begin].form;
  if (is_left_out(row, param)) return writer_.word(api::NullWord);
  const bool one_null = end - begin == 1 && form == ArgForm::Null;
  if (one_null && (wire != Wire::Handles || row.number(param - 1) == 0)) return writer_.word(api::NullWord);
  if (form == ArgForm::Raw) return refuse(fmt::format("{} led nowhere", row.plan.fn->params[param].name));
  writer_.word(form == ArgForm::Empty ? 0 : end - begin);
  if (form == ArgForm::Empty) return;
  for (size_t arg = begin; arg < end; ++arg) {
    if (wire == Wire::Handles && row.shape.args[arg].form != ArgForm::Null) {  // a number is nothing to a driver
      writer_.word(object(row, arg));
    } else if (wire == Wire::Pointers) {
      writer_.word(pointer(row, arg));
    } else if (wire == Wire::Strings) {
      row.shape.args[arg].form == ArgForm::Blob ? blob(row.value(arg)) : writer_.word(api::NullWord);
    } else if (command_buffers_ && holds_sync_points(row.plan.fn->params[param])) {
      sync_point(row, arg);
    } else {
      element(row, arg);
    }
  }
}

void CallEncoder::element(const Row& row, size_t arg) {
  switch (row.shape.args[arg].form) {
    case ArgForm::Null:
      return writer_.word(0);
    case ArgForm::Object:
      return writer_.word(object(row, arg));
    case ArgForm::Memory:
      return writer_.word(pointer(row, arg));
    case ArgForm::Empty:
      return refuse("the trace is damaged: an element without a value");
    default:
      note_number(row, arg, sizeof(uint64_t));
      return writer_.word(static_cast<uint64_t>(row.value(arg)));
  }
}

// Of the command buffer that comes first.
void CallEncoder::sync_point(const Row& row, size_t arg) {
  if (row.shape.args[arg].form != ArgForm::Int) return element(row, arg);
  const Arg& buffer = row.shape.args[row.plan.input_at[0]];
  const uint64_t of =
      buffer.form == ArgForm::Object ? handle(buffer.cls, row.value(row.plan.input_at[0])) : uint64_t{0};
  writer_.word(command_buffers_->sync_point(of, static_cast<uint64_t>(row.value(arg))));
}

// It comes next, or `behind` bytes later.
void CallEncoder::note_number(const Row& row, size_t arg, size_t size, size_t behind) {
  const auto at = static_cast<uint32_t>(writer_.view().size() + behind);
  if (row.shape.args[arg].form == ArgForm::Int)
    numbers_.push_back({row.plan.value_at[arg], static_cast<uint16_t>(size), at});
}

// A kernel's argument that is a number, or a handle, stands in the trace as what it is.
void CallEncoder::bytes(const Row& row, uint16_t param, size_t arg) {
  const int64_t size = param == row.plan.fn->attributes.kernel_value ? row.number(param - 1) : 0;
  switch (row.shape.args[arg].form) {
    case ArgForm::Null:
      return writer_.word(api::NullWord);
    case ArgForm::Blob:
      return blob(row.value(arg));
    case ArgForm::Empty:
      return writer_.bytes(nullptr, 0);
    case ArgForm::Object:
    case ArgForm::Memory: {
      const uint64_t value = row.shape.args[arg].form == ArgForm::Object ? object(row, arg) : pointer(row, arg);
      return writer_.bytes(&value, sizeof value);
    }
    case ArgForm::Int: {
      const int64_t value = row.value(arg);
      if (size < 0 || size > 8) return refuse("its value was not recorded");
      note_number(row, arg, static_cast<size_t>(size), sizeof(uint64_t));  // behind their length
      return writer_.bytes(&value, static_cast<size_t>(size));
    }
    default:
      return refuse(fmt::format("{} led nowhere", row.plan.fn->params[param].name));
  }
}

void CallEncoder::info(const Row& row, size_t begin, size_t end) {
  const Arg& first = row.shape.args[begin];
  if (first.form == ArgForm::Null) return writer_.word(api::InfoNull);
  if (first.form == ArgForm::Blob) {
    writer_.word(api::InfoBytes);
    return blob(row.value(begin));
  }
  if (first.form != ArgForm::Object && first.form != ArgForm::Memory) return refuse("its value was not recorded");
  std::vector<uint64_t> words;
  for (size_t arg = begin; arg < end; ++arg)
    words.push_back(row.shape.args[arg].form == ArgForm::Object ? object(row, arg) : pointer(row, arg));
  writer_.word(api::InfoHandles);
  writer_.bytes(words.data(), words.size() * sizeof words[0]);
}

void CallEncoder::host_data(const Row& row, size_t arg) {
  const Arg& a = row.shape.args[arg];
  if (a.form == ArgForm::Null) {
    writer_.word(0);
    return writer_.word(api::NoContents);
  }
  if (a.form != ArgForm::Memory) return refuse("a pointer led nowhere");
  places_.push_back({a.cls, row.value(arg), row.value(arg, 1)});
  writer_.word(places_.size());
  writer_.word(api::MapsMemory);
}

uint64_t CallEncoder::object(const Row& row, size_t arg) {
  const Arg& a = row.shape.args[arg];
  if (a.form != ArgForm::Object) return refuse("the trace is damaged: no object where one belongs"), 0;
  const uint64_t found = handle(a.cls, row.value(arg));
  if (found == ReplayObjects::Lost || (found == 0 && was_met(trace_, a.cls))) {
    lost_ = true;
    refuse("it needs an object of a call that was not made");
  }
  if (found == 0)
    refuse(fmt::format("no call that was replayed made its {}", model::object_kind_name(trace_.classes[a.cls].kind)));
  return found;
}

uint64_t CallEncoder::handle(model::ClassId cls, int64_t slot) const {
  const ObjectKind kind = trace_.classes[cls].kind;
  if (kind == ObjectKind::Platform) return reinterpret_cast<uint64_t>(devices_.by_slot().front().platform);
  if (const uint64_t made = objects_.find(cls, slot)) return made;
  return kind == ObjectKind::Device ? reinterpret_cast<uint64_t>(devices_.device(slot).device) : 0;
}

uint64_t CallEncoder::address(model::ClassId cls, int64_t slot, int64_t offset) const {
  const uint64_t base = objects_.find(cls, slot);
  return base == 0 || base == ReplayObjects::Lost ? 0 : base + static_cast<uint64_t>(offset);
}

// An address in memory of OpenCL's or of the program's.
uint64_t CallEncoder::pointer(const Row& row, size_t arg) {
  const Arg& a = row.shape.args[arg];
  if (a.form == ArgForm::Null) return 0;
  if (a.form == ArgForm::Raw) return static_cast<uint64_t>(row.value(arg));
  if (a.form == ArgForm::Object) return object(row, arg);
  if (a.form != ArgForm::Memory) return refuse("a pointer led nowhere"), 0;
  const int64_t slot = row.value(arg), offset = row.value(arg, 1);
  if (const uint64_t mapped = objects_.mapped(a.cls, slot, offset)) return mapped;
  if (!is_program_memory(trace_.classes[a.cls].kind)) {
    const uint64_t found = address(a.cls, slot, offset);
    const bool refused = objects_.find(a.cls, slot) == ReplayObjects::Lost;
    if (found == 0)
      refuse(refused ? "the driver here did not give its memory" : "no call that was replayed gave its memory");
    return found;
  }
  const auto size = static_cast<size_t>(std::max<int64_t>(row.number(row.plan.fn->attributes.size), 1));
  const uint8_t* const at = memory_.at({a.cls, slot, offset}, size);
  if (!at) refuse("there is no memory for what the program had there");
  return reinterpret_cast<uint64_t>(at);
}

// The first argument of what builds is the program.
std::optional<std::string> CallEncoder::options_of_source(const Row& row) const {
  const Arg& program = row.shape.args[row.plan.input_at[0]];
  if (!sources_ || program.form != ArgForm::Object) return std::nullopt;
  return sources_->options_of(handle(program.cls, row.value(row.plan.input_at[0])));
}

void CallEncoder::options(const Row& row, size_t arg) {
  std::string text;
  if (const std::optional<std::string> given = options_of_source(row)) {
    text = *given;
  } else if (row.shape.args[arg].form == ArgForm::Blob) {
    const auto id = static_cast<size_t>(row.value(arg));
    if (id < trace_.blobs.size()) text = std::string(as_text(trace_.blobs[id].bytes));
    text.resize(std::min(text.find('\0'), text.size()));
  }
  if (headers_) text = headers_->options(text, header_folder_);
  if (describes_kernels_) text += text.empty() ? "-cl-kernel-arg-info" : " -cl-kernel-arg-info";
  writer_.bytes(text.data(), text.size());
}

void CallEncoder::blob(int64_t id) {
  const bool known = id >= 0 && static_cast<size_t>(id) < trace_.blobs.size();
  if (!known) return refuse("the trace is damaged: it has no such text");
  const model::Blob& b = trace_.blobs[static_cast<size_t>(id)];
  if (b.full_size > b.bytes.size())
    return refuse(fmt::format("only {} of {} bytes of a text or a value were recorded", b.bytes.size(), b.full_size));
  writer_.bytes(b.bytes.data(), b.bytes.size());
}

}  // namespace gt::tracer
