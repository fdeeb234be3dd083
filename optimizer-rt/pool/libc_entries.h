// libc's own free, realloc and malloc_usable_size, made to know pool memory and pinned blocks; and its sbrk and brk,
// which give the heap room for huge pages (heap_room.h).
//
// Most calls of them reach our hooks by name. Some do not: those of a library loaded with RTLD_DEEPBIND, which looks
// in its own dependencies first, and those through dlsym(libc, "free"). Given a pointer of ours, libc would take what
// lies before it for its own header and abort; given a block that is pinned on reuse, it would leave the pin behind. So
// the entries of the three functions lead here: pool memory goes the way of every hook, everything else to libc's code
// behind a comparison of about 1 ns and a look at the table of blocks.
// goptimize decides on the file's bytes how to patch (tracer/interpose/entry_plan.h); it is done before there is a
// second thread or not at all. What is not: from the first RTLD_DEEPBIND on no pool memory is handed out and nothing is
// pinned on reuse, and memory handed out before stays at risk (docs/goptimize.md).
#pragma once

#pragma GCC visibility push(hidden)

namespace gt::opt {

// True: the first three are guarded. `leaving` is told of known blocks (reused_blocks.h, huge_pages.h) before libc gets
// them back. REQUIRES: called from a constructor.
bool guard_libc_entries(void (*leaving)(void* p)) noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
