#include "transport/gproxy/build_turns.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <functional>

namespace gt::proxy {

Fd build_turns() { return Fd(::memfd_create("gproxy builds", MFD_CLOEXEC)); }

Fd take_build_turn(int turns, std::string_view what) {
  // A lock belongs to an open file, so each turn opens its own: threads of one worker wait for each other, too.
  Fd file(::open(fmt::format("/proc/self/fd/{}", turns).c_str(), O_RDWR | O_CLOEXEC));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(std::hash<std::string_view>()(what) >> 2);
  lock.l_len = 1;
  while (file.open() && ::fcntl(file.get(), F_OFD_SETLKW, &lock) != 0 && errno == EINTR) {
  }
  return file;
}

}  // namespace gt::proxy
