#include "tracer/gtrace/extract/launch_reader.h"

#include <fmt/format.h>

namespace gt::tracer {

using model::ObjectKind;

namespace {

Result<std::string> text_of(const model::Trace& trace, model::BlobId id) {
  if (id == model::NoIndex) return std::string();
  if (id >= trace.blobs.size()) return Status(Kind::Corrupt, "the trace is damaged: it has no such text");
  const model::Blob& blob = trace.blobs[id];
  if (blob.full_size > blob.bytes.size())
    return Status(Kind::Unsupported,
                  "the program's source was not recorded whole (gtrace run --capture full keeps it)");
  return std::string(as_text(blob.bytes));
}

}  // namespace

Status LaunchReader::find_source() {
  for (const model::Kernel& k : trace_.kernels) {
    if (k.cls != out_.launch.cls) continue;
    const Result<std::string> source = text_of(trace_, k.source), options = text_of(trace_, k.options);
    if (!source) return source.status();
    if (!options) return options.status();
    out_.source = *source;
    out_.options = *options;
  }
  if (!out_.source.empty()) return {};
  return {Kind::Unsupported,
          fmt::format("kernel {} has no OpenCL C in the trace: its program came as a binary", choice_.kernel)};
}

Status LaunchReader::before(const Launch& launch) {
  if (!choice_.is(launch)) return {};
  out_.launch = launch;
  out_.launch.again = nullptr;
  GT_TRY(find_source());
  const auto queue = reinterpret_cast<cl_command_queue>(launch.queue);
  GT_TRY(memory_.finish(queue));
  for (const auto& [index, value] : kernels_.bindings(launch.handle)) GT_TRY(take(index, value, queue));
  return {};
}

Status LaunchReader::take(uint32_t index, const BoundValue& value, cl_command_queue queue) {
  ExtractedArgument arg;
  arg.index = index;
  arg.bytes = value.size;
  if (value.kind == BoundValue::Kind::Local) {
    arg.kind = ExtractedArgument::Kind::Local;
  } else if (value.kind == BoundValue::Kind::Value) {
    arg.value = value.value;
  } else if (value.kind == BoundValue::Kind::Object && value.object == ObjectKind::Buffer) {
    arg.kind = ExtractedArgument::Kind::Buffer;
    const auto [place, is_new] = places_.try_emplace(value.handle, out_.buffers.size());
    arg.buffer = place->second;
    if (is_new) GT_TRY(memory_.read(queue, reinterpret_cast<cl_mem>(value.handle), out_.buffers.emplace_back().before));
  } else {
    const char* const kind =
        value.kind == BoundValue::Kind::Pointer ? "a pointer" : model::object_kind_name(value.object);
    return {Kind::Unsupported,
            fmt::format("kernel {}: argument {} ({}) cannot be extracted", choice_.kernel, index, kind)};
  }
  out_.arguments.push_back(std::move(arg));
  return {};
}

Status LaunchReader::after(const Launch& launch) {
  if (!choice_.is(launch)) return {};
  const auto queue = reinterpret_cast<cl_command_queue>(launch.queue);
  for (const auto& [buffer, place] : places_) {
    out_.buffers[place].element = kernels_.element_of(buffer);
    GT_TRY(memory_.read(queue, reinterpret_cast<cl_mem>(buffer), out_.buffers[place].after));
  }
  done_.store(true);
  return {};
}

}  // namespace gt::tracer
