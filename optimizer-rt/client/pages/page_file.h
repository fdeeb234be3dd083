// The memory of all ranges: one file without a name, in which each has a part of its own. It says which pages anybody
// ever touched, also what is swapped out, and takes one descriptor of the program's however many ranges there are.
// Thread safety: take() from any thread, the rest as its part's owner says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "traces/base/fork_mark.h"
#include "traces/base/own_fd.h"
#include "traces/base/status.h"

namespace gt::virt {

class FilePart {
 public:
  // A new part, not mapped. In a child of fork(), and where the program closed the file's descriptor, of a new file.
  static Result<FilePart> take(size_t bytes);

  // MAP_SHARED, without access to begin with. `at`: nullptr or an address, where nothing may be. MAP_FAILED: errno.
  void* map(void* at) const;

  // The next pages at or behind `from` that were touched, before `end`, in bytes; both `end`: there are none. `view` is
  // the part's mapping: asked where the descriptor is gone, which then takes what is swapped out for untouched.
  struct Extent {
    size_t begin, end;
  };
  Extent touched(size_t from, size_t end, const std::byte* view) const;

 private:
  struct File {
    OwnFd fd;
    uint64_t used = 0;
    ForkMark mark = ForkMark::here();  // a child of fork() shares the file, and must leave it alone
  };
  FilePart(std::shared_ptr<File> file, uint64_t offset, size_t bytes)
      : file_(std::move(file)), offset_(offset), bytes_(bytes) {}
  static Extent in_core(size_t from, size_t end, const std::byte* view);

  std::shared_ptr<File> file_;
  uint64_t offset_;  // never used twice: the file only grows, and pages that are let go of are holes
  size_t bytes_;
};

}  // namespace gt::virt
