#include "tracer/lib/count_tables.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gt::tracer {

__thread CallCounts* t_counts __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

const SpoolHeader* g_spool = nullptr;
CallCounts* g_tables = nullptr;  // of all rings
char g_path[256];

// Reserves the memory of a ring's table, so that a full file system is an error here and not a SIGBUS later.
bool back_with_memory(uint32_t ring) {
  const int fd = open(g_path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return false;
  const auto at = static_cast<off_t>(spool_counts_offset(*g_spool, ring));
  int err;
  do {
    err = posix_fallocate(fd, at, sizeof(CallCounts));
  } while (err == EINTR);
  close(fd);
  return err == 0;
}

}  // namespace

bool map_count_tables(const SpoolHeader& spool, const char* path) {
  if (std::strlen(path) >= sizeof g_path) return false;
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return false;
  void* const tables = mmap(nullptr, spool.ring_count * sizeof(CallCounts), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_NORESERVE, fd, static_cast<off_t>(spool_counts_offset(spool, 0)));
  close(fd);
  if (tables == MAP_FAILED) return false;
  std::strcpy(g_path, path);
  g_spool = &spool;
  g_tables = static_cast<CallCounts*>(tables);
  return true;
}

void take_counts(const Ring& ring) {
  const bool has = g_tables && back_with_memory(ring.index);
  ring.header->counts.store(has, std::memory_order_release);
  t_counts = has ? &g_tables[ring.index] : nullptr;
}

}  // namespace gt::tracer
