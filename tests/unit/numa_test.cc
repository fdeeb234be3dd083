// Where devices are, by a planted /sys and planted drivers; what the system is asked for.
#include "optimizer-rt/pool/numa.h"

#include <doctest/doctest.h>
#include <linux/mempolicy.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "optimizer-rt/cl/pci_address.h"
#include "optimizer-rt/pool/pinned_pool.h"
#include "optimizer-rt/pool/system_memory.h"

using namespace gt::opt;

namespace {

struct Sys {
  std::filesystem::path root;
  Sys() {
    char name[] = "/tmp/numa_test.XXXXXX";
    REQUIRE(::mkdtemp(name));
    root = name;
  }
  ~Sys() { std::filesystem::remove_all(root); }
  void plant(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
};

// What a driver answers, in bytes.
std::map<cl_device_info, std::string> answers;
cl_int CL_API_CALL planted_info(cl_device_id, cl_device_info what, size_t size, void* value, size_t* size_out) {
  const auto it = answers.find(what);
  if (it == answers.end() || it->second.size() > size) return CL_INVALID_VALUE;
  std::memcpy(value, it->second.data(), it->second.size());
  if (size_out) *size_out = it->second.size();
  return CL_SUCCESS;
}
std::string words(std::vector<cl_uint> w) {
  return {reinterpret_cast<const char*>(w.data()), w.size() * sizeof(cl_uint)};
}
std::string address() {
  PciAddress at;
  if (!pci_address(planted_info, nullptr, &at)) return "unknown";
  char text[64];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", at.domain, at.bus, at.device, at.function);
  return text;
}

struct Bound {
  void* at;
  size_t bytes;
  int policy;
  unsigned long first_word;
};
std::vector<Bound> bound;
int bind_answer = 0;
int planted_bind(void* at, size_t bytes, int policy, const NodeMask* mask) {
  bound.push_back({at, bytes, policy, mask ? mask->words[0] : 0});
  return bind_answer;
}

}  // namespace

TEST_CASE("a device's node is what /sys says of its place") {
  Sys sys;
  sys.plant("sys/bus/pci/devices/0000:3b:00.0/numa_node", "1\n");
  sys.plant("sys/bus/pci/devices/0001:af:1f.7/numa_node", "0\n");
  sys.plant("sys/bus/pci/devices/0000:01:00.0/numa_node", "-1\n");
  sys.plant("sys/bus/pci/devices/0000:02:00.0/numa_node", "many\n");
  sys.plant("sys/bus/pci/devices/0000:03:00.0/numa_node", "99999\n");
  const auto node = [&](PciAddress at) { return node_of_pci(sys.root.c_str(), at); };
  CHECK(node({0, 0x3b, 0, 0}) == 1);
  CHECK(node({1, 0xaf, 0x1f, 7}) == 0);
  for (const unsigned bus : {1u, 2u, 3u, 4u}) CHECK(node({0, bus, 0, 0}) == NoNode);
}

TEST_CASE("machines with one node and with several") {
  for (const auto& [text, several] : std::map<std::string, bool>{{"0\n", false}, {"0-1\n", true}, {"0,2\n", true}}) {
    Sys sys;
    sys.plant("sys/devices/system/node/online", text);
    CHECK(has_several_nodes(sys.root.c_str()) == several);
  }
  CHECK_FALSE(has_several_nodes("/nonexistent"));
}

TEST_CASE("a device's place by the Khronos extension, NVIDIA's and AMD's queries") {
  answers = {};
  CHECK(address() == "unknown");
  answers = {{0x4037, words({1, 0, 0, 0, 0, 0x01023b00})}};  // bytes 21, 22, 23: bus, device, function
  CHECK(address() == "0000:3b:02.1");
  answers = {{0x4037, words({2, 0, 0, 0, 0, 0x01023b00})}};
  CHECK(address() == "unknown");
  answers = {{0x4008, words({0x3b})}, {0x4009, words({0x11})}};
  CHECK(address() == "0000:3b:02.1");
  answers[0x400A] = words({5});
  CHECK(address() == "0005:3b:02.1");
  answers[0x410F] = words({1, 0xaf, 0x1f, 7});
  CHECK(address() == "0001:af:1f.7");
  answers = {{0x410F, words({1, 0xaf})}};  // a driver that says too little
  CHECK(address() == "unknown");
}

TEST_CASE("a pool asks for its whole range, once opened; nothing depends on the answer") {
  const SystemMemory real = system_memory;
  system_memory.bind = planted_bind;
  bound.clear();
  auto pool = std::make_unique<PinnedPool>();
  CHECK_FALSE(pool->prefer_node(1));
  PoolOptions o;
  o.reserve_bytes = o.limit_bytes = o.cache_bytes = size_t{64} << 20;
  REQUIRE(pool->open(o));
  CHECK(bound.empty());
  CHECK(pool->prefer_node(3));
  REQUIRE(bound.size() == 1);
  CHECK(bound[0].bytes == size_t{64} << 20);
  CHECK(bound[0].policy == MPOL_PREFERRED);
  CHECK(bound[0].first_word == 8);
  CHECK(pool->owns(bound[0].at));
  CHECK(pool->prefer_node(NoNode));
  CHECK(bound[1].policy == MPOL_DEFAULT);
  bind_answer = -1;
  CHECK_FALSE(pool->prefer_node(3));
  CHECK(pool->allocate(1 << 20, 0, 0) != nullptr);
  std::vector<char> memory(12 << 20);
  PinnedPool adopted;
  REQUIRE(adopted.open_over(memory.data(), memory.size(), 5));
  CHECK_FALSE(adopted.prefer_node(3));
  CHECK(bound.size() == 3);
  system_memory = real;
}

TEST_CASE("the real system takes the request, or refuses it without harm") {
  auto pool = std::make_unique<PinnedPool>();
  PoolOptions o;
  o.reserve_bytes = o.limit_bytes = o.cache_bytes = size_t{64} << 20;
  REQUIRE(pool->open(o));
  pool->prefer_node(0);
  auto* p = static_cast<char*>(pool->allocate(8 << 20, 0, 0));
  REQUIRE(p);
  std::memset(p, 1, 8 << 20);
  CHECK(p[(8 << 20) - 1] == 1);
}
