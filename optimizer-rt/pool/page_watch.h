// A thread that looks after huge_pages while blocks are watched: once in a millisecond while they fill, less often while
// nothing changes; it ends when there is nothing to see any more.
// Thread safety: all functions. A child of fork() begins without it.
#pragma once

#pragma GCC visibility push(hidden)

namespace gt::opt {

// Some block is watched. Starts the thread where there is none.
void watch_pages() noexcept;
void forget_page_watch_in_child() noexcept;

}  // namespace gt::opt

#pragma GCC visibility pop
