// libgtrace-kernels.so, which holds all that is linked with libclang: 140 MB of libraries, which only a program that
// reads kernels is to load. Loaded at the first call and never unloaded. Thread safety: yes.
#pragma once

#include <string>

#include "analyzer/kernels/read_source.h"

namespace gt::kernels {

using ReadSource = decltype(&gt_read_source);

struct SourceLibrary {
  ReadSource read = nullptr;
  std::string problem;  // why there is none, in one sentence
};

const SourceLibrary& source_library();

}  // namespace gt::kernels
