// One fake function per OpenCL function: it writes down what it was given and fills its outputs
// from a seed.
//
// The log is text made by code of its own, not by the encoder: two calls with equal logs were given
// equal arguments, down to the contents of every array, structure and transferred range. Addresses
// of arrays and host memory are not part of it, handles and opaque pointers are. Thread safety:
// none; state is global.
#pragma once

#include <cstdint>
#include <string>

#include "traces/api/fn_id.h"

namespace gt::fake {

using AnyFunction = void (*)();
AnyFunction function(api::FnId fn);  // has the C type of `fn`; nullptr for a number that is none

void set_seed(uint64_t seed,
              bool succeed);  // of the calls that follow; not to succeed: an error, nothing written
std::string take_log();

}  // namespace gt::fake
