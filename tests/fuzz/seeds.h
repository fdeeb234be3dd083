// What a fuzz target knows of good inputs: made by code, so that they follow the formats.
//
// A target defines fuzz_seeds(). With libFuzzer they come in through the mutator (seeds.cc), so no corpus is needed;
// without it random_inputs.cc makes its inputs of them.
#pragma once

#include <vector>

#include "traces/base/bytes.h"

std::vector<gt::Bytes> fuzz_seeds();

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
