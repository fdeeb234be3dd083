// Versions for every variable, stream by stream; φ at the heads of loops.
//
// Worked example, for a body "kernel(a → b); kernel(b → a)" entered with a.1 and b.1:
//   reads before writes: {a}; writes: {a, b}; so the head gets a.2 = φ(a.1, ?). The first call uses
//   a.2 and makes b.2, the second uses b.2 and makes a.3; at the end of the body a is a.3, which
//   fills the φ: a.2 = φ(a.1, a.3). b needs none: no iteration sees the b of the one before.
#include "traces/model/ssa/ssa.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "traces/model/fold/fold.h"

namespace gt::model {
namespace {

// One argument's effect on one variable. Writing a member of a family, or one of several
// candidates, keeps the rest: it reads the variable, too, though the call itself does not (`shown`
// is false).
struct Access {
  VariableId variable;
  uint32_t arg;
  bool reads, writes, shown;
};
using Accesses = std::vector<Access>;

bool reads(Effect e) { return e == Effect::Use || e == Effect::UseDef || e == Effect::Release; }
bool writes(Effect e) { return e == Effect::Def || e == Effect::UseDef; }
const Series& slot_of(const Trace& trace, const Node& call, uint32_t arg) {
  const std::vector<Arg>& args = trace.shapes[call.shape].args;
  size_t v = 0;
  for (uint32_t i = 0; i < arg; ++i) v += static_cast<size_t>(value_count(args[i].form));
  return call.values[v];
}
std::vector<Effect> effects_of(const Shape& s) {
  std::vector<Effect> out;
  for (const Arg& a : s.args) out.push_back(a.effect);
  return out;
}
bool is_object(const Arg& a) { return a.form == ArgForm::Object || a.form == ArgForm::Memory; }

class Walk {
 public:
  Walk(const Trace& trace, const ObjectNames& names, const std::vector<std::vector<Effect>>& effects)
      : trace_(trace), names_(names), versions_(names.variables().size(), Versions{}) {
    for (size_t i = 0; i < trace_.shapes.size(); ++i) {
      const Shape& s = trace_.shapes[i];
      value_counts_.push_back(s.values());
      const bool given = i < effects.size() && effects[i].size() == s.args.size();
      effects_.push_back(given ? effects[i] : effects_of(s));
    }
  }

  void run(const SsaVisitor& visit) {
    for (const bool memory : {true, false}) {
      for (size_t s = 0; s < trace_.streams.size(); ++s) {
        if (trace_.streams[s].memory == memory) stream(s, visit);
      }
    }
  }

 private:
  struct Versions {
    uint32_t current = 0, last = 0;
  };

  void stream(size_t s, const SsaVisitor& visit) {
    for (const Node& n : trace_.streams[s].nodes) {
      accesses_.clear();
      out_.clear();
      gather({&n, 1});
      out_.resize(accesses_.size());
      size_t index = 0;
      number({&n, 1}, index);
      visit(s, n, out_);
    }
  }

  // Accesses of every node in pre-order.
  void gather(std::span<const Node> nodes) {
    for (const Node& n : nodes) {
      accesses_.emplace_back();
      if (n.kind == Node::Kind::Call) accesses_.back() = call_accesses(n);
      if (n.kind == Node::Kind::Run) accesses_.back() = run_accesses(n);
      if (n.kind == Node::Kind::Summary) accesses_.back() = summary_accesses(n);
      gather(n.body);
    }
  }

  Accesses call_accesses(const Node& n) const {
    Accesses out;
    const std::vector<Arg>& args = trace_.shapes[n.shape].args;
    size_t v = 0;
    for (uint32_t i = 0; i < args.size(); ++i) {
      const Arg& a = args[i];
      const Effect effect = effects_[n.shape][i];
      if (is_object(a) && effect != Effect::None) {
        const std::vector<VariableId> variables = names_.variables(a.cls, n.values[v]);
        const bool partial = variables.size() > 1 || names_.is_family(a.cls);
        for (const VariableId x : variables) {
          out.push_back({x, i, reads(effect) || (partial && writes(effect)), writes(effect),
                         reads(effect)});
        }
      }
      v += static_cast<size_t>(value_count(a.form));
    }
    return out;
  }

  Accesses run_accesses(const Node& n) const {
    std::set<VariableId> read, written;
    expand_run(n, value_counts_, [&](ShapeId shape, std::span<const int64_t> values) {
      size_t v = 0;
      for (size_t i = 0; i < effects_[shape].size(); ++i) {
        const Arg& a = trace_.shapes[shape].args[i];
        const VariableId x = is_object(a) ? names_.variable(a.cls, values[v]) : NoIndex;
        if (x != NoIndex && reads(effects_[shape][i])) read.insert(x);
        if (x != NoIndex && writes(effects_[shape][i])) written.insert(x);
        v += static_cast<size_t>(value_count(a.form));
      }
      return true;
    });
    return stretch(read, written);
  }
  // The classes of a summary's objects are families.
  Accesses summary_accesses(const Node& n) const {
    std::set<VariableId> read, written;
    (void)expand_summary(n, trace_.shapes.size(), [&](ShapeId shape, uint64_t) {
      for (size_t i = 0; i < effects_[shape].size(); ++i) {
        const Arg& a = trace_.shapes[shape].args[i];
        const VariableId x = is_object(a) ? names_.variable(a.cls, 0) : NoIndex;
        if (x != NoIndex && reads(effects_[shape][i])) read.insert(x);
        if (x != NoIndex && writes(effects_[shape][i])) written.insert(x);
      }
    });
    return stretch(read, written);
  }
  static Accesses stretch(const std::set<VariableId>& read, const std::set<VariableId>& written) {
    Accesses out;
    for (const VariableId x : read) out.push_back({x, NoIndex, true, written.count(x) > 0, true});
    for (const VariableId x : written) {
      if (!read.count(x)) out.push_back({x, NoIndex, true, true, false});
    }
    return out;
  }

