// Memory of the program's whose pages are not simply there: the program's own handler for SIGSEGV or SIGBUS makes them
// present when they are touched (lazy data, write watches, page guards).
//
// A driver copies with one thread, so such a handler may be written for one fault at a time: it opens a page, or many,
// and fills them afterwards, which a second thread must not see. And the kernel does not call it: system calls on such
// memory fail (EFAULT). So who shares a copy out leaves what is not there to one thread, and who gives the program's
// memory to system calls touches it before.
// Thread safety: all functions. They keep errno and allocate nothing.
#pragma once

#include <cstddef>

namespace gt::staging {

constexpr size_t FaultPage = 4096;

// There is a handler; without one, touching what cannot be touched ends the process anyway. Cost: two system calls.
bool faults_are_handled() noexcept;

// Whether nothing of the program's runs when the range is touched from now on, as long as the program leaves it alone:
// what can be made present without it is made so. (Linux 5.14; before, the answer is no.) Cost: one system call, and
// the pages' faults.
bool is_readable(const void* p, size_t bytes) noexcept;
bool is_writable(void* p, size_t bytes) noexcept;

// Copies out of the program's memory what is there. Where the program has a handler, that makes the rest present; where
// it has none, it gave memory that is gone (freed while a command uses it): zeros stand for that, as good as any bytes.
void copy_from_program(void* to, const void* from, size_t bytes) noexcept;

// Reads a byte of each page: faults are here and now.
void touch(const void* p, size_t bytes) noexcept;

}  // namespace gt::staging
