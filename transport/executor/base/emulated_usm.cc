#include "transport/executor/base/emulated_usm.h"

#include "transport/usm/functions.h"

namespace gt::exec {
namespace {

struct Emulation {
  Emulation(const Cl& functions, usm::Host of) : cl(functions), host(of), usm(functions, of) { usm::provide(&usm); }
  const ClFunctions cl;
  const usm::Host host;
  usm::EmulatedUsm usm;
};

}  // namespace

usm::EmulatedUsm* emulated_usm(const Cl& cl, usm::Host host) {
  if (!cl.has(ClFunctions::Usm)) return nullptr;
  static auto* const one = new Emulation(cl, host);
  return one->host == host && one->cl.clSVMAlloc == cl.clSVMAlloc ? &one->usm : nullptr;
}

}  // namespace gt::exec
