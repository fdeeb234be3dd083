#include "transport/executor/transfer/migrator.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>

#include "traces/base/mutex.h"
#include "transport/executor/base/driver_lock.h"
#include "transport/executor/transfer/part_transfer.h"
#include "transport/moves/native_moves.h"

namespace gt::exec {

// One move. Keeps its objects, whatever the client releases.
struct MigrationJob {
  explicit MigrationJob(std::shared_ptr<Session> s) : session(std::move(s)) {}
  ~MigrationJob() {
    end(CL_OUT_OF_RESOURCES);
    const Cl& cl = session->cl;
    if (from) cl.clReleaseMemObject(from);
    if (to) cl.clReleaseMemObject(to);
    if (done) cl.clReleaseEvent(done);
  }
  MigrationJob(const MigrationJob&) = delete;
  MigrationJob& operator=(const MigrationJob&) = delete;

  void end(cl_int code) {
    if (!done || ended.exchange(true)) return;
    if (code != CL_SUCCESS) session->events_fail = true;
    session->cl.clSetUserEventStatus(done, code == CL_SUCCESS ? CL_COMPLETE : std::min(code, -1));
  }

  const std::shared_ptr<Session> session;
  cl_mem from = nullptr, to = nullptr;
  copy::Region part;
  size_t element = 1;
  uint64_t bytes = 0;
  cl_event done = nullptr;
  std::atomic<bool> ended{false};
};

class Route {
 public:
  Route(std::shared_ptr<Session> session, const moves::MoveEnd& from, const moves::MoveEnd& to)
      : session_(std::move(session)), moves_(from, to) {}

  // At once, in the calling thread; false: others are before it. REQUIRES: what it waits for is over.
  bool try_now(MigrationJob& job) {
    {
      const MutexLock lock(mutex_);
      if (busy_ || !jobs_.empty()) return false;
    }
    job.end(move(job));
    return true;
  }
  static void post(const std::shared_ptr<Route>& self, std::shared_ptr<MigrationJob> job) {
    constexpr size_t StackBytes = size_t{1} << 20;  // it calls drivers
    const MutexLock lock(self->mutex_);
    if (self->closed_) return;  // and the job fails
    self->jobs_.push_back(std::move(job));
    self->changed_.notify_one();
    if (self->running_) return;
    self->running_ = self->session_->threads.start("gtrace-move", StackBytes, [self] { self->serve(); });
    if (!self->running_) self->jobs_.clear();
  }
  // Nothing is posted any more that is not counted down to already.
  void retire() {
    const MutexLock lock(mutex_);
    retired_ = true;
    changed_.notify_one();
  }
  void close() {
    const MutexLock lock(mutex_);
    closed_ = retired_ = true;
    jobs_.clear();
    changed_.notify_one();
  }

 private:
  void serve() {
    constexpr std::chrono::seconds IdleTime{2};
    UniqueLock lock(mutex_);
    for (;;) {
      changed_.wait_for(lock, IdleTime, [this]() GT_REQUIRES(mutex_) { return retired_ || !jobs_.empty(); });
      if (jobs_.empty()) break;
      const std::shared_ptr<MigrationJob> job = std::move(jobs_.front());
      jobs_.pop_front();
      busy_ = true;
      lock.unlock();
      job->end(move(*job));
      lock.lock();
      busy_ = false;
    }
    running_ = false;
  }
  cl_int move(const MigrationJob& job) try {
    return moves_.move(job.from, job.to, job.part, job.element).code;
  } catch (const std::bad_alloc&) {
    return CL_OUT_OF_HOST_MEMORY;
  }

  const std::shared_ptr<Session> session_;
  moves::NativeMoves moves_;
  Mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<MigrationJob>> jobs_ GT_GUARDED_BY(mutex_);
  bool running_ GT_GUARDED_BY(mutex_) = false, busy_ GT_GUARDED_BY(mutex_) = false;
  bool retired_ GT_GUARDED_BY(mutex_) = false, closed_ GT_GUARDED_BY(mutex_) = false;
};

namespace {

// Posts the job when everything that it waits for is over. What failed has written what it has written.
struct Countdown {
  Countdown(std::shared_ptr<Route> r, std::shared_ptr<MigrationJob> j) : route(std::move(r)), job(std::move(j)) {}
  std::shared_ptr<Route> route;
  std::shared_ptr<MigrationJob> job;
  std::atomic<size_t> left{1};
  void one_is_over() {
    if (--left == 0) Route::post(route, std::move(job));
  }
};

cl_context context_of(const Cl& cl, cl_mem mem) {
  return Cl::ask<cl_context>(cl.clGetMemObjectInfo, mem, CL_MEM_CONTEXT);
}

// The context, and its first device.
moves::MoveEnd end_at(Session& session, cl_context context) {
  const Cl& cl = session.cl;
  size_t bytes = 0;
  cl.clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, nullptr, &bytes);
  std::vector<cl_device_id> devices(std::max<size_t>(bytes / sizeof(cl_device_id), 1));
  cl.clGetContextInfo(context, CL_CONTEXT_DEVICES, devices.size() * sizeof(cl_device_id), devices.data(), nullptr);
  return {cl, context, devices[0], driver_lock_of(session, devices[0])};
}

}  // namespace

Migrator::Migrator(Commands& commands) : commands_(commands) {}
Migrator::~Migrator() { close(); }

