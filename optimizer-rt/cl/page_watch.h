// A thread that looks after the huge pages of blocks that fill (pool/huge_pages.h): once in a millisecond while they
// do, less often while nothing changes; and gives back what was kept for too long (pool/kept_blocks.h). It begins with
// the first such block, by watch_hook, and ends when none is watched or kept any more. A child of fork() begins without
// it.
#pragma once

#pragma GCC visibility push(hidden)

namespace gt::opt {

bool watch_pages() noexcept;  // thread safety: all functions. False: there is no thread to be had

}  // namespace gt::opt

#pragma GCC visibility pop
