// Parameters to arguments.
#include "traces/kernels/spirv_kernels.h"

#include <algorithm>

#include "traces/kernels/spirv_access.h"
#include "traces/kernels/spirv_ops.h"

namespace gt::kernels {
namespace {

constexpr uint64_t MostSteps = 5'000'000;        // of one kernel: some seconds
constexpr uint64_t MostArgs = 4096;              // of one kernel: no device takes so many
constexpr uint32_t ReadOnly = 0, WriteOnly = 1;  // access qualifiers

AddressSpace space_of(const spirv::Type* t) {
  using Form = spirv::Type::Form;
  if (!t) return AddressSpace::Private;
  if (t->form == Form::Image || t->form == Form::Pipe) return AddressSpace::Global;
  if (t->form != Form::Pointer) return AddressSpace::Private;
  switch (t->storage) {
    case spirv::UniformConstant:
      return AddressSpace::Constant;
    case spirv::Workgroup:
      return AddressSpace::Local;
    case spirv::FunctionStorage:
      return AddressSpace::Private;  // by value
    default:
      return AddressSpace::Global;
  }
}

// What type and decorations let a kernel do at most.
unsigned limit(const spirv::Module& module, spirv::Id parameter, const spirv::Type* t) {
  using Form = spirv::Type::Form;
  if (!t) return 3;
  if (t->form == Form::Image || t->form == Form::Pipe) {
    if (t->storage == ReadOnly) return t->form == Form::Image ? 1 : 3;
    return t->storage == WriteOnly && t->form == Form::Image ? 2 : 3;
  }
  if (t->form != Form::Pointer || t->storage == spirv::FunctionStorage) return 0;
  if (t->storage == spirv::UniformConstant || module.has_decoration(parameter, spirv::NonWritable)) return 1;
  return 3;
}

Kernel given_up(const spirv::EntryPoint& entry) {
  Kernel k;
  k.name = entry.name;
  k.elsewhere = Access::ReadWrite;
  return k;
}

}  // namespace

Result<SpirvKernels> SpirvKernels::read(ByteView bytes) {
  Result<spirv::Module> module = spirv::Module::read(bytes);
  if (!module.ok()) return module.status();
  return SpirvKernels(std::move(*module));
}

std::optional<Kernel> SpirvKernels::find(std::string_view name, bool& exact) const {
  const auto& all = module_.kernels();
  const auto it = std::find_if(all.begin(), all.end(), [&](const auto& e) { return e.name == name; });
  if (it == all.end()) return std::nullopt;
  return describe(*it, exact);
}

Kernel SpirvKernels::describe(const spirv::EntryPoint& entry, bool& exact) const {
  const spirv::Function& function = *module_.function(entry.function);
  exact = function.parameters.size() <= MostArgs;
  if (!exact) return given_up(entry);
  const spirv::KernelAccess access = spirv::find_access(module_, entry.function, MostSteps);
  exact = access.complete;
  Kernel k;
  k.name = entry.name;
  unsigned elsewhere = access.unknown;
  for (size_t i = 0; i < function.parameters.size(); ++i) {
    const spirv::Id id = function.parameters[i], type = module_.type_of(id);
    const spirv::Type* const t = module_.types().find(type);
    Arg arg;
    arg.name = module_.name_of(id);
    arg.space = space_of(t);
    const bool by_value = t && t->form == spirv::Type::Form::Pointer && t->storage == spirv::FunctionStorage;
    arg.type = module_.type_name(by_value ? t->element : type);
    arg.access = static_cast<Access>((access.args[i] | access.unknown) & limit(module_, id, t));
    arg.escapes = access.escapes[i];
    k.args.push_back(std::move(arg));
  }
  for (const auto& [place, how] : access.members) {
    k.args[place.first].members.push_back({place.second, static_cast<Access>(how | access.unknown)});
    elsewhere |= how;
  }
  k.elsewhere = static_cast<Access>(elsewhere);
  return k;
}

Source read_spirv(ByteView bytes) {
  Source out;
  const Result<SpirvKernels> module = SpirvKernels::read(bytes);
  if (!module.ok()) {
    out.note = module.status().text();
    return out;
  }
  out.exact = true;
  for (const spirv::EntryPoint& entry : module->entries()) {
    bool exact = true;
    if (std::optional<Kernel> k = module->find(entry.name, exact)) out.kernels.push_back(std::move(*k));
    if (exact) continue;
    out.exact = false;
    out.note = "too intricate: " + entry.name;
  }
  return out;
}

}  // namespace gt::kernels
