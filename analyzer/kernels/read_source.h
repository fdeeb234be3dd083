// What lib/gtrace/libgtrace-kernels.so exports: the one function between programs and libclang. No type of C++ passes
// it.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

// Reads one source in this very process (parse_source.h) and gives the bytes of the answer (source_bytes.h) to
// `answer`, in one piece that is gone when `answer` returns.
[[gnu::visibility("default")]] void gt_read_source(const char* source, size_t source_size, const char* options,
                                                   size_t options_size,
                                                   void (*answer)(void* to, const uint8_t* bytes, size_t size),
                                                   void* to) noexcept;
}
