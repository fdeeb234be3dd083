// The type of a parameter as its source has it.
// Thread safety: as libclang.
#pragma once

#include <string>

#include "analyzer/kernels/cursor.h"

namespace gt::kernels {

// The words of the declaration without the parameter's name: "global const float *restrict", "local int []". As clang
// writes the type where a macro makes them.
std::string written_type(CXCursor parameter);

}  // namespace gt::kernels
