#include "optimizer-rt/cl/staging.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "optimizer-rt/cl/contexts.h"
#include "optimizer-rt/cl/plan_device.h"
#include "optimizer-rt/cl/queue_users.h"
#include "optimizer-rt/cl/queues.h"
#include "optimizer-rt/cl/real.h"
#include "optimizer-rt/cl/staged_events.h"
#include "optimizer-rt/cl/valid_transfer.h"
#include "optimizer-rt/pool/huge_pages.h"
#include "optimizer-rt/pool/memory_limit.h"
#include "optimizer-rt/pool/residency.h"
#include "optimizer-rt/pool/runtime.h"
#include "optimizer-rt/pool/staging_trial.h"
#include "traces/base/clock.h"
#include "traces/base/mutex.h"
#include "traces/base/processors.h"
#include "traces/base/reentry.h"
#include "transport/staging/agent.h"
#include "transport/staging/machine_load.h"
#include "transport/staging/thread.h"

namespace gt::opt {
namespace {

using staging::Stager;

constexpr double SetUp_ns = 4e6;         // pinned memory, queues, threads: measured on an H200's host
constexpr size_t LeastPopulated = size_t{8} << 20;  // below, waking the helpers is not worth it
constexpr unsigned MostHelpers = 7;      // 8 threads saturate a PCIe 5 link
constexpr int Timeout_ms = 2000;         // for transfers under way when the process ends
constexpr size_t Addresses = size_t{192} << 20;  // what chunks, stacks and queues take at most, or little more
constexpr size_t LeastLimit = 16 * Addresses;    // of a limit on them (ulimit -v), which the program needs itself

// One device in one context.
struct StagedDevice {
  Stager stager;
  std::atomic<uint64_t> owed_ns{0};  // what staging would have saved so far
  std::atomic<bool> set_up{false};
};

constexpr size_t MostStagedDevices = 32;
constinit StagedDevice g_staged_devices[MostStagedDevices];
constinit Mutex g_mutex;  // for opening stagers
constinit ClFunctions g_cl;
// Its threads end with the process: a destructor would wait for them, in a forked child for ever.
union CopyThreadsForEver {
  constexpr CopyThreadsForEver() : copy_threads() {}
  ~CopyThreadsForEver() {}
  staging::CopyThreads copy_threads;
};
constinit CopyThreadsForEver g_copy_threads_for_ever;
constinit staging::CopyThreads& g_copy_threads = g_copy_threads_for_ever.copy_threads;
constinit staging::Agent g_agents[2];
constinit staging::MachineLoad g_load;
constinit StagingTrial g_trials[MaxPlanDevices][Ways];  // by device of the plan

void wind_up() {
  if (runtime.in_forked_child()) return;
  for (staging::Agent& agent : g_agents) agent.wind_up(Timeout_ms);
}

void before_fork() {
  for (staging::Agent& agent : g_agents) agent.lock_for_fork(Timeout_ms);
}
void after_fork() {
  for (staging::Agent& agent : g_agents) agent.unlock_after_fork();
}

bool has_addresses() {
  const bool enough = address_space_limit() >= LeastLimit;
  if (!enough) runtime.count(Fallback::NoArena);
  return enough;
}

Staging mode() {
  const auto planned = static_cast<Staging>(runtime.plan().header->staging);
  if (planned == Staging::Never) return planned;
  static const bool has_room = has_addresses();
  return has_room ? planned : Staging::Never;
}

ClFunctions real_functions_for_staging() {
  struct Real : ClFunctions {  // which names the uses
    Real() {
#define GT_CL_FUNCTION(use, name) \
  if constexpr (((use) & (Staging | Svm)) != 0) this->name = GT_REAL(name);
#include "transport/opencl/functions.def"
    }
  };
  return Real();
}

unsigned helpers() {
  const uint32_t planned = runtime.plan().header->copy_threads;
  const unsigned processors = usable_processors();
  if (planned > 0) return std::min(planned, processors) - 1;
  return std::min(MostHelpers, processors / 2);
}

// Counts the copies that nobody helps with.
unsigned idle_processors(unsigned ours) {
  const unsigned idle = g_load.idle(ours, monotonic_ns(), staging::running_threads);
  if (idle < 2) add(runtime.counters().copies_alone, 1);
  return idle;
}

// Once, under the lock. False: this loader is too old.
bool start_engine() {
  if (g_cl.has(ClFunctions::Staging)) return true;
  const ClFunctions f = real_functions_for_staging();
  if (!f.has(ClFunctions::Staging)) return false;
  staging::thread_begins = [] { t_flags.inside = 1; };  // what we allocate there is not the program's
  if (mode() == Staging::Auto)
    for (auto& device : g_trials)
      for (StagingTrial& trial : device) trial.open();
  g_load.open(static_cast<unsigned>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN))));
  g_copy_threads.start(helpers(), idle_processors);
  ::pthread_atfork(before_fork, after_fork, after_fork);
  std::atexit(wind_up);  // after the driver's own handlers were registered, so before they run
  g_cl = f;
  return true;
}

