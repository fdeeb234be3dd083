// Looking for the questions that tell, and for names.
#include "analyzer/calls/host_devices.h"

#include <CL/cl.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/calls/node_walk.h"
#include "traces/api/api.h"
#include "traces/base/bytes.h"
#include "traces/store/function_facts.h"

namespace gt::analyzer {
namespace {

using model::ArgForm;
using model::ClassId;
using model::ObjectKind;

// What the values of a call say, where they are constant.
struct Question {
  std::optional<int64_t> type, about;
  model::BlobId answer = model::NoIndex;
  std::vector<ClassId> devices;
};

Question question_of(const model::Trace& trace, const model::Node& n) {
  Question q;
  const model::Shape& shape = trace.shapes[n.shape];
  size_t at = 0;
  for (const model::Arg& a : shape.args) {
    const size_t value = std::exchange(at, at + static_cast<size_t>(value_count(a.form)));
    if (a.form == ArgForm::Object && trace.classes[a.cls].kind == ObjectKind::Device) q.devices.push_back(a.cls);
    if (value_count(a.form) != 1 || n.values[value].kind != model::Series::Kind::Const) continue;
    const std::string_view name = a.param < api::param_count(shape.fn) ? api::param_name(shape.fn, a.param) : "";
    if (a.form == ArgForm::Int && name == "device_type") q.type = n.values[value].value;
    if (a.form == ArgForm::Int && name == "param_name") q.about = n.values[value].value;
    if (a.form == ArgForm::Blob && name == "param_value") q.answer = static_cast<model::BlobId>(n.values[value].value);
  }
  return q;
}

uint64_t number_in(const model::Trace& trace, model::BlobId id) {
  uint64_t number = 0;
  if (id < trace.blobs.size()) {
    const Bytes& bytes = trace.blobs[id].bytes;
    std::memcpy(&number, bytes.data(), std::min(bytes.size(), sizeof number));
  }
  return number;
}

class Answers {
 public:
  explicit Answers(const model::Trace& trace) : trace_(trace) {
    walk_calls(trace, [&](const CallPlace& place) {
      const model::FnId fn = trace.shapes[place.node.shape].fn;
      if (store::is_alloc_fn(fn) || store::is_callback_fn(fn)) return;
      const Question q = question_of(trace, place.node);
      for (const ClassId device : q.devices) note(device, q);
    });
  }

  std::optional<bool> shares(const std::string& device) const {
    const auto at = shares_.find(device);
    return at == shares_.end() ? std::nullopt : std::optional(at->second);
  }

 private:
  void note(ClassId device, const Question& q) {
    const model::BlobId label = trace_.classes[device].label;
    if (label >= trace_.blobs.size()) return;
    const std::string name(as_text(trace_.blobs[label].bytes));
    constexpr uint64_t Types = CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR;
    const bool answered = q.answer != model::NoIndex && q.about;
    if (answered && *q.about == CL_DEVICE_HOST_UNIFIED_MEMORY) shares_[name] |= number_in(trace_, q.answer) != 0;
    uint64_t type = q.type ? static_cast<uint64_t>(*q.type) : 0;
    if (answered && *q.about == CL_DEVICE_TYPE) type = number_in(trace_, q.answer);
    type &= Types;
    if (type != 0 && (type & (type - 1)) == 0) shares_[name] |= type == CL_DEVICE_TYPE_CPU;  // of one kind
  }

  const model::Trace& trace_;
  std::map<std::string, bool> shares_;  // by the device's name
};

}  // namespace

// PoCL's are "cpu-haswell-..." and "pthread-..." or "basic-..."; others are as the processor calls itself, of which
// virtual machines leave out the most ("AMD EPYC").
bool is_processor_name(std::string_view device) {
  for (const std::string_view begin : {"cpu", "pthread", "basic"}) {
    const bool starts = device.starts_with(begin);
    if (starts && (device.size() == begin.size() || device[begin.size()] == '-')) return true;
  }
  const auto letter = [&](size_t i) {
    return i < device.size() && std::isalnum(static_cast<unsigned char>(device[i]));
  };
  for (const std::string_view word : {"CPU", "Processor", "EPYC", "Ryzen", "Xeon"}) {
    for (size_t at = device.find(word); at != std::string_view::npos; at = device.find(word, at + 1))
      if (!(at > 0 && letter(at - 1)) && !letter(at + word.size())) return true;
  }
  return false;
}

bool devices_share_host_memory(const model::Trace& trace) {
  const Answers answers(trace);
  bool any = false;
  for (const model::DeviceTime& d : trace.devices) {
    if (d.commands() == 0) continue;
    any = true;
    if (!answers.shares(d.device).value_or(is_processor_name(d.device))) return false;
  }
  return any;
}

}  // namespace gt::analyzer
