#include "transport/executor/calls/programs.h"

#include <algorithm>
#include <chrono>

#include "traces/base/clock.h"

namespace gt::exec {
namespace {

using Step = wire::Build::Step;
using Clock = std::chrono::steady_clock;

constexpr uint32_t MostThreads = 4;
constexpr size_t StackBytes = size_t{16} << 20;  // compilers recurse

void drop_references(const Cl& cl, BuildJob& job) {
  for (cl_program input : job.inputs) cl.clReleaseProgram(input);
  if (job.program && job.asked.step != Step::Link) cl.clReleaseProgram(job.program);
}

void answer_late(Session& session, const BuildJob& job) {
  wire::Built built;
  built.reply = job.asked.reply;
  built.code = CL_BUILD_PROGRAM_FAILURE;
  for (size_t i = 0; i < job.listed; ++i)
    built.devices.push_back({job.device_ids[i], CL_BUILD_ERROR, 0, "the build took longer than this proxy allows"});
  session.out.send(built);
}

}  // namespace

Programs::Programs(Commands& commands)
    : commands_(commands), work_(std::make_shared<Work>(commands.shared_session())) {}

Programs::~Programs() {
  const MutexLock lock(work_->mutex);
  work_->closed = true;
  for (const auto& job : work_->waiting) drop_references(commands_.cl(), *job);
  work_->waiting.clear();
  for (const Linked& linked : work_->linked) commands_.cl().clReleaseProgram(linked.program);
  work_->linked.clear();
  work_->changed.notify_all();
}

cl_int Programs::collect(BuildJob& job) {
  Objects& objects = commands_.objects();
  const Cl& cl = commands_.cl();
  const wire::Build& asked = job.asked;
  if (asked.step > Step::Describe || asked.how > wire::Build::Options::None) return CL_INVALID_VALUE;
  if (asked.step == Step::Link) {
    const Object* const context = objects.find(asked.context, ObjectKind::Context);
    if (!context) return CL_INVALID_CONTEXT;
    job.context = context->as<cl_context>();
    if (const cl_int code = objects.may_name(asked.program); code != CL_SUCCESS) return code;
  }
  if (asked.step == Step::Compile && asked.inputs.size() != asked.names.size()) return CL_INVALID_VALUE;
  for (const ObjectId id : asked.devices) {
    const Object* const device = objects.find(id, ObjectKind::Device);
    if (!device) return CL_INVALID_DEVICE;
    job.devices.push_back(device->as<cl_device_id>());
    job.device_ids.push_back(id);
  }
  job.listed = job.devices.size();
  for (const ObjectId id : asked.inputs) {
    const Object* const input = objects.find(id, ObjectKind::Program);
    if (!input) return CL_INVALID_PROGRAM;
    job.inputs.push_back(input->as<cl_program>());
    cl.clRetainProgram(job.inputs.back());
  }
  if (asked.step == Step::Link) return asked.devices.empty() ? CL_INVALID_DEVICE : CL_SUCCESS;
  const Object* const program = objects.find(asked.program, ObjectKind::Program);
  if (!program) return CL_INVALID_PROGRAM;
  job.program = program->as<cl_program>();
  cl.clRetainProgram(job.program);
  std::vector<cl_device_id> all(Cl::ask<cl_uint>(cl.clGetProgramInfo, job.program, CL_PROGRAM_NUM_DEVICES));
  cl.clGetProgramInfo(job.program, CL_PROGRAM_DEVICES, all.size() * sizeof(cl_device_id), all.data(), nullptr);
  for (cl_device_id device : all) {
    if (std::find(job.devices.begin(), job.devices.end(), device) != job.devices.end()) continue;
    job.devices.push_back(device);
    job.device_ids.push_back(objects.name_of(ObjectKind::Device, device));
  }
  if (job.listed == 0) job.listed = job.devices.size();
  return CL_SUCCESS;
}

void Programs::run(wire::Build build) {
  Session& session = commands_.session();
  ++session.count.builds;
  const auto job = std::make_shared<BuildJob>();
  job->asked = std::move(build);
  cl_int code = collect(*job);
  if (code == CL_SUCCESS && !post(job)) code = CL_OUT_OF_RESOURCES;
  if (code == CL_SUCCESS) return;
  drop_references(session.cl, *job);
  wire::Built built;
  built.reply = job->asked.reply;
  built.code = code;
  session.out.send(built);
}

bool Programs::post(const std::shared_ptr<BuildJob>& job) {
  Session& session = commands_.session();
  const auto start = [&](void (*body)(const std::shared_ptr<Work>&)) {
    return session.threads.start("gtrace-build", StackBytes, [body, work = work_] { body(work); });
  };
  const MutexLock lock(work_->mutex);
  if (work_->threads < MostThreads && start(serve)) ++work_->threads;
  if (work_->threads == 0) return false;
  work_->waiting.push_back(job);
  work_->changed.notify_all();
  if (session.limits.build_seconds && !work_->watched) work_->watched = start(watch);
  return true;
}

void Programs::serve(const std::shared_ptr<Work>& work) {
  constexpr std::chrono::seconds IdleTime{2};
  UniqueLock lock(work->mutex);
  for (;;) {
    work->changed.wait_for(lock, IdleTime,
                           [&]() GT_REQUIRES(work->mutex) { return work->closed || !work->waiting.empty(); });
    if (work->waiting.empty()) break;
    const std::shared_ptr<BuildJob> job = work->waiting.front();
    work->waiting.pop_front();
    job->deadline = Clock::now() + std::chrono::seconds(work->session->limits.build_seconds);
    work->running.push_back(job);
    work->changed.notify_all();
    lock.unlock();
    perform(*work, *job);
    lock.lock();
    std::erase(work->running, job);
    work->changed.notify_all();
    if (job->late) return;  // another thread has its place
  }
  --work->threads;
}

void Programs::perform(Work& work, BuildJob& job) {
  Session& session = *work.session;
  wire::Built built;
  built.reply = job.asked.reply;
  const uint64_t begun = monotonic_ns();
  built.code = build(session, job);
  session.count.build_ns += monotonic_ns() - begun;
  describe(session, job, built);
  const bool late = job.answered.exchange(true);
  {
    const MutexLock lock(work.mutex);
    if (job.asked.step == Step::Link && job.program && !late && !work.closed) {
      work.linked.push_back({job.asked.program, job.program});
      work.has_linked = true;
    } else if (job.asked.step == Step::Link && job.program) {
      session.cl.clReleaseProgram(job.program);
    }
  }
  if (!late) session.out.send(built);
  drop_references(session.cl, job);
}

// Answers builds that take too long.
void Programs::watch(const std::shared_ptr<Work>& work) {
  UniqueLock lock(work->mutex);
  while (!work->closed && work->threads > 0) {
    std::vector<std::shared_ptr<BuildJob>> late;
    auto next = Clock::now() + std::chrono::seconds(2);
    for (const auto& job : work->running) {
      if (job->deadline > Clock::now())
        next = std::min(next, job->deadline);
      else if (!job->answered.exchange(true))
        late.push_back(job);
    }
    if (late.empty()) {
      work->changed.wait_until(lock, next);
      continue;
    }
    for (const auto& job : late) job->late = true;
    work->threads -= static_cast<uint32_t>(late.size());
    lock.unlock();
    for (const auto& job : late) answer_late(*work->session, *job);
    lock.lock();
  }
  work->watched = false;
}

void Programs::name_linked() {
  if (!work_->has_linked.load(std::memory_order_acquire)) return;
  std::vector<Linked> linked;
  {
    const MutexLock lock(work_->mutex);
    linked.swap(work_->linked);
    work_->has_linked = false;
  }
  for (const Linked& one : linked) {
    if (commands_.objects().may_name(one.id) == CL_SUCCESS)
      commands_.name(one.id, ObjectKind::Program, one.program);
    else
      commands_.cl().clReleaseProgram(one.program);
  }
}

}  // namespace gt::exec
