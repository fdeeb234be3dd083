#include "tracer/collect/program_texts.h"

#include "tracer/collect/included_name.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace gt::tracer {

namespace {

using Headers = std::map<std::string, std::string_view, std::less<>>;

std::string_view without_nul(std::string_view text) { return text.substr(0, text.find('\0')); }

constexpr int DeepestInclude = 32;
constexpr size_t MostText = 32 << 20;

void insert_headers(std::string_view text, const Headers& headers, std::string& out, int depth = 0) {
  while (!text.empty() && out.size() < MostText) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    const auto header = depth < DeepestInclude ? headers.find(included_name(line)) : headers.end();
    if (header != headers.end()) {
      insert_headers(header->second, headers, out, depth + 1);
      out += '\n';
    } else {
      out += line;
    }
    text.remove_prefix(end);
  }
}

}  // namespace

uint32_t ProgramTexts::make_program(const PendingCall& call) {
  Program made;
  std::string source = std::string(as_text(call.source));
  if (call.il != model::NoIndex) made.modules.push_back(call.il);
  for (const uint32_t p : call.programs) {
    if (p >= programs_.size()) continue;
    for (const model::BlobId module : programs_[p].modules)
      if (made.modules.size() < model::MostModules) made.modules.push_back(module);
    if (programs_[p].source == model::NoIndex) continue;
    source += without_nul(as_text(trace_.blobs[programs_[p].source].bytes));
    source += '\n';
    if (made.options == model::NoIndex) made.options = programs_[p].options;
  }
  if (!source.empty()) made.source = made.text = tables_.blob_of(as_bytes(source), source.size());
  programs_.push_back(made);
  return static_cast<uint32_t>(programs_.size() - 1);
}

void ProgramTexts::compile_program(const PendingCall& call) {
  if (call.programs.empty() || call.programs[0] >= programs_.size()) return;
  const uint32_t compiled = call.programs[0];
  if (call.options != model::NoIndex) programs_[compiled].options = call.options;
  Headers headers;
  for (size_t i = 0; i < call.headers.size() && i + 1 < call.programs.size(); ++i) {
    const uint32_t p = call.programs[i + 1];
    if (p >= programs_.size() || programs_[p].text == model::NoIndex) continue;
    headers.emplace(without_nul(as_text(trace_.blobs[call.headers[i]].bytes)),
                    without_nul(as_text(trace_.blobs[programs_[p].text].bytes)));
  }
  if (headers.empty() || programs_[compiled].text == model::NoIndex) return;
  std::string whole;
  insert_headers(without_nul(as_text(trace_.blobs[programs_[compiled].text].bytes)), headers, whole);
  programs_[compiled].source = tables_.blob_of(as_bytes(whole), whole.size());
}

std::string_view ProgramTexts::source_of(uint32_t program) const {
  if (program >= programs_.size() || programs_[program].source == model::NoIndex) return {};
  return without_nul(as_text(trace_.blobs[programs_[program].source].bytes));
}

// A kernel's name: given to the call that makes it; told by the driver (clCreateKernelsInProgram); or that of the
// kernel which it copies.
model::BlobId ProgramTexts::kernel_label(const TracedThread& thread, uint64_t kernel) const {
  const PendingCall& call = thread.pending;
  if (call.text != model::NoIndex) return call.text;
  for (const auto& [handle, name] : call.kernel_names)
    if (handle == kernel) return name;
  const Handle* copied = thread.process->objects.handles.find(call.kernel);
  return copied ? trace_.classes[copied->object.cls].label : model::NoIndex;
}

// A row for the first kernel of its class; its program, whatever kernel of the class it is.
void ProgramTexts::note_kernel(const PendingCall& call, uint64_t handle, model::ClassId cls, uint32_t program) {
  model::KernelOrigin origin;
  if (program < programs_.size()) {
    origin.source = programs_[program].source;
    origin.options = programs_[program].options;
    origin.modules = programs_[program].modules;
  }
  for (const auto& [kernel, text] : call.kernel_args)
    if (kernel == handle && origin.source == model::NoIndex) origin.declared = text;
  std::vector<model::KernelOrigin>& origins = origins_[cls];
  if (origins.empty()) {
    model::Kernel row{cls, {}, origin.source, origin.options};
    const model::BlobId label = trace_.classes[cls].label;
    if (label != model::NoIndex) row.name = as_text(trace_.blobs[label].bytes);
    trace_.kernels.push_back(std::move(row));
  }
  model::add_origin(origins, std::move(origin));
}

void ProgramTexts::take_kernel_name(TracedThread& thread, const RecordView& record) {
  ByteReader in(record.payload);
  const uint64_t handle = in.fixed64();
  in.fixed64();
  const std::string_view name = without_nul(as_text(in.raw(in.remaining())));
  if (in.ok() && thread.pending.open)
    thread.pending.kernel_names.emplace_back(handle, tables_.blob_of(as_bytes(name), name.size()));
}

void ProgramTexts::take_kernel_args(TracedThread& thread, const RecordView& record) {
  ByteReader in(record.payload);
  const uint64_t handle = in.fixed64();
  const std::string_view text = as_text(in.raw(std::min<uint64_t>(in.fixed64(), in.remaining())));
  if (in.ok() && thread.pending.open) thread.pending.kernel_args.emplace_back(handle, text);
}

}  // namespace gt::tracer
