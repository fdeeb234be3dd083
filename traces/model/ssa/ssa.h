// SSA over the folded trace: which version of each object every call uses, and which it makes.
//
// Calls are walked in the order of their streams: all memory streams, then the OpenCL streams,
// thread by thread. Each definition gives its variable the next version; version 0 is what was
// there before the first definition. A loop's head carries φ(before, around) for every variable
// that its body reads before writing and writes: `before` comes from outside in the first
// iteration, `around` from the end of the previous one in all others.
//
//   b0.1 = create                          a family (object_names.h) is one variable, as arrays are
//   in array SSA: loop ×1000 {                           defining one member makes a new version of
//   the whole.
//     b0.2 = φ(b0.1, b0.3)
//     b0.3 = kernel(b0.2)
//   }
//   read(b0.3)
//
// Memory streams are not interleaved with OpenCL streams here: a segment's version in an OpenCL
// call is exact for memory that is not reallocated while the program uses it, and names the last
// allocation otherwise. Margiolas & O'Boyle, section 4. Cost: linear in the folded trace times the
// depth of loops. Thread safety: immutable after construction.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "traces/model/ssa/object_names.h"

namespace gt::model {

struct SsaRef {
  VariableId variable = NoIndex;
  uint32_t version = 0;
  uint32_t arg = 0;  // index into the shape's args; NoIndex in a Run
};
struct SsaPhi {
  VariableId variable = NoIndex;
  uint32_t result = 0, before = 0, around = 0;
};
struct NodeSsa {
  std::vector<SsaRef> uses,
      defs;                  // Call: in the order of arguments. Run: what any of its calls touches
  std::vector<SsaPhi> phis;  // Loop
};

std::string version_text(const std::string& name, uint32_t version);  // "b0.3", "k0:vadd.1"

// One node at the top of a stream, and the versions of it and of all nodes below it, in pre-order.
using SsaVisitor = std::function<void(size_t stream, const Node& node, std::span<NodeSsa> versions)>;

// What Ssa keeps, shown node by node and then forgotten: for traces of very many nodes. `names` are the trace's;
// `effects` as below.
void visit_ssa(const Trace& trace, const ObjectNames& names, const SsaVisitor& visit,
               const std::vector<std::vector<Effect>>& effects = {});

class Ssa {
 public:
  // `effects`: instead of those that the trace's arguments have, parallel to its shapes and their
  // arguments; may be empty. REQUIRES: a checked trace that outlives this object.
  explicit Ssa(const Trace& trace, const std::vector<std::vector<Effect>>& effects = {});

  const ObjectNames& names() const { return names_; }
  // `index`: position of the node in its stream's tree, in pre-order.
  const NodeSsa& at(size_t stream, size_t index) const { return nodes_[stream][index]; }
  size_t node_count(size_t stream) const { return nodes_[stream].size(); }

  std::string text(VariableId variable, uint32_t version) const;  // as version_text
  // The reference of a call: "b0.3", or "b2.1[i]" for a member of a family.
  std::string text(const SsaRef& ref, const Node& node, size_t depth) const;

 private:
  const Trace& trace_;
  ObjectNames names_;
  std::vector<std::vector<NodeSsa>> nodes_;
};

}  // namespace gt::model
