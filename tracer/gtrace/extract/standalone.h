// One launch with its data, and the folder that runs it without gtrace.
//
//   DIR/README.md CMakeLists.txt main.c launch.h launch.py launch.json kernel.cl data/buffer0.before data/buffer0.after
//
// Thread safety: functions without state.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tracer/gtrace/replay/kernel_facts.h"
#include "tracer/gtrace/replay/launches.h"

namespace gt::tracer {

// Numbers of OpenCL's.
struct ExtractedImage {
  uint32_t order = 0, channel = 0, type = 0;
  size_t width = 0, height = 1, depth = 1, layers = 0, element_bytes = 0;
  std::array<size_t, 3> region() const;  // all of it
};
// A memory object. Shared virtual memory that a pointer leads to is a buffer here.
struct ExtractedBuffer {
  ElementType element = ElementType::Byte;
  Bytes before, after;
  std::optional<ExtractedImage> image;
};
struct ExtractedArgument {
  enum class Kind : uint8_t { Buffer, Value, Local, Sampler } kind = Kind::Value;
  uint32_t index = 0;
  size_t bytes = 0;
  Bytes value;
  std::array<uint32_t, 3> sampler{};  // normalized, addressing mode, filter mode
  size_t buffer = 0;  // its place in `buffers`: two arguments may be the same buffer
};
struct ExtractedLaunch {
  Launch launch;
  std::string source, options;
  std::string device, trace;  // where it ran, and the recording that it is from
  std::vector<ExtractedBuffer> buffers;
  std::vector<ExtractedArgument> arguments;
};

// Invalid: it is there and holds something. System: it cannot be made.
Status make_new_folder(const std::string& folder);
// System: it cannot be written; what was written stays.
Status write_standalone(const ExtractedLaunch& launch, const std::string& folder);

extern const char* const StandaloneMain;
extern const char* const StandalonePython;
extern const char* const StandaloneCMake;

}  // namespace gt::tracer
