// Reading /sys.
#include "optimizer-rt/pool/numa.h"

#include <fcntl.h>
#include <linux/mempolicy.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "optimizer-rt/pool/system_memory.h"
#include "traces/base/fd.h"

namespace gt::opt {
namespace {

template <size_t N>
bool read_line(const char* path, char (&text)[N]) {
  const int saved_errno = errno;
  const Fd file(::open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t n = file.open() ? ::read(file.get(), text, N - 1) : -1;
  text[n > 0 ? n : 0] = 0;
  errno = saved_errno;
  return n > 0;
}

}  // namespace

int node_of_pci(const char* root, const PciAddress& at) noexcept {
  char path[PATH_MAX], text[32];
  std::snprintf(path, sizeof path, "%s/sys/bus/pci/devices/%04x:%02x:%02x.%x/numa_node", root, at.domain, at.bus,
                at.device, at.function);
  if (!read_line(path, text)) return NoNode;
  char* end = nullptr;
  const long node = std::strtol(text, &end, 10);
  return end != text && node >= 0 && node < MostNodes ? static_cast<int>(node) : NoNode;
}

bool has_several_nodes(const char* root) noexcept {
  char path[PATH_MAX], text[256];
  std::snprintf(path, sizeof path, "%s/sys/devices/system/node/online", root);
  return read_line(path, text) && std::strpbrk(text, "-,") != nullptr;  // "0", "0-1", "0,2"
}

bool prefer_node(void* base, size_t bytes, int node) noexcept {
  const int saved_errno = errno;
  NodeMask mask;
  if (node != NoNode) mask.add(node);
  const int policy = node == NoNode ? MPOL_DEFAULT : MPOL_PREFERRED;
  const bool done = system_memory.bind(base, bytes, policy, node == NoNode ? nullptr : &mask) == 0;
  errno = saved_errno;
  return done;
}

}  // namespace gt::opt
