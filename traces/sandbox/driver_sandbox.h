// What OpenCL drivers need of files, when what they build and run is a stranger's.
//
// Compilers read files, and kernels that run on a CPU do what they like: both do what the stranger wants. So a process
// reads what drivers are made of (system folders, what the variables of loaders and drivers name), not home folders or
// other data, and it writes where drivers write: devices, their caches, a folder of its own for temporary files.
// Thread safety: functions from any thread, while none changes the environment.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "traces/sandbox/sandbox.h"

namespace gt {

// A driver as loaders find it: a file that names its library, or the library.
struct Driver {
  std::string name;     // for people
  std::string library;  // as dlopen() takes it
};
// Those that loaders find in this environment.
std::vector<Driver> installed_drivers();
std::vector<std::string> driver_libraries();  // theirs

// The folders in which drivers keep what they compiled: inside, they could not make them. `names`: of the drivers'
// platforms, or of their libraries.
void make_cache_folders(const std::vector<std::string>& names);
// For drivers of these libraries in this environment. `temporary`: for temporary files.
Sandbox driver_sandbox(const std::vector<std::string>& libraries, const std::string& temporary);

// Adds the paths in this environment's variables whose names begin so; never the home folder, nor what it lies in.
void add_named_paths(std::vector<std::string>& paths, std::span<const char* const> prefixes);

}  // namespace gt
