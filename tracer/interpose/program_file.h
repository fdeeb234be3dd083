// The program that the user named: which file it is, and what stands in the way of interposing on
// it.
#pragma once

#include <string>
#include <vector>

#include "traces/base/status.h"

namespace gt::interpose {

struct ProgramFile {
  std::string path;  // what is executed
  std::string
      binary;  // the ELF file that will run: `path`, or what interprets it when it is a script
  bool preloadable = true;  // false: LD_PRELOAD would have no effect, or make noise on stderr
  bool own_opencl = false;  // OpenCL is linked into it, and is no loader that would let a layer in
  std::vector<std::string>
      obstacles;  // one line each: why calls will go unseen; empty for most programs
};

// Finds `name` as execvp does. Invalid, with one clear line, when it does not exist or is not
// executable.
Result<ProgramFile> find_program(const std::string& name);

// The OpenCL library that the dynamic linker would load for `binary`, by its rules: RPATH,
// LD_LIBRARY_PATH, RUNPATH, the linker's cache, the default directories; libraries of ours are
// passed over. "" when there is none.
std::string find_opencl_library(const std::string& binary);

// The same for any library of that file name.
std::string find_library(const std::string& binary, const std::string& name);

// Every library that `binary` is linked to, directly or through others, as found; those not found by their bare name.
std::vector<std::string> linked_libraries(const std::string& binary);

}  // namespace gt::interpose
