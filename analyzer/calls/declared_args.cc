// From the driver's words to accesses.
#include "analyzer/calls/declared_args.h"

#include "traces/model/folded/kernel_origin.h"

namespace gt::analyzer {
namespace {

using kernels::Access;
using kernels::AddressSpace;

AddressSpace space_of(std::string_view address) {
  if (address == "global") return AddressSpace::Global;
  if (address == "constant") return AddressSpace::Constant;
  return address == "local" ? AddressSpace::Local : AddressSpace::Private;
}

// An image or a pipe has an access qualifier, a pointer has not.
Access access_of(const model::DeclaredArg& a) {
  if (a.access == "read_only") return Access::Read;
  if (a.access == "write_only") return Access::Write;
  const AddressSpace space = space_of(a.address);
  if (space == AddressSpace::Private) return Access::None;
  const bool to_const = (" " + a.qualifiers + " ").find(" const ") != std::string::npos;
  return space == AddressSpace::Constant || (a.access == "none" && to_const) ? Access::Read : Access::ReadWrite;
}

kernels::Arg argument(const model::DeclaredArg& a) {
  kernels::Arg out{a.name, a.type, space_of(a.address), access_of(a)};
  if (out.access != Access::None && out.space == AddressSpace::Private) out.space = AddressSpace::Global;
  return out;
}

}  // namespace

std::vector<kernels::Arg> declared_args(std::string_view lines) {
  std::vector<kernels::Arg> args;
  for (const model::DeclaredArg& a : model::parse_declared(lines)) args.push_back(argument(a));
  return args;
}

}  // namespace gt::analyzer
