#include "optimizer-rt/client/base/optimizer.h"

#include <atomic>

namespace gt::virt {
namespace {

std::atomic<const Optimizer*> g_optimizer{nullptr};

}  // namespace

const Optimizer* optimizer() { return g_optimizer.load(std::memory_order_acquire); }
void set_optimizer(const Optimizer* optimizer) { g_optimizer.store(optimizer, std::memory_order_release); }

}  // namespace gt::virt