void Migrator::run(const wire::Move& m) {
  constexpr auto Fn = api::FnId::clEnqueueMigrateMemObjects;  // what comes closest
  std::shared_ptr<MigrationJob> job;
  if (const cl_int code = check(m, job); code != CL_SUCCESS) return commands_.fail(Fn, code, m.to, m.event);
  const std::shared_ptr<Route> way = route(job->from, job->to);
  Object event;
  event.kind = ObjectKind::Event;
  event.handle = job->done;
  commands_.cl().clRetainEvent(job->done);
  // Drivers take some 300 us to go on behind a user event: a small move is made before anything can wait for it.
  const bool small = moves::NativeMoves::is_small(job->from, job->to, job->bytes);
  const bool now = small && are_over(m.waits) && way->try_now(*job);
  event.over = now && commands_.cl().status(job->done) == CL_COMPLETE;
  commands_.objects().add(m.event, std::move(event));
  if (now) return;
  remember(job);
  start_when_over(m.waits, way, job);
}

bool Migrator::are_over(const wire::Ids& waits) {
  return std::all_of(waits.begin(), waits.end(), [this](ObjectId id) {
    const Object& event = *commands_.objects().find(id, ObjectKind::Event);
    return event.failed || event.over || commands_.cl().status(event.as<cl_event>()) <= CL_COMPLETE;
  });
}

cl_int Migrator::check(const wire::Move& m, std::shared_ptr<MigrationJob>& job) {
  Objects& objects = commands_.objects();
  const Object* const from = objects.find(m.from, ObjectKind::Buffer);
  const Object* const to = objects.find(m.to, ObjectKind::Buffer);
  if (!from || !to || from->kind != to->kind || from->element != to->element) return CL_INVALID_MEM_OBJECT;
  copy::Region part = m.part;
  if (part.shape == copy::Region::Shape::Box) return CL_INVALID_VALUE;
  const uint64_t bytes = copy::packed_bytes(part, from->element);
  if (bytes == 0) return CL_INVALID_VALUE;
  for (const Object* const end : {from, to})
    if (const cl_int code = check_part(*end, bytes, part); code != CL_SUCCESS) return code;
  for (const ObjectId id : m.waits)
    if (!objects.find(id, ObjectKind::Event)) return CL_INVALID_EVENT_WAIT_LIST;
  if (const cl_int code = objects.may_name(m.event); code != CL_SUCCESS) return code;
  const Cl& cl = commands_.cl();
  job = std::make_shared<MigrationJob>(commands_.shared_session());
  job->part = part;
  job->element = from->element;
  job->bytes = bytes;
  cl_int code = CL_SUCCESS;
  const cl_event done = cl.clCreateUserEvent(context_of(cl, to->as<cl_mem>()), &code);
  if (code != CL_SUCCESS) return code;
  job->done = done;
  cl.clRetainMemObject(job->from = from->as<cl_mem>());
  cl.clRetainMemObject(job->to = to->as<cl_mem>());
  return CL_SUCCESS;
}

std::shared_ptr<Route> Migrator::route(cl_mem from, cl_mem to) {
  const cl_context source = context_of(commands_.cl(), from), destination = context_of(commands_.cl(), to);
  std::shared_ptr<Route>& route = routes_[{source, destination}];
  if (route) return route;
  Session& session = commands_.session();
  route = std::make_shared<Route>(commands_.shared_session(), end_at(session, source), end_at(session, destination));
  return route;
}

void Migrator::start_when_over(const wire::Ids& waits, std::shared_ptr<Route> route,
                               const std::shared_ptr<MigrationJob>& job) {
  const auto countdown = std::make_shared<Countdown>(std::move(route), job);
  for (const ObjectId id : waits) {
    const Object& event = *commands_.objects().find(id, ObjectKind::Event);
    if (event.failed || event.over) continue;
    ++countdown->left;
    Awaited awaited = commands_.awaited(event);
    awaited.then = make_then([countdown](cl_int, News&) { countdown->one_is_over(); });
    commands_.event_waiter()->await_here(std::move(awaited));
  }
  countdown->one_is_over();
}

void Migrator::remember(const std::shared_ptr<MigrationJob>& job) {
  constexpr size_t Few = 64;
  if (jobs_.size() >= std::max(Few, most_jobs_)) {
    std::erase_if(jobs_, [](const auto& known) { return known.expired(); });
    most_jobs_ = 2 * jobs_.size();
  }
  jobs_.push_back(job);
}

// Taking a route apart may wait for who looks for a shorter one: not here.
void Migrator::forget(cl_context context) {
  constexpr size_t StackBytes = size_t{1} << 20;
  for (auto it = routes_.begin(); it != routes_.end();) {
    if (it->first.first != context && it->first.second != context) {
      ++it;
      continue;
    }
    it->second->retire();
    Session& session = commands_.session();
    session.threads.start("gtrace-move", StackBytes, [route = std::move(it->second)] {});
    it = routes_.erase(it);
  }
}

void Migrator::close() {
  for (const auto& [ends, route] : routes_) route->close();
  routes_.clear();
  for (const std::weak_ptr<MigrationJob>& known : jobs_)
    if (const auto job = known.lock()) job->end(CL_OUT_OF_RESOURCES);
  jobs_.clear();
}

}  // namespace gt::exec
