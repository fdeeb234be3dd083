#include "transport/executor/base/emulated_usm.h"

#include <list>

#include "traces/base/mutex.h"
#include "transport/usm/functions.h"

namespace gt::exec {
namespace {

struct Emulation {
  Emulation(const Cl& functions, usm::Host of) : cl(functions), host(of), usm(functions, of) {}
  const ClFunctions cl;
  const usm::Host host;
  usm::EmulatedUsm usm;
};

struct Emulations {
  Mutex mutex;
  std::list<Emulation> all GT_GUARDED_BY(mutex);
};

}  // namespace

usm::EmulatedUsm* emulated_usm(const Cl& cl, usm::Host host) {
  if (!cl.has(ClFunctions::Usm)) return nullptr;
  static auto& known = *new Emulations;
  const MutexLock lock(known.mutex);
  for (Emulation& one : known.all)
    if (one.host == host && one.cl.clSVMAlloc == cl.clSVMAlloc) return &one.usm;
  if (known.all.size() == usm::MostEmulations) return nullptr;
  Emulation& made = known.all.emplace_back(cl, host);
  return usm::provide(made.usm) ? &made.usm : nullptr;
}

}  // namespace gt::exec
