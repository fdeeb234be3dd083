#include "tracer/interpose/linker_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstdint>
#include <cstring>

#include "traces/base/fd.h"

namespace gt::interpose {

namespace {

constexpr std::string_view Magic = "glibc-ld.so.cache1.1";

struct CacheHeader {
  char magic[20];
  uint32_t entries;
  uint32_t string_bytes;
  uint32_t unused[5];
};
struct CacheEntry {
  int32_t flags;
  uint32_t name, path;  // offsets from the header
  uint32_t os_version;
  uint64_t hardware;
};
static_assert(sizeof(CacheHeader) == 48 && sizeof(CacheEntry) == 24);

}  // namespace

LinkerCache::LinkerCache() {
  const Fd file(::open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC));
  struct stat st {};
  if (!file.open() || fstat(file.get(), &st) != 0 || st.st_size <= 0) return;
  mapped_bytes_ = static_cast<size_t>(st.st_size);
  mapped_ = mmap(nullptr, mapped_bytes_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapped_ == MAP_FAILED) {
    mapped_ = nullptr;
    return;
  }
  const std::string_view text(static_cast<const char*>(mapped_), mapped_bytes_);
  const size_t begin = text.find(Magic);
  if (begin != std::string_view::npos) cache_ = text.substr(begin);
}

LinkerCache::~LinkerCache() {
  if (mapped_) munmap(mapped_, mapped_bytes_);
}

size_t LinkerCache::entries() const {
  CacheHeader header;
  if (cache_.size() < sizeof header) return 0;
  std::memcpy(&header, cache_.data(), sizeof header);
  return header.entries <= (cache_.size() - sizeof header) / sizeof(CacheEntry) ? header.entries : 0;
}

std::string_view LinkerCache::entry(size_t i, std::string_view& path) const {
  CacheEntry e;
  std::memcpy(&e, cache_.data() + sizeof(CacheHeader) + i * sizeof e, sizeof e);
  path = string_at(e.path);
  return string_at(e.name);
}

std::string_view LinkerCache::string_at(size_t offset) const {
  return offset < cache_.size() ? cache_.substr(offset, cache_.find('\0', offset) - offset) : std::string_view{};
}

}  // namespace gt::interpose
