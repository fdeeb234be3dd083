#include "tracer/gtrace/extract/launch_reader.h"

#include <fmt/format.h>

#include "tracer/gtrace/extract/image_data.h"
#include "tracer/gtrace/replay/untouched.h"

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
  const bool memory = value.kind == BoundValue::Kind::Pointer ||
                      (value.kind == BoundValue::Kind::Object && is_memory_object(value.object));
  Status taken;
  if (value.kind == BoundValue::Kind::Local) {
    arg.kind = ExtractedArgument::Kind::Local;
  } else if (value.kind == BoundValue::Kind::Value) {
    arg.value = value.value;
  } else if (memory) {
    taken = take_memory(value, queue, arg);
  } else if (value.object == ObjectKind::Sampler) {
    taken = take_sampler(value, arg);
  } else {
    taken = {Kind::Unsupported, fmt::format("a {} cannot be extracted", model::object_kind_name(value.object))};
  }
  if (!taken.ok()) return taken.at(fmt::format("kernel {}: argument {}", choice_.kernel, index));
  out_.arguments.push_back(std::move(arg));
  return {};
}

Status LaunchReader::take_memory(const BoundValue& value, cl_command_queue queue, ExtractedArgument& arg) {
  arg.kind = ExtractedArgument::Kind::Buffer;
  const auto [place, is_new] = places_.try_emplace(value.handle, out_.buffers.size());
  arg.buffer = place->second;
  if (!is_new) return {};
  ExtractedBuffer& buffer = out_.buffers.emplace_back();
  if (value.kind == BoundValue::Kind::Pointer) {
    const uint64_t bytes = shared_.room(value.handle);
    if (bytes == 0) return {Kind::Unsupported, "it is an address that no call gave"};
    for (const auto& [begin, size] : blocks_) {
      if (begin < value.handle + bytes && value.handle < begin + size)
        return {Kind::Unsupported, "it points into the same memory as another argument"};
    }
    blocks_[value.handle] = bytes;
  } else if (value.object == ObjectKind::Image) {
    Result<ExtractedImage> image = describe_image(cl_, reinterpret_cast<cl_mem>(value.handle));
    if (!image) return image.status();
    buffer.image = *image;
    buffer.element = channel_element(*image);
  }
  return read(value.handle, arg.buffer, queue, buffer.before);
}

Status LaunchReader::take_sampler(const BoundValue& value, ExtractedArgument& arg) const {
  arg.kind = ExtractedArgument::Kind::Sampler;
  const auto ask = cl_.get<decltype(clGetSamplerInfo)>(api::FnId::clGetSamplerInfo);
  const cl_sampler_info what[] = {CL_SAMPLER_NORMALIZED_COORDS, CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_FILTER_MODE};
  for (size_t i = 0; i < arg.sampler.size(); ++i) {
    const auto sampler = reinterpret_cast<cl_sampler>(value.handle);
    const cl_int code = ask(sampler, what[i], sizeof(cl_uint), &arg.sampler[i], nullptr);
    if (code != CL_SUCCESS) return {Kind::OpenCl, "the driver does not say what the sampler is", code};
  }
  return {};
}

Status LaunchReader::read(uint64_t handle, size_t place, cl_command_queue queue, Bytes& out) const {
  if (const auto& image = out_.buffers[place].image)
    return read_image(cl_, queue, reinterpret_cast<cl_mem>(handle), *image, out);
  const auto block = blocks_.find(handle);
  if (block == blocks_.end()) return memory_.read(queue, reinterpret_cast<cl_mem>(handle), out);
  out.resize(block->second);
  const cl_int code = cl_.get<decltype(clEnqueueSVMMemcpy)>(api::FnId::clEnqueueSVMMemcpy)(
      queue, CL_TRUE, out.data(), reinterpret_cast<void*>(handle), out.size(), 0, nullptr, nullptr);
  return code == CL_SUCCESS ? Status() : Status(Kind::OpenCl, "shared virtual memory cannot be read", code);
}

Status LaunchReader::after(const Launch& launch) {
  if (!choice_.is(launch)) return {};
  const auto queue = reinterpret_cast<cl_command_queue>(launch.queue);
  for (const auto& [buffer, place] : places_) {
    if (!out_.buffers[place].image) out_.buffers[place].element = kernels_.element_of(buffer);
    GT_TRY(read(buffer, place, queue, out_.buffers[place].after));
  }
  done_.store(true);
  return {};
}

}  // namespace gt::tracer
