// One launch with its data, and the folder that runs it without gtrace.
//
//   DIR/README.md CMakeLists.txt main.c launch.h launch.py launch.json kernel.cl data/buffer0.before data/buffer0.after
//
// Thread safety: functions without state.
#pragma once

#include <string>
#include <vector>

#include "tracer/gtrace/replay/kernel_facts.h"
#include "tracer/gtrace/replay/launches.h"

namespace gt::tracer {

struct ExtractedBuffer {
  ElementType element = ElementType::Byte;
  Bytes before, after;
};
struct ExtractedArgument {
  enum class Kind : uint8_t { Buffer, Value, Local } kind = Kind::Value;
  uint32_t index = 0;
  size_t bytes = 0;
  Bytes value;
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