StagedDevice* find(cl_context context, cl_device_id device) {
  for (StagedDevice& p : g_staged_devices)
    if (p.stager.serves(context, device)) return &p;
  return nullptr;
}

// Nanoseconds that staging saves by the measured costs; 0: it does not pay, or nothing is known.
uint64_t saving_ns(int device, Way way, size_t bytes) {
  if (device == NoDevice) return 0;
  const WayCosts& costs = way_costs(device, way);
  if (!costs.standard.known() || !costs.staged.known()) return 0;
  const double standard = costs.standard(bytes), staged = costs.staged(bytes);
  return staged < ClearlyLess * standard ? static_cast<uint64_t>(standard - staged) : 0;
}

// Of fresh memory, in the driver's way as in ours.
double touching_ns(size_t bytes) {
  constexpr double InHugePages = 0.25;  // docs/decisions/0032-huge-pages-step-by-step.md
  const bool huge = huge_pages.is_open() && bytes >= HugePages::LeastFilled;
  return runtime.plan().header->touch_ns_per_byte * static_cast<double>(bytes) * (huge ? InHugePages : 1);
}

// Holds a transfer against the driver's way, and corrects what was booked when it was enqueued.
void compare(const staging::Spent& spent) {
  const int device = plan_device(spent.device);
  if (device == NoDevice) return;
  const Way way = way_of(spent.way, spent.shape);
  const double touching = spent.fresh ? touching_ns(spent.bytes) : 0;
  if (spent.fresh && touching == 0) return;
  const auto costs = staged_costs(way_costs(device, way), spent.bytes, spent.ns, spent.copying_only, touching);
  if (!costs) return;
  Counters& c = runtime.counters();
  add(c.staged_measured, 1);
  add(c.staged_measured_ns, static_cast<uint64_t>(costs->took));
  add(c.staged_driver_ns, static_cast<uint64_t>(costs->driver));
  const double more = costs->driver - costs->took - static_cast<double>(saving_ns(device, way, spent.bytes));
  add(more < 0 ? c.staged_lost_ns : c.staged_saved_ns, static_cast<uint64_t>(std::fabs(more)));
  if (g_trials[device][way].book(*costs) == TrialAccount::Turn::Suspended) add(c.staged_suspensions, 1);
}

// False: staging is suspended for this one.
bool takes_next(int device, Way way) {
  if (device == NoDevice || g_trials[device][way].takes_next()) return true;
  add(runtime.counters().staged_left, 1);
  return false;
}

StagedDevice* staged_device_of(cl_context context, cl_device_id device) {
  if (StagedDevice* p = find(context, device)) return p;
  if (!is_known(context)) return nullptr;
  const MutexLock lock(g_mutex);
  if (StagedDevice* p = find(context, device)) return p;
  for (StagedDevice& p : g_staged_devices) {
    if (!p.stager.is_closed() || !start_engine()) continue;
    p.owed_ns.store(0);
    p.set_up.store(false);
    p.stager.open(g_cl, context, device, g_copy_threads, g_agents, publish_staged_event, compare);
    return &p;
  }
  return nullptr;
}

// Then making an object from memory is a copy of memory: less than the transfer that the curves are of.
bool shares_host_memory(cl_device_id device) {
  cl_bool unified = CL_FALSE;
  const auto info = GT_REAL(clGetDeviceInfo);
  const bool told =
      info && info(device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, nullptr) == CL_SUCCESS;
  return !told || unified;
}

// Does what was seen so far, this transfer included, pay for setting up?
bool is_earned(StagedDevice& staged, uint64_t saving) {
  if (mode() == Staging::Always || staged.set_up.load(std::memory_order_relaxed)) return true;
  const uint64_t owed = staged.owed_ns.fetch_add(saving) + saving;
  if (static_cast<double>(owed) < SetUp_ns) return false;
  staged.set_up.store(true);
  return true;
}

