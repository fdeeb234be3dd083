// What the program does to pages by itself: madvise, mprotect, mremap, munmap, and mmap over what is there. All are
// legal for pages inside a block of malloc's and for static data, and none may be missed: a pin would hold the pages
// that were there before, and an executor that maps a pool sees neither protections nor what takes a page's place.
//
// So what is pinned there is let go of first, and a pool's span is set aside (pinned_pool.h). The program itself
// (`program`) may have the driver called and executors waited for; its handler of a fault on a thread of ours or inside
// the driver may not: then pins go with the next OpenCL call, as those of blocks that are freed there.
// Thread safety: all functions. They set errno as the system's own.
#pragma once

#include <cstddef>

#pragma GCC visibility push(hidden)

namespace gt::opt {

// Before other pages, other protections or nothing are there.
void pages_change(const void* at, size_t bytes, bool program) noexcept;
// The program's own mapping is there.
void pages_replaced(const void* at, size_t bytes) noexcept;

int advise_pages(void* at, size_t bytes, int advice, bool program) noexcept;
int protect_pages(void* at, size_t bytes, int protection, int key, bool program) noexcept;  // NoKey: mprotect
// False: no memory of the pools.
bool unmap_pages(void* at, size_t bytes, bool program, int* result) noexcept;
bool remap_pages(void* at, size_t bytes, size_t new_bytes, int flags, void* to, bool program, void** result) noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
