// A thread that looks after the huge pages of blocks that fill (pool/huge_pages.h): once in a millisecond while they
// do, less often while nothing changes. It begins with the first such block, by watch_hook, and ends when none is
// watched any more. A child of fork() begins without it.
#pragma once

#pragma GCC visibility push(hidden)

namespace gt::opt {

void watch_pages() noexcept;  // thread safety: all functions

}  // namespace gt::opt

#pragma GCC visibility pop
