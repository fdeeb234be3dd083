#include "tracer/gtrace/replay/command_updates.h"

#include <utility>

namespace gt::tracer {

using api::UpdatePart;
using model::ArgForm;

namespace {

constexpr const char* Damaged = "the trace is damaged: what changes is not whole";
constexpr const char* NotRead = "how it changes commands was not recorded whole";

}  // namespace

std::optional<int64_t> CommandUpdates::Elements::number() {
  if (done() || arg().form != ArgForm::Int) return std::nullopt;
  const int64_t v = value();
  ++at;
  return v;
}

bool CommandUpdates::refuse(std::string why) {
  why_ = std::move(why);
  return false;
}

bool CommandUpdates::build(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values) {
  words_.clear();
  lists_.clear();
  filled_ = 0;
  commands_.clear();
  dispatches_.clear();
  Elements elements{shape, plan, values};
  const std::optional<int64_t> count = elements.number();
  if (!count) return refuse("how it changes commands was not recorded: by an older gtrace");
  if (*count < 0) return refuse(NotRead);
  while (!elements.done())
    if (!command(elements)) return false;
  if (commands_.size() != static_cast<uint64_t>(*count)) return refuse(NotRead);
  const auto list = [](const auto& of) { return of.empty() ? nullptr : of.data(); };
  for (const Command& c : commands_) {
    // A driver reads as many sizes as there are dimensions, and whole lists.
    for (const std::vector<size_t>* sizes : {&c.offset, &c.global, &c.local})
      if (!sizes->empty() && sizes->size() != c.work_dim) return refuse(Damaged);
    const api::DispatchUpdate of{reinterpret_cast<void*>(c.handle),
                                 static_cast<cl_uint>(c.args.size()),
                                 static_cast<cl_uint>(c.pointers.size()),
                                 static_cast<cl_uint>(c.infos.size()),
                                 c.work_dim,
                                 list(c.args),
                                 list(c.pointers),
                                 list(c.infos),
                                 list(c.offset),
                                 list(c.global),
                                 list(c.local)};
    dispatches_.push_back({api::DispatchUpdateType, nullptr, of});
  }
  config_ = {api::UpdateConfigType, nullptr, static_cast<cl_uint>(dispatches_.size()), list(dispatches_)};
  return true;
}

bool CommandUpdates::command(Elements& elements) {
  Command& made = commands_.emplace_back();
  const model::Arg& arg = elements.arg();
  if (arg.form == ArgForm::Object) {
    const std::optional<uint64_t> handle = word(elements);
    if (!handle) return false;
    made.handle = *handle;
  } else if (arg.form == ArgForm::Raw) {
    return refuse("it names a command that was not met before");
  } else {
    return refuse(Damaged);
  }
  const std::optional<int64_t> dimensions = elements.number();
  if (!dimensions) return refuse(Damaged);
  made.work_dim = static_cast<cl_uint>(*dimensions);
  while (!elements.done() && elements.arg().form == ArgForm::Int)
    if (!change(elements, made)) return false;
  return true;
}

bool CommandUpdates::change(Elements& elements, Command& to) {
  const std::optional<int64_t> part = elements.number(), index = elements.number(), bytes = elements.number();
  if (!part || !index || !bytes || elements.done()) return refuse(Damaged);
  const auto which = static_cast<cl_uint>(*index);
  const auto size = static_cast<size_t>(*bytes);
  const auto dimension = [&](std::vector<size_t>& list) {
    const std::optional<int64_t> value = elements.number();
    if (!value || list.size() != which || which >= 3) return refuse(Damaged);
    list.push_back(static_cast<size_t>(*value));
    return true;
  };
  const void* value = nullptr;
  switch (static_cast<UpdatePart>(*part)) {
    case UpdatePart::Argument:
      if (!given(elements, size, value)) return false;
      to.args.push_back({which, size, value});
      return true;
    case UpdatePart::Pointer: {
      const std::optional<uint64_t> at = word(elements);
      if (!at) return false;
      to.pointers.push_back({which, size, reinterpret_cast<const void*>(*at)});
      return true;
    }
    case UpdatePart::ExecInfo:
      if (!given(elements, size, value)) return false;
      to.infos.push_back({which, size, value});
      return true;
    case UpdatePart::ExecPointer:
      return pointer_of_list(elements, which, size, to);
    case UpdatePart::Offset:
      return dimension(to.offset);
    case UpdatePart::Global:
      return dimension(to.global);
    case UpdatePart::Local:
      return dimension(to.local);
    case UpdatePart::Unread:
      return refuse(NotRead);
  }
  return refuse("what changes has a later format");
}

// A value of `size` bytes; nullptr for local memory.
bool CommandUpdates::given(Elements& elements, size_t size, const void*& value) {
  const ArgForm form = elements.arg().form;
  if (form == ArgForm::Null) return ++elements.at, true;
  if (form == ArgForm::Blob) {
    const auto id = static_cast<size_t>(elements.value());
    ++elements.at;
    if (id >= trace_.blobs.size()) return refuse(Damaged);
    const model::Blob& blob = trace_.blobs[id];
    if (blob.bytes.size() != size) return refuse("its value was not recorded whole");
    value = blob.bytes.data();
    return true;
  }
  if (size > sizeof(uint64_t)) return refuse(Damaged);
  const std::optional<uint64_t> found =
      form == ArgForm::Int ? static_cast<uint64_t>(*elements.number()) : word(elements);
  if (!found) return false;
  value = &words_.emplace_back(*found);
  return true;
}

// Elements of one list come one after the other.
bool CommandUpdates::pointer_of_list(Elements& elements, cl_uint name, size_t size, Command& to) {
  const std::optional<uint64_t> at = word(elements);
  if (!at) return false;
  const size_t length = size / sizeof *at;
  if (length == 0 || length > elements.plan.updates.size()) return refuse(Damaged);
  const bool goes_on = filled_ != 0 && filled_ < length && !to.infos.empty() && to.infos.back().name == name &&
                       to.infos.back().size == size;
  if (!goes_on) {
    filled_ = 0;
    to.infos.push_back({name, size, lists_.emplace_back(length).data()});
  }
  lists_.back()[filled_++] = *at;
  return true;
}

// A handle or an address.
std::optional<uint64_t> CommandUpdates::word(Elements& elements) {
  const std::optional<uint64_t> found =
      encoder_.word_of(elements.shape, elements.plan, elements.values, elements.plan.updates[elements.at]);
  if (!found) why_ = encoder_.why();
  ++elements.at;
  return found;
}

}  // namespace gt::tracer
