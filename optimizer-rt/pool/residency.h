// Which of the program's pages are in memory, as the kernel tells (mincore). Thread safety: all functions. Allocates
// nothing.
#pragma once

#include <cstddef>

#pragma GCC visibility push(hidden)

namespace gt::opt {

// (Nearly) all pages: a part may be missing, an eighth where nothing else is said. Asks for each.
bool is_resident(const void* base, size_t bytes, size_t part = 8) noexcept;

// Most pages are still to be made by who touches them first, as far as three of them tell.
bool seems_fresh(const void* base, size_t bytes) noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
