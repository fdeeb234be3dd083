// The parts of interposition that need no preloading: boot arena, names, modules, the real library.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tracer/interpose/boot_arena.h"
#include "tracer/interpose/entry_paths.h"
#include "tracer/interpose/linker_cache.h"
#include "tracer/interpose/loaded_modules.h"
#include "tracer/interpose/loaded_symbols.h"
#include "tracer/interpose/opencl_requests.h"
#include "tracer/interpose/real_library.h"
#include "traces/base/reentry.h"

using namespace gt::interpose;

TEST_CASE("the boot arena gives zeroed, aligned, recognizable memory of any size") {
  for (size_t size :
       {size_t{0}, size_t{1}, size_t{100}, BootChunkBytes / 2, BootChunkBytes, size_t{5} << 20}) {
    for (size_t align : {size_t{0}, size_t{16}, size_t{64}, size_t{4096}, size_t{1} << 17}) {
      auto* p = static_cast<unsigned char*>(boot_allocate(size, align));
      REQUIRE(p != nullptr);
      CHECK(boot_owns(p));
      CHECK(boot_size(p) == size);
      CHECK(reinterpret_cast<uintptr_t>(p) % (align ? align : 16) == 0);
      if (size) CHECK((boot_owns(p + size - 1) && p[0] == 0 && p[size - 1] == 0));
      std::memset(p, 0xff, size);
    }
  }
  int local = 0;
  CHECK(!boot_owns(&local));
  CHECK(!boot_owns(nullptr));
  CHECK(boot_allocate(SIZE_MAX, 16) == nullptr);
  CHECK(boot_allocate(SIZE_MAX / 2, 16) == nullptr);
}

TEST_CASE("threads get different blocks from the boot arena") {
  constexpr int Threads = 4, Blocks = 2000;
  std::vector<std::vector<uint32_t*>> blocks(Threads);
  std::vector<std::thread> threads;
  for (int t = 0; t < Threads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < Blocks; ++i) {
        auto* p = static_cast<uint32_t*>(boot_allocate(100, 0));
        for (int k = 0; k < 25; ++k) p[k] = static_cast<uint32_t>(t * Blocks + i);
        blocks[static_cast<size_t>(t)].push_back(p);
      }
    });
  }
  for (auto& t : threads) t.join();
  int damaged = 0;
  for (int t = 0; t < Threads; ++t) {
    for (int i = 0; i < Blocks; ++i) {
      for (int k = 0; k < 25; ++k) {
        damaged += blocks[static_cast<size_t>(t)][static_cast<size_t>(i)][k] !=
                   static_cast<uint32_t>(t * Blocks + i);
      }
    }
  }
  CHECK(damaged == 0);
}

TEST_CASE("names that mean the OpenCL library") {
  for (const char* name : {"libOpenCL.so", "libOpenCL.so.1", "libOpenCL.so.1.0.0",
                           "/opt/x/libOpenCL.so.1", "./libOpenCL.so"}) {
    CHECK_MESSAGE(is_opencl_name(name), name);
  }
  for (const char* name : {"libOpenCL", "libOpenCL.software", "libIntelOpenCL.so",
                           "libOpenCL.so.1/x", "", "libOpenCL.a"}) {
    CHECK_MESSAGE(!is_opencl_name(name), name);
  }
}

TEST_CASE("a driver's request for libOpenCL is its own") {
  const auto passes = [](const char* name) { return dlopen_for(name, RTLD_NOW) == dlopen_for("libc.so.6", RTLD_NOW); };
  CHECK(passes("libOpenCL"));
  CHECK(!passes("libOpenCL.so.1"));
  const gt::Reentry inside;
  CHECK(passes("libOpenCL.so.1"));
}

TEST_CASE("the program's requests for deep binding are told, a driver's are not") {
  static int told = 0;
  before_deep_binding = [] { ++told; };
  dlopen_for("libc.so.6", RTLD_NOW);
  CHECK(told == 0);
  dlopen_for("libc.so.6", RTLD_NOW | RTLD_DEEPBIND);
  CHECK(told == 1);
  {
    const gt::Reentry inside;
    dlopen_for("libc.so.6", RTLD_NOW | RTLD_DEEPBIND);
  }
  CHECK(told == 1);
  before_deep_binding = nullptr;
}

TEST_CASE("modules: this program is among them, and its code lies inside") {
  int visits = 0, holders = 0;
  const auto here = reinterpret_cast<uint64_t>(&boot_allocate);
  for_each_module([&](const ModuleInfo& m) {
    ++visits;
    CHECK(m.base < m.end);
    if (m.base <= here && here < m.end) {
      ++holders;
      CHECK(std::string(m.path).find("interpose_test") != std::string::npos);
    }
  });
  CHECK(visits > 2);
  CHECK(holders == 1);
}

TEST_CASE("the real library opens by path, and misses what it does not have") {
  CHECK(std::string(real_library_path()).empty());
  REQUIRE(open_real_library());
  CHECK(real_library_path()[0] == '/');
  CHECK(real_symbol("clGetPlatformIDs") != nullptr);
  CHECK(real_symbol("clNoSuchFunction") == nullptr);
  CHECK(gt::program_runs());
}

TEST_CASE("symbols of loaded modules are found where the dynamic linker finds them") {
  for (const char* name : {"malloc", "dlsym", "dlopen", "pthread_create", "_ZSt15get_new_handlerv", "cos"}) {
    Dl_info info;
    link_map* module = nullptr;
    void* const found = dlsym(RTLD_NEXT, name);
    REQUIRE(dladdr1(found, &info, reinterpret_cast<void**>(&module), RTLD_DL_LINKMAP) != 0);
    CHECK(defines(*module, name));
    if (std::strcmp(name, "cos") != 0) CHECK(definition(*module, name) == found);  // chosen when the program starts
  }
  for (const link_map* m = first_module(); m; m = m->l_next) {
    CHECK(!defines(*m, "no_such_function"));
    CHECK(!defines(*m, ""));
  }
  REQUIRE(own_module() != nullptr);
  CHECK(own_module() == first_module());
  CHECK(needs(*own_module(), [](const char* library) { return std::strcmp(library, "libc.so.6") == 0; }));
  CHECK(!needs(*own_module(), is_opencl_name));
}

TEST_CASE("modules are found without the dynamic linker's lock as with it") {
  std::vector<std::string> locked, unlocked;
  const auto text = [](const ModuleInfo& m) {
    return std::to_string(m.base) + " " + std::to_string(m.end) + " " + m.path + " " + m.build_id;
  };
  for_each_module([&](const ModuleInfo& m) { locked.push_back(text(m)); });
  const bool known = for_each_module_unlocked([&](const ModuleInfo& m) { unlocked.push_back(text(m)); });
  CHECK(known == modules_are_found_unlocked());
  if (known) CHECK(unlocked == locked);
  std::string libc;
  if (for_module_of(reinterpret_cast<const void*>(&std::strtol), [&](const ModuleInfo& m) { libc = m.path; }))
    CHECK(libc.find("libc.so") != std::string::npos);
}

TEST_CASE("the linker's cache holds the C library") {
  const LinkerCache cache;
  CHECK(cache.find("libc.so.6", [](std::string_view path) { return path.find("libc.so.6") != path.npos; }));
  CHECK(!cache.find("libno_such.so.1", [](std::string_view) { return true; }));
}