  void number(std::span<const Node> nodes, size_t& index) {
    for (const Node& n : nodes) {
      const size_t here = index++;
      if (n.kind == Node::Kind::Loop) {
        loop(n, here, index);
      } else {
        touch(n, accesses_[here], out_[here]);
      }
    }
  }

  void loop(const Node& n, size_t here, size_t& index) {
    for (const VariableId x : carried(n, here)) {
      const uint32_t before = versions_[x].current;
      out_[here].phis.push_back({x, define(x), before, 0});
    }
    number(n.body, index);
    for (SsaPhi& phi : out_[here].phis) phi.around = versions_[phi.variable].current;
  }

  // Variables that the loop's body reads before it writes them, and writes. In the order of their
  // ids.
  std::set<VariableId> carried(const Node& n, size_t here) const {
    std::set<VariableId> exposed, written, both;
    const size_t end = here + 1 + tree_size(n.body);
    for (size_t i = here + 1; i < end; ++i) {
      for (const Access& a : accesses_[i]) {
        if (a.reads && !written.count(a.variable)) exposed.insert(a.variable);
      }
      for (const Access& a : accesses_[i]) {
        if (a.writes) written.insert(a.variable);
      }
    }
    std::set_intersection(exposed.begin(), exposed.end(), written.begin(), written.end(),
                          std::inserter(both, both.end()));
    return both;
  }
  static size_t tree_size(const std::vector<Node>& nodes) {
    size_t n = 0;
    for (const Node& child : nodes) n += 1 + tree_size(child.body);
    return n;
  }

  // All reads of a call see the versions from before it; all its writes to one variable make one
  // version. A family is listed once for each member that the call names, any other variable once.
  void touch(const Node& n, const Accesses& accesses, NodeSsa& out) {
    for (const Access& a : accesses) {
      if (a.shown && !listed(out.uses, n, a))
        out.uses.push_back({a.variable, versions_[a.variable].current, a.arg});
    }
    std::map<VariableId, uint32_t> made;
    for (const Access& a : accesses) {
      if (!a.writes || listed(out.defs, n, a)) continue;
      const auto [it, fresh] = made.try_emplace(a.variable);
      if (fresh) it->second = define(a.variable);
      out.defs.push_back({a.variable, it->second, a.arg});
    }
  }
  bool listed(const std::vector<SsaRef>& refs, const Node& n, const Access& a) const {
    const bool family = n.kind == Node::Kind::Call && names_.variables()[a.variable].family;
    return std::any_of(refs.begin(), refs.end(), [&](const SsaRef& r) {
      if (r.variable != a.variable) return false;
      return !family || slot_of(trace_, n, r.arg) == slot_of(trace_, n, a.arg);
    });
  }

  uint32_t define(VariableId x) { return versions_[x].current = ++versions_[x].last; }

  const Trace& trace_;
  const ObjectNames& names_;
  std::vector<Versions> versions_;
  std::vector<int> value_counts_;
  std::vector<std::vector<Effect>> effects_;  // of each shape's arguments
  // Of one node at the top and all below it:
  std::vector<Accesses> accesses_;
  std::vector<NodeSsa> out_;
};

}  // namespace

void visit_ssa(const Trace& trace, const ObjectNames& names, const SsaVisitor& visit,
               const std::vector<std::vector<Effect>>& effects) {
  Walk(trace, names, effects).run(visit);
}

Ssa::Ssa(const Trace& trace, const std::vector<std::vector<Effect>>& effects)
    : trace_(trace), names_(trace), nodes_(trace.streams.size()) {
  const auto keep = [this](size_t stream, const Node&, std::span<NodeSsa> versions) {
    nodes_[stream].insert(nodes_[stream].end(), std::make_move_iterator(versions.begin()),
                          std::make_move_iterator(versions.end()));
  };
  visit_ssa(trace_, names_, keep, effects);
}

std::string version_text(const std::string& name, uint32_t version) { return name + "." + std::to_string(version); }

std::string Ssa::text(VariableId variable, uint32_t version) const {
  return version_text(names_.variables()[variable].name, version);
}

std::string Ssa::text(const SsaRef& ref, const Node& node, size_t depth) const {
  std::string out = text(ref.variable, ref.version);
  if (!names_.variables()[ref.variable].family || node.kind != Node::Kind::Call) return out;
  return out + "[" + series_text(slot_of(trace_, node, ref.arg), depth) + "]";
}

}  // namespace gt::model
