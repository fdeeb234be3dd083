#include "optimizer-rt/pool/static_data.h"

#include <unistd.h>

#include <algorithm>

namespace gt::opt {

constinit StaticData static_data;

namespace {

// What the linker laid out to be made read-only.
StaticData::Range read_only_later(std::span<const ElfW(Phdr)> headers, uintptr_t bias, size_t page_bytes) {
  for (const ElfW(Phdr)& h : headers)
    if (h.p_type == PT_GNU_RELRO)
      return {bias + h.p_vaddr, (bias + h.p_vaddr + h.p_memsz + page_bytes - 1) & ~(page_bytes - 1)};
  return {};
}

}  // namespace

StaticData::Range StaticData::writable_range(std::span<const ElfW(Phdr)> headers, uintptr_t bias,
                                             size_t page_bytes) noexcept {
  const Range relro = read_only_later(headers, bias, page_bytes);
  Range largest;
  for (const ElfW(Phdr)& h : headers) {
    if (h.p_type != PT_LOAD || !(h.p_flags & PF_W)) continue;
    Range r{bias + h.p_vaddr, bias + h.p_vaddr + h.p_memsz};
    if (relro.begin < r.end && r.begin < relro.end) r.begin = std::min(relro.end, r.end);
    if (r.bytes() > largest.bytes()) largest = r;
  }
  return largest;
}

void StaticData::open() noexcept {
  const auto first = [](dl_phdr_info* main_program, size_t, void* self) {
    const std::span<const ElfW(Phdr)> headers(main_program->dlpi_phdr, main_program->dlpi_phnum);
    static_cast<StaticData*>(self)->open(
        writable_range(headers, main_program->dlpi_addr, static_cast<size_t>(::getpagesize())));
    return 1;
  };
  ::dl_iterate_phdr(first, this);
}

void StaticData::open(Range range) noexcept {
  begin_.store(range.begin, std::memory_order_relaxed);
  bytes_.store(range.bytes(), std::memory_order_relaxed);
}

void StaticData::changed(const void* at, size_t bytes) noexcept {
  const uintptr_t begin = begin_.load(std::memory_order_relaxed);
  const uintptr_t end = begin + bytes_.load(std::memory_order_relaxed);
  const auto from = reinterpret_cast<uintptr_t>(at);
  if (from < end && begin < from + std::min(bytes, UINTPTR_MAX - from)) bytes_.store(0, std::memory_order_relaxed);
}

}  // namespace gt::opt
