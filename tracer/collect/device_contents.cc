#include "tracer/collect/device_contents.h"

#include <fmt/format.h>

#include "traces/api/api.h"

namespace gt::tracer {

void DeviceContents::take(TracedThread& thread, const DeviceContent& content, uint64_t bytes, bool kept) {
  PendingCall& call = thread.pending;
  if (content.kind == SharedKind::Chosen) {
    ++calls_;
    call.content.chosen = true;
    return;
  }
  const bool written = content.kind == SharedKind::WrittenObject || content.kind == SharedKind::WrittenMemory;
  Side& side = written ? after_ : before_;
  if (bytes == 0) {
    ++side.unread;
    if (content.address != 0 && !written) call.content.device.push_back(content);
    return;
  }
  ++side.read;
  side.bytes += bytes;
  call.content.device.push_back(content);
  if (kept) return;
  ++left_out_;
  if (first_left_out_.empty())
    first_left_out_ = fmt::format("{} bytes {} {}", bytes, written ? "after" : "before", kernel_of(thread));
}

void DeviceContents::name(TracedThread& thread) {
  PendingCall& call = thread.pending;
  if (call.content.chosen) call.add_form(model::ParamBefore, model::ArgForm::Empty);
  for (const DeviceContent& content : call.content.device) naming_.add_device_content(thread, content);
}

// The kernel that the pending call launches, or its function.
std::string DeviceContents::kernel_of(const TracedThread& thread) const {
  const PendingCall& call = thread.pending;
  const Handle* const kernel = thread.process->objects.handles.find(call.kernel);
  const std::string_view name = kernel ? tables_.trace.label(kernel->object.cls) : "";
  return std::string(name.empty() ? api::function_name(call.shape.fn) : name);
}

void DeviceContents::add_facts(std::vector<std::pair<std::string, std::string>>& facts) const {
  const auto fact = [&](const char* name, uint64_t value) { facts.emplace_back(name, fmt::format("{}", value)); };
  if (calls_ + before_.read + after_.read + before_.unread + after_.unread == 0) return;
  fact("device_contents.before", before_.read);
  fact("device_contents.before_bytes", before_.bytes);
  fact("device_contents.after", after_.read);
  fact("device_contents.after_bytes", after_.bytes);
  fact("lost.device_contents_before", before_.unread);
  fact("lost.device_contents_after", after_.unread);
  fact("lost.device_contents_left_out", left_out_);
  if (left_out_ > 0) facts.emplace_back("device_contents.first_left_out", first_left_out_);
}

}  // namespace gt::tracer
