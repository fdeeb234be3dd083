// Calls as text: clEnqueueWriteBuffer(command_queue = q0, blocking_write = CL_TRUE, ...) =
// CL_SUCCESS
//
// Values print as the names of the OpenCL headers where the table knows their type: one name for an
// enumerator, names joined by | for a bit field, a number where there is no name. Thread safety:
// yes. Cost: allocates; for tools, not for recording.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "traces/api/decode.h"

namespace gt::api {

// The name of `value` in a group ("cl_bool", "cl_mem_flags", "error"): "" when it has none.
std::string value_name(std::string_view group, int64_t value);

// "CL_INVALID_VALUE", or the number.
std::string error_name(int64_t code);

// One number given to (or returned through) a parameter. param: DecodedReturn for the return value.
std::string print_value(uint16_t fn, uint16_t param, uint64_t value);

// Handles and pointers as the caller names them; the default is their address.
using PrintObject = std::function<std::string(const DecodedArg&)>;

// One argument's element. Byte strings: text in quotes when printable, else hexadecimal, cut after
// 64 bytes.
std::string print_arg(uint16_t fn, const DecodedArg& arg, const PrintObject& object = nullptr);

// A whole call; outputs may be empty (the call has not returned). Written parameters follow the
// result.
std::string print_call(uint16_t fn, std::span<const DecodedArg> inputs,
                       std::span<const DecodedArg> outputs, const PrintObject& object = nullptr);

// "text" with quotes and escapes, or 0x... bytes; at most `most` bytes of them.
std::string print_bytes(ByteView bytes, size_t most = 64);

}  // namespace gt::api
