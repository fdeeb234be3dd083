// The table of programs, and choosing from it.
#include "microbench/suite/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

namespace gt::bench {
namespace {

constexpr BenchProgram Programs[] = {
    {"nn", "nearest neighbour", "malloc once; blocking; all places sent, all distances received"},
    {"nw", "Needleman-Wunsch alignment", "results malloc'ed and freed in each alignment; blocking"},
    {"bfs", "breadth-first search", "malloc once; large transfers, and one blocking word a level"},
    {"histogram", "histogram of a file", "mmap'ed file sent; results in an array on the stack"},
    {"spmv", "sparse matrix times vector", "std::vector; non-blocking, ordered by events"},
    {"stencil", "seven-point stencil", "calloc; whole volumes by rectangular transfers"},
    {"kmeans", "k-means of a stream", "a pool of the program's own; batches sent without blocking"},
    {"backprop", "back-propagation", "operator new; device buffers made in each call; blocking"},
    {"pathfinder", "cheapest paths", "static array sent; results seen through a mapping"},
    {"transpose", "transposition", "malloc once; blocking; as much received as sent"},
    {"sad", "sums of absolute differences", "results malloc'ed and freed for each frame; many bytes received"},
    {"hotspot", "temperatures of a chip", "aligned_alloc; non-blocking into two frames in turn, events"},
    {"sgemm", "matrix product", "malloc once; computes more than it transfers"},
    {"dgemm", "matrix product, double", "malloc once; computes more than it transfers"},
    {"nbody", "all pairs of bodies", "malloc and calloc once; computes, receives little in each step"},
    {"sw", "Smith-Waterman alignment", "malloc once; thousands of small launches in a row, little transferred"},
    {"lbm", "lattice Boltzmann", "malloc once; one transfer each way around many steps"},
};

struct PolicyNames {
  std::string_view name, title;
};
constexpr std::array<PolicyNames, RunPolicies> Policies{{{"default", "default"},
                                                         {"goptimize", "goptimize"},
                                                         {"goptimize-noprofile", "no profile"},
                                                         {"hand-pinned", "hand-pinned"},
                                                         {"remote", "remote"},
                                                         {"remote-shm", "remote, shm"}}};

std::vector<std::string> parts(const std::string& list) {
  std::vector<std::string> out;
  std::istringstream in(list);
  for (std::string part; std::getline(in, part, ',');) out.push_back(part);
  return out;
}

template <class Items, class NameOf>
Status unknown(const char* what, const std::string& name, const Items& items, NameOf name_of) {
  std::string known;
  for (const auto& item : items) known += fmt::format("{}{}", known.empty() ? "" : ", ", name_of(item));
  return {Kind::Invalid, fmt::format("there is no {} \"{}\"; there are {}", what, name, known)};
}

}  // namespace

std::string_view policy_name(RunPolicy policy) { return Policies[static_cast<size_t>(policy)].name; }
std::string_view policy_title(RunPolicy policy) { return Policies[static_cast<size_t>(policy)].title; }
std::span<const BenchProgram> bench_programs() { return Programs; }

Result<std::vector<const BenchProgram*>> choose_programs(const std::string& list) {
  const std::vector<std::string> names = parts(list);
  const auto name_of = [](const BenchProgram& p) { return p.name; };
  for (const std::string& name : names)
    if (std::ranges::find(Programs, name, name_of) == std::end(Programs))
      return unknown("program", name, Programs, name_of);
  std::vector<const BenchProgram*> out;
  for (const BenchProgram& p : Programs)
    if (names.empty() || std::ranges::find(names, p.name) != names.end()) out.push_back(&p);
  return out;
}

Result<std::vector<RunPolicy>> choose_policies(const std::string& list) {
  const std::vector<std::string> names = parts(list);
  for (const std::string& name : names)
    if (std::ranges::find(Policies, name, &PolicyNames::name) == Policies.end())
      return unknown("policy", name, Policies, [](const PolicyNames& p) { return p.name; });
  std::vector<RunPolicy> out;
  for (size_t p = 0; p < RunPolicies; ++p)
    if (std::ranges::find(names, Policies[p].name) != names.end()) out.push_back(static_cast<RunPolicy>(p));
  if (out.empty()) return Status(Kind::Invalid, "no policy given");
  return out;
}

}  // namespace gt::bench
