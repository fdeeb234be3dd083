// ld.so.cache: the file in which the dynamic linker finds most libraries.
//
// Format 1.1 (glibc >= 2.2): a header, entries sorted by name, strings; an older cache may precede it. Every offset is
// checked. Thread safety: const functions. Allocates nothing.
#pragma once

#include <cstddef>
#include <string_view>

namespace gt::interpose {

class LinkerCache {
 public:
  LinkerCache();
  ~LinkerCache();
  LinkerCache(const LinkerCache&) = delete;
  LinkerCache& operator=(const LinkerCache&) = delete;

  // The paths of the libraries of that file name, the preferred one first, until `visit` gives true: has one?
  template <class Visit>
  bool find(std::string_view name, Visit visit) const {
    const size_t n = entries();
    for (size_t i = 0; i < n; ++i) {
      std::string_view path;
      if (entry(i, path) == name && visit(path)) return true;
    }
    return false;
  }

 private:
  size_t entries() const;
  std::string_view entry(size_t i, std::string_view& path) const;  // its name
  std::string_view string_at(size_t offset) const;

  void* mapped_ = nullptr;
  size_t mapped_bytes_ = 0;
  std::string_view cache_;  // from the header on
};

}  // namespace gt::interpose
