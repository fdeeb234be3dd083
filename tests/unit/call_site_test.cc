// Call sites of this very program, whose functions and lines are known here.
#include "analyzer/code/call_site.h"

#include <doctest/doctest.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

using namespace gt;
using analyzer::CallKind;

namespace {

const void* g_address = nullptr;
volatile int g_work = 0;

[[gnu::noinline]] void remember() {
  g_address = __builtin_return_address(0);
  g_work = g_work + 1;
}

struct Outer {
  [[gnu::noinline]] static int call_line() {
    const int line = __LINE__ + 1;
    remember();
    g_work = g_work + 2;
    return line;
  }
  [[gnu::always_inline]] static inline void inlined() {
    remember();
    g_work = g_work + 3;
  }
  [[gnu::noinline]] static void with_inlined() {
    inlined();
    g_work = g_work + 4;
  }
};

struct Own {
  uint64_t bias = 0;
  std::string build_id;
};

int find_own(dl_phdr_info* info, size_t, void* out) {
  auto& own = *static_cast<Own*>(out);
  own.bias = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_NOTE) continue;
    const auto* note = reinterpret_cast<const char*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    const char* end = note + info->dlpi_phdr[i].p_memsz;
    while (note + sizeof(ElfW(Nhdr)) <= end) {
      const auto* h = reinterpret_cast<const ElfW(Nhdr)*>(note);
      const auto* name = note + sizeof *h;
      const auto* desc = reinterpret_cast<const unsigned char*>(name + ((h->n_namesz + 3) & ~3u));
      if (h->n_type == NT_GNU_BUILD_ID && std::strcmp(name, "GNU") == 0) {
        for (unsigned b = 0; b < h->n_descsz; ++b) {
          char hex[4];
          std::snprintf(hex, sizeof hex, "%02x", desc[b]);
          own.build_id += hex;
        }
      }
      note = reinterpret_cast<const char*>(desc) + ((h->n_descsz + 3) & ~3u);
    }
  }
  return 1;  // the program itself comes first
}

model::Module own_module(uint64_t& bias) {
  Own own;
  ::dl_iterate_phdr(find_own, &own);
  bias = own.bias;
  char path[4096];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
  model::Module m;
  m.path.assign(path, static_cast<size_t>(n > 0 ? n : 0));
  m.build_id = own.build_id;
  return m;
}

uint64_t offset_of(const void* address, uint64_t bias) {
  return reinterpret_cast<uint64_t>(address) - bias;
}

}  // namespace

TEST_CASE("function, line and call instruction of a return address") {
  uint64_t bias = 0;
  const model::Module module = own_module(bias);
  const int line = Outer::call_line();
  analyzer::CallSites sites;
  const auto site = sites.find(module, offset_of(g_address, bias));
  CHECK(site.problem.empty());
  REQUIRE(!site.frames.empty());
  CHECK(site.frames[0].function.find("call_line") != std::string::npos);
  CHECK(site.frames[0].file.ends_with("call_site_test.cc"));
  CHECK(site.frames[0].line == line);
  CHECK(site.call == CallKind::Direct);
  CHECK(site.target.find("remember") != std::string::npos);
  CHECK(site.place().find("(call_site_test.cc:" + std::to_string(line) + ")") != std::string::npos);
}

TEST_CASE("inlined frames come before the function that holds them") {
  uint64_t bias = 0;
  const model::Module module = own_module(bias);
  Outer::with_inlined();
  analyzer::CallSites sites;
  const auto site = sites.find(module, offset_of(g_address, bias));
  REQUIRE(site.frames.size() == 2);
  CHECK(site.frames[0].function.find("inlined") != std::string::npos);
  CHECK(site.frames[1].function.find("with_inlined") != std::string::npos);
  CHECK(site.frames[1].line > site.frames[0].line);
}

TEST_CASE("an address that follows no call is said to be wrong") {
  uint64_t bias = 0;
  const model::Module module = own_module(bias);
  analyzer::CallSites sites;
  Outer::call_line();
  const uint64_t offset = offset_of(g_address, bias);
  int wrong = 0;
  for (uint64_t d = 1; d < 5; ++d)
    wrong += sites.find(module, offset - d).call == CallKind::NotACall;
  CHECK(wrong >= 3);
  CHECK(sites.find(module, 0).call == CallKind::NotACall);
  CHECK(sites.find(module, ~uint64_t{0}).call == CallKind::NotACall);
}

TEST_CASE("a changed, a missing and a foreign file") {
  uint64_t bias = 0;
  model::Module module = own_module(bias);
  Outer::call_line();
  const uint64_t offset = offset_of(g_address, bias);
  analyzer::CallSites sites;
  module.build_id = "00";
  CHECK(sites.find(module, offset).problem.find("changed") != std::string::npos);
  CHECK(sites.find(module, offset).frames.empty());
  module.path = "/nonexistent/lib.so";
  CHECK(sites.find(module, 0x1234).problem.find("gone") != std::string::npos);
  CHECK(sites.find(module, 0x1234).place() == "lib.so+0x1234");
  char path[] = "/tmp/gtrace-foreign-XXXXXX";
  const int fd = ::mkstemp(path);
  REQUIRE(fd >= 0);
  CHECK(::write(fd,
                "\x7f"
                "ELF and then nothing",
                21) == 21);
  ::close(fd);
  module.path = path;
  CHECK(!sites.find(module, 0x10).problem.empty());
  ::unlink(path);
}
