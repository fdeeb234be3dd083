// One kernel, evaluated until nothing new is found.
#include "analyzer/kernels/arg_access.h"

#include <algorithm>
#include <map>

#include "analyzer/kernels/memory.h"

namespace gt::kernels {
namespace {

constexpr unsigned Reads = 1, Writes = 2, Both = 3;

// A function, for one combination of what its arguments point to.
struct Context {
  FunctionId function = 0;
  Targets returned;
  unsigned pass = 0;  // the last one that evaluated it
  std::map<VariableId, ObjectId> variables;
  std::map<const Expr*, ObjectId> values;  // structs that no variable holds
};

class Evaluation {
 public:
  Evaluation(Lowering& lowering, size_t parameters)
      : lowering_(lowering), memory_(parameters), parameters_(parameters) {
    out_.args.assign(parameters, 0);
  }

  KernelAccess run(FunctionId kernel) {
    bind_kernel(kernel);
    do {
      memory_.changed = false;
      ++pass_;
      evaluate(kernel_);
    } while (memory_.changed && out_.complete);
    return std::move(out_);
  }

 private:
  static constexpr size_t MaxContexts = 2000;       // from then on, one for each function
  static constexpr uint64_t MaxSteps = 30'000'000;  // expressions evaluated; some seconds

  void bind_kernel(FunctionId kernel) {
    kernel_ = context(kernel, {});
    const std::vector<VariableId>& parameters = lowering_.body(kernel).parameters;
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Variable& v = lowering_.variable(parameters[i]);
      const Targets at = place_of(*kernel_, parameters[i]);
      Targets behind;
      behind.add({static_cast<ObjectId>(FirstParameter + i)});
      if (v.record) memory_.expose(at);
      if (v.carries && !v.record) memory_.store(at, behind, false);
    }
  }

  // --- Contexts ---

  Context* context(FunctionId function, const std::vector<Targets>& args) {
    const bool many = contexts_.size() >= MaxContexts;
    const auto key = std::pair(function, many ? std::vector<Targets>() : args);
    Context& c = contexts_[key];
    c.function = function;
    return &c;  // stays where it is: a map
  }

  void evaluate(Context* c) {
    if (c->pass == pass_) return;  // this pass's caller sees what is known so far
    c->pass = pass_;
    Context* const caller = context_;
    context_ = c;
    value(lowering_.body(c->function).body);
    context_ = caller;
  }

  Targets call(const Expr& e) {
    std::vector<Targets> args;
    for (const Expr& part : e.parts) args.push_back(value(part));
    Context* const callee = context(e.id, args);
    const std::vector<VariableId>& parameters = lowering_.body(e.id).parameters;
    for (size_t i = 0; i < std::min(args.size(), parameters.size()); ++i)
      assign(place_of(*callee, parameters[i]), args[i], lowering_.variable(parameters[i]).record);
    evaluate(callee);
    return e.carries ? callee->returned : Targets();
  }

  // --- Places ---

  Targets place_of(Context& c, VariableId id) {
    Targets out;
    if (lowering_.variable(id).outlives) {
      out.add({Static});
      return out;
    }
    const auto [at, fresh] = c.variables.try_emplace(id);
    if (fresh) at->second = memory_.add_variable();
    out.add({at->second});
    return out;
  }

  Targets place(const Expr& e) {
    switch (e.op) {
      case Op::Variable:
        return place_of(*context_, e.id);
      case Op::Member:
        return member(e);
      case Op::Element: {
        const Targets whole = place(e.parts[0]);
        for (size_t i = 1; i < e.parts.size(); ++i) value(e.parts[i]);
        return whole;
      }
      case Op::Deref:
        return all_parts(e);
      default:
        return place_of_value(e);
    }
  }

  Targets member(const Expr& e) {
    Targets out, numbers;
    for (Target t : place(e.parts[0])) {
      if (memory_.is_variable(t.object) && !is_union(t.field)) t.field = e.id;
      out.add(t);
      if (!e.carries && is_union(t.field)) numbers.add(t);  // where there may be an address, too
    }
    memory_.store(numbers, nowhere(), false);
    return out;
  }

  // Of a struct that a function returns, say.
  Targets place_of_value(const Expr& e) {
    const Targets held = value(e);
    if (!e.carries) return {};
    const auto [at, fresh] = context_->values.try_emplace(&e);
    if (fresh) at->second = memory_.add_variable();
    Targets out;
    out.add({at->second});
    memory_.store(out, held, e.record);
    return out;
  }

  // --- What is done to places ---

  void access(const Targets& at, unsigned how) {
    for (const Target& t : at) {
      if (t.object == Unknown) add(out_.unknown, how);
      const size_t parameter = t.object - FirstParameter;
      if (t.object >= FirstParameter && parameter < parameters_) add(out_.args[parameter], how);
    }
  }
  static void add(unsigned& bits, unsigned more) { bits |= more; }

