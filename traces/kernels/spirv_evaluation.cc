// Functions, evaluated until nothing new is found.
#include "traces/kernels/spirv_evaluation.h"

#include <algorithm>

namespace gt::spirv {

KernelAccess Evaluation::run(Id kernel) {
  const Function& function = *module_.function(kernel);
  parameters_ = function.parameters.size();
  out_.args.assign(parameters_, 0);
  out_.escapes.assign(parameters_, false);
  for (size_t i = 0; i < parameters_; ++i) memory_.add(false, UnknownSize);
  Context* const c = context(kernel, {});
  bind(*c, function);
  do {
    memory_.changed = false;
    ++pass_;
    evaluate(*c);
  } while (memory_.changed && out_.complete);
  finish();
  return std::move(out_);
}

void Evaluation::bind(Context& c, const Function& kernel) {
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Id id = kernel.parameters[i];
    const Cells held = behind(i, id);
    if (!held.empty()) c.values[id] = held;
  }
}

Cells Evaluation::behind(size_t parameter, Id id) {
  Cells out;
  const Id type = module_.type_of(id);
  const Type* const t = types_.find(type);
  if (!t || !t->holds) return out;
  const bool by_address = t->form == Type::Form::Pointer && t->storage == FunctionStorage;
  if (by_address) {  // a structure by value, as the caller's copy
    out.add({memory_.add(true, types_.size_of(t->element)), 0, 0});
    memory_.store(out, inside(parameter, t->element), t->element, false);
    return out;
  }
  if (t->form == Type::Form::Struct || t->form == Type::Form::Array || t->form == Type::Form::Vector)
    return inside(parameter, type);
  out.add({static_cast<ObjectId>(FirstParameter + parameter), 0, 0});
  return out;
}

// The addresses in a value: each leads to memory of its own.
Cells Evaluation::inside(size_t parameter, Id type) {
  Cells out;
  for (const Leaf& leaf : types_.leaves(type)) {
    if (!leaf.address) continue;
    if (leaf.number || leaf.at >= Anywhere) {
      out.add({UnknownMemory, 0, Anywhere});
      continue;
    }
    const ObjectId object = memory_.add(false, UnknownSize);
    members_[object] = {parameter, leaf.at};
    out_.members[{parameter, leaf.at}] = 0;
    out.add({object, 0, static_cast<uint32_t>(leaf.at)});
  }
  return out;
}

void Evaluation::finish() {
  if (!out_.complete) {
    out_.unknown = Both;
    out_.args.assign(parameters_, Both);
    out_.escapes.assign(parameters_, true);
    for (auto& [place, how] : out_.members) how = Both;
    return;
  }
  for (size_t i = 0; i < parameters_; ++i) out_.escapes[i] = memory_.escapes(static_cast<ObjectId>(FirstParameter + i));
  for (const auto& [object, place] : members_)
    if (memory_.escapes(object)) out_.escapes[place.first] = true;
}

void Evaluation::access(const Cells& at, unsigned how) {
  for (const Cell& c : at) {
    if (c.object == UnknownMemory) out_.unknown |= how;
    const size_t parameter = c.object - FirstParameter;
    if (c.object >= FirstParameter && parameter < parameters_) out_.args[parameter] |= how;
    const auto member = members_.find(c.object);
    if (member != members_.end()) out_.members[member->second] |= how;
  }
}

// --- Functions ---

Context* Evaluation::context(Id function, const std::vector<Cells>& args) {
  const bool many = contexts_.size() >= MostContexts;
  Context& c = contexts_[{function, many ? std::vector<Cells>() : args}];
  c.function = module_.function(function);
  return &c;  // stays where it is: a map
}

void Evaluation::evaluate(Context& c) {
  if (c.pass == pass_) return;  // this pass's caller sees what is known so far
  c.pass = pass_;
  if (depth_ >= Deepest) out_.complete = false;
  if (!out_.complete) return;
  ++depth_;
  Context* const caller = context_;
  context_ = &c;
  for (size_t at = c.function->first; at < c.function->last && out_.complete;) {
    if (++steps_ + memory_.work() > most_steps_) out_.complete = false;
    step(module_.next(at));
  }
  context_ = caller;
  --depth_;
}

Cells Evaluation::call(Id function, const std::vector<Cells>& args, Id type) {
  const Function* const known = module_.function(function);
  if (!known || !known->has_body) {
    const std::string name = known ? module_.import_of(function) : "";
    const auto starts = [&](const char* with) { return name.starts_with(with); };
    // Built-in functions of OpenCL C that have no instruction, and what front ends bring with them.
    const bool built_in = starts("_Z") || starts("__spirv_") || starts("__devicelib_") || starts("__ocl_");
    if (!built_in) out_.unknown |= Both;
    return hand_over(args, type);
  }
  Context* const callee = context(function, args);
  for (size_t i = 0; i < std::min(args.size(), known->parameters.size()); ++i) {
    if (args[i].empty()) continue;
    memory_.changed |= callee->values[known->parameters[i]].add(args[i]);
  }
  evaluate(*callee);
  return callee->returned;
}

// To code that is not followed from here: it may do anything with these, and return any address.
Cells Evaluation::hand_over(const std::vector<Cells>& args, Id type) {
  Cells out;
  for (const Cells& held : args) {
    for (const ObjectId object : memory_.reachable(held)) {
      Cells one;
      one.add({object, 0, 0});
      access(one, Both);
    }
    memory_.expose(held);
    out.add(held);
  }
  if (types_.holds(type)) out.add(nowhere());
  return out;
}

KernelAccess find_access(const Module& module, Id kernel, uint64_t most_steps) {
  return Evaluation(module, most_steps).run(kernel);
}

}  // namespace gt::spirv
