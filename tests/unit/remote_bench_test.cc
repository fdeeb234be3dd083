// What gmicrobench remote makes of its times.
#include <doctest/doctest.h>

#include "microbench/report/remote_report.h"

namespace gt::bench {
namespace {

constexpr uint64_t MiB = uint64_t{1} << 20;

void set(Times& times, Way way, Pattern pattern, uint64_t bytes, double ns) {
  times[static_cast<size_t>(way)][static_cast<size_t>(pattern)][bytes] = {ns, ns, ns, 3, 0};
}

RemoteResult example() {
  RemoteResult r;
  r.name = "a device";
  r.has_native = true;
  r.routes.push_back({"tcp://there:1", "a bare socket", {}, {}});
  set(r.native, Way::ToDevice, Pattern::Window, MiB, 100'000);
  set(r.routes[0].link, Way::ToDevice, Pattern::Window, MiB, 900'000);
  set(r.routes[0].remote, Way::ToDevice, Pattern::Window, MiB, 1'000'000);
  return r;
}

TEST_CASE("a share is of the slower of the link and the device") {
  RemoteResult r = example();
  const auto share = [&] { return share_of(r, r.routes[0], Way::ToDevice, Pattern::Window, MiB); };
  CHECK(*share() == doctest::Approx(0.9));
  set(r.native, Way::ToDevice, Pattern::Window, MiB, 950'000);
  CHECK(*share() == doctest::Approx(0.95));
  CHECK_FALSE(share_of(r, r.routes[0], Way::ToHost, Pattern::Window, MiB).has_value());
  r.routes[0].link = {};
  CHECK_FALSE(share().has_value());
}

TEST_CASE("what was not measured is a dash, not a number") {
  RemoteResult r = example();
  CHECK(remote_table(r).find("90 %") != std::string::npos);
  r.native = {};
  r.has_native = false;
  CHECK(remote_table(r).find('%') == std::string::npos);
  CHECK(remote_json(r).find("\"native\": null") != std::string::npos);
}

TEST_CASE("a window has 32 transfers, and two of the largest") {
  CHECK(window_of(4096) == 32);
  CHECK(window_of(MostWindowBytes / 32) == 32);
  CHECK(window_of(MostWindowBytes / 4) == 4);
  CHECK(window_of(MostWindowBytes) == 2);
}

TEST_CASE("a carrier that loses bytes is found out") {
  Bytes memory(10'000), device(memory.size());
  bool lose = false;
  Carrier carrier{"memory", [&](Way way, Pattern, uint64_t bytes, std::span<uint8_t> host) {
                    std::copy_n(way == Way::ToDevice ? host.begin() : std::span(device).begin(), bytes,
                                way == Way::ToDevice ? std::span(device).begin() : host.begin());
                    if (lose) device[9'999] ^= 1;
                    return Status();
                  }};
  CHECK(check_contents(carrier, memory).ok());
  lose = true;
  CHECK_FALSE(check_contents(carrier, memory).ok());
}

}  // namespace
}  // namespace gt::bench