  void access_all(const Targets& from) {
    access(memory_.reachable(from), Both);
    memory_.expose(from);
  }

  void assign(const Targets& at, const Targets& held, bool record) {
    memory_.store(at, held, record);
    const auto outside = [&](const Target& t) { return !memory_.is_variable(t.object); };
    if (std::any_of(at.begin(), at.end(), outside)) memory_.expose(held);
  }

  static Targets nowhere() {
    Targets out;
    out.add({Unknown});
    return out;
  }

  // --- Values ---

  Targets all_parts(const Expr& e) {
    Targets out;
    for (const Expr& part : e.parts) out.add(value(part));
    return out;
  }

  // Evaluates; gives what the value may point to. Nothing for what cannot hold an address.
  Targets value(const Expr& e) {
    if (++steps_ > MaxSteps) give_up();
    if (!out_.complete) return {};
    switch (e.op) {
      case Op::Parts: {
        Targets all = all_parts(e);
        return e.carries ? std::move(all) : Targets();
      }
      case Op::Variable:
      case Op::Member:
      case Op::Element:
      case Op::Deref:
        return load(e);
      case Op::Address:
        return place(e.parts[0]);
      case Op::Assign: {
        const Targets at = place(e.parts[0]), held = value(e.parts[1]);
        access(at, Writes);
        if (e.parts[0].carries) assign(at, held, e.parts[0].record);
        return e.parts[0].carries ? held : Targets();
      }
      case Op::Update:
        return update(e);
      case Op::Declare: {
        const Targets held = all_parts(e);
        if (e.carries) assign(place_of(*context_, e.id), held, e.record);
        return {};
      }
      case Op::Initialize:
        return initialize(e);
      case Op::ToNumber:
        memory_.expose(all_parts(e));
        return {};
      case Op::FromNumber:
        all_parts(e);
        return nowhere();
      case Op::Reshape:
      case Op::Expose:
        return reshape(e);
      case Op::Call:
        return call(e);
      case Op::Builtin:
        return builtin(e);
      case Op::Foreign:
        add(out_.unknown, Both);
        return hand_over(e);
      case Op::CallBlock:
        return hand_over(e);
      case Op::Return: {
        memory_.changed |= context_->returned.add(all_parts(e));
        return {};
      }
      case Op::Asm:
        assembly(e);
        return {};
    }
    return {};
  }

  Targets load(const Expr& e) {
    const Targets at = place(e);
    access(at, Reads);
    if (!e.carries) return {};
    return memory_.load(at, e.record);
  }

  Targets update(const Expr& e) {
    const Targets at = place(e.parts[0]);
    for (size_t i = 1; i < e.parts.size(); ++i) value(e.parts[i]);
    access(at, Both);
    return e.carries ? memory_.load(at, e.record) : Targets();
  }

  Targets initialize(const Expr& e) {
    Targets out;
    for (Target t : all_parts(e)) {
      if (e.id == AnyField || is_union(e.id) || t.within == NoField) t.within = e.id;
      out.add(t);
    }
    return out;
  }

  Targets reshape(const Expr& e) {
    const Targets at = all_parts(e);
    if (e.op == Op::Reshape) memory_.loosen(at);
    if (e.op == Op::Expose) memory_.expose(at);
    return at;
  }

  Targets builtin(const Expr& e) {
    Targets all;
    for (size_t i = 0; i < e.parts.size(); ++i) {
      const Targets held = value(e.parts[i]);
      access(held, e.access[i]);
      if (e.access[i] & Writes) memory_.expose(held);
      all.add(held);
    }
    return e.carries ? all : Targets();
  }

  // Any memory whose address an operand has; and an operand may come back with any address.
  void assembly(const Expr& e) {
    for (const Expr& part : e.parts) {
      access_all(value(part));
      if (!is_place(part.op)) continue;
      const Targets at = place(part);
      access(at, Both);
      if (part.carries) memory_.expose(at);
    }
  }

  // To code that is not followed from here: it may do anything with it, and return any address.
  Targets hand_over(const Expr& e) {
    Targets held = all_parts(e);
    access_all(held);
    held.add({Unknown});
    return e.carries ? held : Targets();
  }

  void give_up() {
    out_.complete = false;
    out_.unknown = Both;
    out_.args.assign(parameters_, Both);
  }

  Lowering& lowering_;
  Memory memory_;
  size_t parameters_;
  KernelAccess out_;
  std::map<std::pair<FunctionId, std::vector<Targets>>, Context> contexts_;
  Context* kernel_ = nullptr;
  Context* context_ = nullptr;
  unsigned pass_ = 0;
  uint64_t steps_ = 0;
};

}  // namespace

KernelAccess find_access(Lowering& lowering, CXCursor kernel) {
  const FunctionId id = lowering.function(kernel);
  const size_t parameters = lowering.body(id).parameters.size();
  return Evaluation(lowering, parameters).run(id);
}

}  // namespace gt::kernels
