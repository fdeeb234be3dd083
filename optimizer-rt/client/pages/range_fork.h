// What fork() does to ranges: the child gets a private copy of each, made before it exists, so that it has the bytes of
// the moment. The memory of a range is a file's, which the child would write into. Thread safety: any thread.
#pragma once

namespace gt::virt {

void watch_forks();  // from the first range on

}  // namespace gt::virt