// What is not done is the driver's turn.
template <class Transfer>
bool counted(const staging::HostTransfer& t, uint64_t saving, Transfer transfer) {
  const uint64_t start = monotonic_ns();
  if (!transfer()) return runtime.count(Fallback::NotStaged), false;
  Counters& c = runtime.counters();
  add(c.staged, 1);
  add(c.staged_bytes, t.bytes());
  add(c.staged_ns, monotonic_ns() - start);
  add(c.staged_saved_ns, saving);
  return true;
}

bool run(StagedDevice& staged, const TransferCall& call, const staging::HostTransfer& t, const QueueEntry& queue,
         uint64_t saving, cl_int* error) {
  staging::Request r;
  r.queue = {queue.queue, queue.context, queue.in_order, queue.profiling, queue.has_barriers,
             several_queue_users.load()};
  r.transfer = t;
  r.transfer.fresh = mode() == Staging::Auto && seems_fresh(t.host, t.layout.extent());
  r.blocking = call.blocking;
  r.waits = call.waits;
  r.wait_list = call.wait_list;
  r.event = call.event;
  return counted(r.transfer, saving, [&] { return staged.stager.transfer(r, error); });
}

}  // namespace

bool stage(const TransferCall& call, const staging::HostTransfer& t, cl_int* error) noexcept {
  const size_t bytes = t.bytes();
  if (mode() == Staging::Never || bytes < LeastStaged) return false;
  QueueEntry queue;
  if (!look_up_queue(call.queue, &queue)) return runtime.count(Fallback::UnknownQueue), false;
  const int device = plan_device(queue.device);
  const Way way = way_of(call.way, call.shape);
  const uint64_t saving = saving_ns(device, way, bytes);
  if (saving == 0 && mode() != Staging::Always) return false;
  if (!is_valid_transfer(call, t, queue) || (call.event && !room_for_staged_event())) return false;
  StagedDevice* const staged = staged_device_of(queue.context, queue.device);
  if (!staged) return runtime.count(Fallback::UnknownContext), false;
  return is_earned(*staged, saving) && takes_next(device, way) && run(*staged, call, t, queue, saving, error);
}

bool may_stage(int device, Way way) noexcept {
  return mode() != Staging::Never && !g_trials[device][way].is_suspended();
}

bool contents_pay(cl_context context, cl_device_id id, size_t bytes) noexcept {
  if (mode() == Staging::Never || bytes < LeastStaged) return false;
  const int device = plan_device(id);
  const uint64_t saving = shares_host_memory(id) ? 0 : saving_ns(device, HostToDevice, bytes);
  if (saving == 0 && mode() != Staging::Always) return false;
  StagedDevice* const staged = staged_device_of(context, id);
  if (!staged) return runtime.count(Fallback::UnknownContext), false;
  return is_earned(*staged, saving) && takes_next(device, HostToDevice);
}

bool stage_contents(cl_context context, cl_device_id device, const staging::HostTransfer& t) noexcept {
  StagedDevice* const staged = find(context, device);
  const uint64_t saving = saving_ns(plan_device(device), way_of(t.way, t.region.shape), t.bytes());
  return staged && counted(t, saving, [&] { return staged->stager.transfer_alone(t); });
}

void populate(char* base, size_t bytes) noexcept {
  if (bytes < LeastPopulated) return;
  {
    const MutexLock lock(g_mutex);
    if (!start_engine()) return;
  }
  g_copy_threads.populate(base, bytes);
}

void stop_staging(cl_context context) noexcept {
  const MutexLock lock(g_mutex);
  for (StagedDevice& p : g_staged_devices)
    if (p.stager.serves_context(context)) p.stager.close();
}

void settle_staging() noexcept {
  if (runtime.in_forked_child()) return;
  for (staging::Agent& agent : g_agents) agent.settle(Timeout_ms);
}

Stager::Held staging_holds(cl_context context) noexcept {
  Stager::Held sum;
  for (StagedDevice& p : g_staged_devices) {
    if (!p.stager.serves_context(context)) continue;
    const Stager::Held held = p.stager.held();
    sum.buffers += held.buffers;
    sum.queues += held.queues;
  }
  return sum;
}

}  // namespace gt::opt
