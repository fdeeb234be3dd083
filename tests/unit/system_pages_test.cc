// Where huge pages are asked for: by what the system says of itself.
#include "optimizer-rt/goptimize/system_pages.h"

#include "tests/unit/planted_system.h"

using namespace gt::opt;

namespace {

SystemPages where(const std::string& enabled, const std::string& release) {
  PlantedSystem system("");
  system.put("/sys/kernel/mm/transparent_hugepage/enabled", enabled).put("/proc/sys/kernel/osrelease", release);
  return system_pages(system.root);
}

}  // namespace

TEST_CASE("to who asks, to everybody, to nobody") {
  CHECK(where("always [madvise] never\n", "6.1.0-18-amd64\n") == SystemPages::OnRequest);
  CHECK(where("[always] madvise never\n", "6.1.0-18-amd64\n") == SystemPages::Always);
  CHECK(where("always madvise [never]\n", "6.1.0-18-amd64\n") == SystemPages::Never);
  CHECK(system_pages("/nowhere") == SystemPages::Never);
}

TEST_CASE("not where children copy whole huge pages") {
  CHECK(where("always [madvise] never\n", "5.8.0\n") == SystemPages::OnRequest);
  CHECK(where("always [madvise] never\n", "5.10.0-28-amd64\n") == SystemPages::OnRequest);
  CHECK(where("always [madvise] never\n", "5.4.0-187-generic\n") == SystemPages::Never);
  CHECK(where("always [madvise] never\n", "4.18.0-553.el8_10.x86_64\n") == SystemPages::Never);
  CHECK(where("always [madvise] never\n", "unknown\n") == SystemPages::Never);
}
