// Which buffers launches bind to which arguments of kernels whose accesses are known exactly.
// Thread safety: immutable after construction. Cost: O(shapes) and one walk over the folded trace.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "analyzer/rules/finding.h"

namespace gt::analyzer {

// How the buffers of a class were made.
struct Birth {
  std::optional<int64_t> flags;  // nothing: they differ
  uint64_t bytes = 0;            // of the largest
};

struct Binding {
  model::ClassId buffer = model::NoIndex;
  const KernelFacts* kernel = nullptr;
  size_t index = 0;  // of the argument
  kernels::Access access = kernels::Access::None;
  const kernels::Arg& argument() const { return kernel->args[index]; }
};

class BoundBuffers {
 public:
  explicit BoundBuffers(const Findings& f);  // outlives this object

  const std::vector<Binding>& list() const { return list_; }
  // Nothing of buffers that are parts of others, or come from elsewhere.
  const Birth* birth(model::ClassId buffer) const;
  // Something that is not known exactly may use it: another kernel, an argument of no kernel.
  bool unclear(model::ClassId buffer) const { return unclear_.contains(buffer); }

 private:
  void add_launch(const Findings& f, const CallPlan& plan);

  std::vector<Binding> list_;
  std::map<model::ClassId, Birth> births_;
  std::set<model::ClassId> unclear_;
};

}  // namespace gt::analyzer
