// libc's mmap, mremap and munmap for alloc_hooks.h, behind a client that has a word in them because its memory, or what
// it has done to the program's, is concerned.
//
//   struct Client {
//     // All or none. Before a mapping of somebody's takes the place of what is there (MAP_FIXED), and afterwards.
//     static void replacing(void* at, size_t bytes, bool program);
//     static void replaced(void* at, size_t bytes);
//     // In place of munmap and mremap, where they are about the client's memory; false: libc's turn.
//     static bool unmaps(void* at, size_t bytes, bool program, int* result);
//     static bool remaps(void* old, size_t old_bytes, size_t bytes, int flags, void* to, bool program, void** result);
//   };
//
// `program`: its own code calls. They are asked whoever runs: handlers of the program's may on a thread of ours.
#pragma once

#include <sys/mman.h>

#include <cstddef>

#include "tracer/interpose/libc_alloc.h"

namespace gt::interpose {

template <class Client>
struct MappingCalls {
  static constexpr bool Asks = requires { Client::replaced(nullptr, size_t{}); };

  static void* mmap(void* at, size_t size, int prot, int flags, int fd, off_t offset, bool program) noexcept {
    if constexpr (Asks) {
      if (__builtin_expect((flags & MAP_FIXED) != 0, 0))
        return replace(at, size, program, [=] { return libc.mmap(at, size, prot, flags, fd, offset); });
    }
    (void)program;
    return libc.mmap(at, size, prot, flags, fd, offset);
  }

  static void* mremap(void* old, size_t old_size, size_t size, int flags, void* to, bool program) noexcept {
    if constexpr (Asks) {
      void* p = nullptr;
      if (Client::remaps(old, old_size, size, flags, to, program, &p)) return p;
      if (flags & MREMAP_FIXED)
        return replace(to, size, program, [=] { return libc.mremap(old, old_size, size, flags, to); });
    }
    (void)program;
    return libc.mremap(old, old_size, size, flags, to);
  }

  static int munmap(void* at, size_t size, bool program) noexcept {
    if constexpr (Asks) {
      int err = 0;
      if (Client::unmaps(at, size, program, &err)) return err;
    }
    (void)program;
    return libc.munmap(at, size);
  }

 private:
  template <class Call>
  static void* replace(void* at, size_t size, bool program, Call call) noexcept {
    Client::replacing(at, size, program);
    void* const p = call();
    if (p != MAP_FAILED) Client::replaced(at, size);
    return p;
  }
};

}  // namespace gt::interpose
