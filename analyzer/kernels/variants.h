// Sources that ask what device they are compiled for. The driver that compiled a program defined
// macros that clang does not, and the other way round (extensions, vendors), so what stood behind
// such a question is not known: a kernel may do what it does for any answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "traces/kernels/kernel_args.h"

namespace gt::kernels {

// The macros that tell of devices and that a condition of the preprocessor asks for, at most
// MaxDeviceMacros.
constexpr size_t MaxDeviceMacros = 8;
std::vector<std::string> device_macros(std::string_view source);

// Arguments for clang, a set for each answer: one macro alone is defined, or none.
std::vector<std::vector<std::string>> variant_arguments(const std::vector<std::string>& macros);

// `into` does what `other` does, too.
void merge_variant(Source& into, const Source& other);

}  // namespace gt::kernels
