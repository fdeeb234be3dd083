// What recording a program would see and miss, told from its files before it runs.
#pragma once

#include <string>
#include <vector>

#include "traces/base/status.h"

namespace gt::tracer {

// A way in which the program may reach OpenCL.
struct FoundEntryPath {
  std::string kind;  // linked, opened, bundled, loader inside, linked in, python package
  std::string what;  // the file, or what stands in it
  std::string caught_by;  // preload, dlopen, layer, entry patch
};

struct Driver {
  std::string icd;      // the .icd file, or the variable that names the library
  std::string library;  // what it names
  bool found = false;
};

struct Diagnosis {
  std::string program, binary;
  std::vector<std::string> interpreters;  // what runs a script, in order; the last is `binary`
  std::vector<FoundEntryPath> entry_paths;
  std::string opencl_library;  // that the program would get; "" when there is none
  std::vector<Driver> drivers;
  std::vector<std::string> beside;  // other interposers: other_interposers.h
  std::vector<std::string> missed;  // one line each
  std::vector<std::string> advice;  // one line each
  bool environment_lacks = false;   // no OpenCL library, or no driver
};

// Invalid: no such program, or not executable.
Result<Diagnosis> diagnose(const std::vector<std::string>& command);

}  // namespace gt::tracer
