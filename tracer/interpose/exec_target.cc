#include "tracer/interpose/exec_target.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

namespace gt::interpose {

namespace {

constexpr unsigned char NativeClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
#if defined(__x86_64__)
constexpr unsigned NativeMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr unsigned NativeMachine = EM_AARCH64;
#else
#error "name this processor"
#endif

// The dynamic linker ignores LD_PRELOAD for a program with another user's or group's rights.
bool changes_rights(const struct stat& file) {
  const bool user = (file.st_mode & S_ISUID) && file.st_uid != getuid();
  const bool group = (file.st_mode & S_ISGID) && (file.st_mode & S_IXGRP) && file.st_gid != getgid();
  return user || group;
}

bool names_a_linker(int fd, const ElfW(Ehdr) & header) {
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) part;
    const auto at = static_cast<off_t>(header.e_phoff + uint64_t{i} * header.e_phentsize);
    if (pread(fd, &part, sizeof part, at) != sizeof part) return true;  // the kernel will refuse it
    if (part.p_type == PT_INTERP) return true;
  }
  return false;
}

// Started by its own name, to run the program that is its argument.
bool is_dynamic_linker(const char* path) {
  const char* slash = std::strrchr(path, '/');
  const char* name = slash ? slash + 1 : path;
  return std::strncmp(name, "ld-linux", 8) == 0 || std::strncmp(name, "ld.so", 5) == 0;
}

const char* obstacle_of(int fd) {
  struct stat file {};
  ElfW(Ehdr) header;
  if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode)) return nullptr;
  if (pread(fd, &header, sizeof header, 0) != sizeof header || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return nullptr;  // a script: its interpreter is what starts next
  if (header.e_ident[EI_CLASS] != NativeClass || header.e_machine != NativeMachine) return "for another processor";
  if (!names_a_linker(fd, header)) return "a static executable";
  return changes_rights(file) ? "setuid or setgid" : nullptr;
}

}  // namespace

const char* obstacle_in(int directory, const char* path) {
  if (!path || is_dynamic_linker(path)) return nullptr;
  const int saved_errno = errno;
  const bool itself = path[0] == 0 && directory != AT_FDCWD;
  const int fd = itself ? directory : openat(directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const char* obstacle = fd < 0 ? nullptr : obstacle_of(fd);
  if (fd >= 0 && !itself) close(fd);
  errno = saved_errno;
  return obstacle;
}

const char* obstacle_in_path(const char* name) {
  if (!name || std::strchr(name, '/')) return obstacle_in(AT_FDCWD, name);
  const char* list = getenv("PATH");
  const size_t length = std::strlen(name);
  while (list && *list) {
    const size_t n = std::strcspn(list, ":");
    char path[PATH_MAX];
    if (n + 1 + length < sizeof path) {
      std::memcpy(path, list, n);
      path[n] = '/';
      std::memcpy(path + n + 1, name, length + 1);
      if (access(n ? path : name, X_OK) == 0) return obstacle_in(AT_FDCWD, n ? path : name);
    }
    list += n;
    if (*list == ':') ++list;
  }
  return nullptr;
}

}  // namespace gt::interpose
