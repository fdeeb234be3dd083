// The static data of the main program: what of it may be pinned.
#include "optimizer-rt/pool/static_data.h"

#include <doctest/doctest.h>

#include <memory>
#include <vector>

using namespace gt::opt;

namespace {

constexpr size_t Page = 4096;
constexpr uintptr_t Bias = 0x555500000000;

ElfW(Phdr) header(ElfW(Word) type, ElfW(Word) flags, uintptr_t at, size_t bytes) {
  ElfW(Phdr) h{};
  h.p_type = type;
  h.p_flags = flags;
  h.p_vaddr = at;
  h.p_memsz = bytes;
  return h;
}

ElfW(Phdr) writable(uintptr_t at, size_t bytes) { return header(PT_LOAD, PF_R | PF_W, at, bytes); }
ElfW(Phdr) relro(uintptr_t at, size_t bytes) { return header(PT_GNU_RELRO, PF_R, at, bytes); }

using Headers = std::vector<ElfW(Phdr)>;
const Headers Code = {header(PT_PHDR, PF_R, 0x40, 0x200), header(PT_LOAD, PF_R, 0, 0x600),
                      header(PT_LOAD, PF_R | PF_X, 0x1000, 0x100000)};

StaticData::Range range_of(const Headers& more) {
  Headers all = Code;
  all.insert(all.end(), more.begin(), more.end());
  return StaticData::writable_range(all, Bias, Page);
}

int g_data[100] = {1};
int g_bss[100];
const int g_constant[100] = {1};
const int* const g_relocated[100] = {g_constant};

}  // namespace

TEST_CASE("one writable segment behind its read-only head") {
  const auto r = range_of({writable(0x102de0, 0x500000), relro(0x102de0, 0x220)});
  CHECK(r.begin == Bias + 0x103000);
  CHECK(r.end == Bias + 0x602de0);
}

TEST_CASE("no read-only head, two segments, nothing writable") {
  CHECK(range_of({writable(0x102de0, 0x500000)}).begin == Bias + 0x102de0);
  const auto two = range_of({writable(0x102000, 0x1000), writable(0x104010, 0x900), relro(0x102000, 0x1000)});
  CHECK(two.begin == Bias + 0x104010);
  CHECK(two.end == Bias + 0x104910);
  CHECK(range_of({}).bytes() == 0);
  CHECK(range_of({writable(0x102000, 0x100), relro(0x102000, 0x1000)}).bytes() == 0);
}

TEST_CASE("what is held, until something is mapped over a part of it") {
  StaticData data;
  const auto holds = [&](uintptr_t p, size_t bytes) { return data.holds(reinterpret_cast<void*>(p), bytes); };
  CHECK_FALSE(holds(0, 0));
  data.open({0x1000, 0x3000});
  CHECK(holds(0x1000, 0x2000));
  CHECK(holds(0x2fff, 1));
  CHECK_FALSE(holds(0x3000, 0));
  CHECK_FALSE(holds(0xfff, 2));
  CHECK_FALSE(holds(0x2fff, 2));
  CHECK_FALSE(holds(0x1000, SIZE_MAX));
  data.changed(reinterpret_cast<void*>(0x3000), 0x1000);
  data.changed(reinterpret_cast<void*>(0x0), 0x1000);
  CHECK(holds(0x1000, 0x2000));
  data.changed(reinterpret_cast<void*>(0x0), SIZE_MAX);
  CHECK_FALSE(holds(0x1000, 1));
}

TEST_CASE("this program's own") {
  StaticData data;
  data.open();
  CHECK(data.holds(g_data, sizeof g_data));
  CHECK(data.holds(g_bss, sizeof g_bss));
  CHECK_FALSE(data.holds(g_constant, sizeof g_constant));
  CHECK_FALSE(data.holds(g_relocated, sizeof g_relocated));
  int local = 0;
  CHECK_FALSE(data.holds(&local, sizeof local));
  CHECK_FALSE(data.holds(std::make_unique<int>().get(), sizeof(int)));
  CHECK_FALSE(data.holds(reinterpret_cast<void*>(&dl_iterate_phdr), 1));
}
