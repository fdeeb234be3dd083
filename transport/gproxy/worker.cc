// One client's process: drivers are loaded while it waits for a caller, so that being taken is quick.
//
//   main thread   load drivers ─► wait for the link ─► Executor ─► until the link is closed ─► clean up, _exit
//   greeter       open a hand-over socket, accept_link(), again for callers that are refused
//   lifeline      the supervisor's socket: "count" asks for fresh numbers, its end is ours
//   printed       keeps the file empty into which kernels print
//
// A clean-up that hangs in a driver ends after CleanUpTime; a process that ends gives everything back anyway.
#include "transport/gproxy/worker.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "traces/base/command.h"
#include "traces/base/mutex.h"
#include "traces/sandbox/driver_sandbox.h"
#include "transport/executor/executor.h"
#include "transport/gproxy/build_turns.h"
#include "transport/gproxy/opencl.h"
#include "transport/gproxy/printed.h"
#include "transport/gproxy/probe.h"
#include "transport/gproxy/worker_channel.h"
#include "transport/gproxy/worker_plan.h"
#include "transport/link/connect.h"
#include "transport/link/hello/handover.h"
#include "transport/link/hello/hello.h"
#include "transport/link/hello/tls.h"

namespace gt::proxy {
namespace {

constexpr std::chrono::milliseconds CleanUpTime{2000};
constexpr const char* Program = "gproxy worker";

void end_within(std::chrono::milliseconds time) {
  std::thread([time] {
    std::this_thread::sleep_for(time);
    ::_exit(ExitOk);
  }).detach();
}

// What the threads share.
class Session {
 public:
  explicit Session(CounterPage* page) : page_(page) {}

  void begin(std::unique_ptr<wire::Link> link) {
    const MutexLock lock(mutex_);
    link_ = std::move(link);
    changed_.notify_all();
  }
  wire::Link& wait_for_link() {
    UniqueLock lock(mutex_);
    changed_.wait(lock, [this]() GT_REQUIRES(mutex_) { return link_ != nullptr; });
    return *link_;
  }
  void set_executor(const exec::Executor* executor) {
    const MutexLock lock(mutex_);
    executor_ = executor;
  }
  // False: there is none yet.
  bool close() {
    const MutexLock lock(mutex_);
    if (link_) link_->close();
    return link_ != nullptr;
  }
  // What the supervisor gave when it was asked for a store; closed: there is none.
  void give_store(Fd store) {
    const MutexLock lock(mutex_);
    store_ = std::move(store);
    store_given_ = true;
    changed_.notify_all();
  }
  Fd wait_for_store() {
    constexpr std::chrono::seconds Longest{5};
    UniqueLock lock(mutex_);
    changed_.wait_for(lock, Longest, [this]() GT_REQUIRES(mutex_) { return store_given_; });
    return std::move(store_);
  }
  void uses(size_t device) {
    if (device < 64) page_->devices |= uint64_t{1} << device;
  }
  void count() {
    const MutexLock lock(mutex_);
    if (!executor_) return;
    const exec::Counters c = executor_->counters();
    for (const exec::CounterRow& row : exec::CounterRows) page_->counters.*row.live = c.*row.value;
  }

 private:
  Mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<wire::Link> link_ GT_GUARDED_BY(mutex_);
  const exec::Executor* executor_ GT_GUARDED_BY(mutex_) = nullptr;
  Fd store_ GT_GUARDED_BY(mutex_);
  bool store_given_ GT_GUARDED_BY(mutex_) = false;
  CounterPage* page_;
};

void report(const Report& r, int fd = -1) {
  if (!send_report(ControlFd, r, fd)) ::_exit(ExitEnvironment);  // the supervisor is gone
}
void report(News news, const std::string& text = {}, int fd = -1, const wire::SessionId& name = {}) {
  Report r;
  r.news = news;
  r.name = name;
  std::snprintf(r.text, sizeof r.text, "%s", text.c_str());
  report(r, fd);
}

Result<wire::Credentials> credentials_of(const WorkerPlan& plan) {
  wire::Credentials credentials{{}, plan.cert, plan.key, plan.ca};
  Result<Bytes> token = wire::read_token(plan.token_file);
  if (!token) return token.status();
  credentials.token = std::move(*token);
  if (!plan.cert.empty()) GT_TRY(wire::load_certificates(credentials));
  return credentials;
}

// One attempt: a fresh socket each time, so that nothing of a caller that was refused is left for the next.
Result<std::unique_ptr<wire::Link>> greet(const wire::Credentials& credentials) {
  Result<wire::WorkerSocket> sockets = wire::worker_socket();
  if (!sockets) return sockets.status();
  report(News::Open, {}, sockets->supervisor.get());
  sockets->supervisor = {};
  return wire::accept_link(std::move(sockets->worker), credentials);
}

void greet_until_accepted(const wire::Credentials& credentials, Session& session) {
  while (true) {
    Result<std::unique_ptr<wire::Link>> link = greet(credentials);
    if (!link) {
      report(News::Refused, link.status().text());
      continue;
    }
    report(News::Accepted);
    return session.begin(std::move(*link));
  }
}

void hold_lifeline(Session& session) {
  for (bool gone = false; !gone;) {
    pollfd control{ControlFd, POLLIN, 0};
    if (::poll(&control, 1, -1) < 0) continue;
    Report said;
    Fd fd;
    if (receive_report(ControlFd, said, fd, gone)) {
      if (said.news == News::Store) session.give_store(std::move(fd));
    } else if (!gone) {
      session.count();
    }
  }
  if (!session.close()) ::_exit(ExitOk);
  end_within(CleanUpTime);  // the main thread does it, if no driver keeps it
}

// Another worker of the same client comes in by the supervisor, too.
Result<exec::PeerListener> open_peer_listener(const WorkerPlan& plan) {
  exec::PeerListener listener;
  GT_TRY(wire::fill_random(listener.session));
  Result<wire::WorkerSocket> sockets = wire::worker_socket();
  if (!sockets) return sockets.status();
  report(News::PeerListener, {}, sockets->supervisor.get(), listener.session);
  listener.handover = std::move(sockets->worker);
  if (!plan.shm.empty()) listener.urls.push_back("shm:" + plan.shm);
  return listener;
}

exec::Options options_of(const OpenCl& cl, const WorkerPlan& plan, const wire::Credentials& credentials,
                         Printed* printed, Session& session) {
  const std::vector<OpenCl::Device> all = cl.list(nullptr);
  std::set<std::pair<cl_platform_id, cl_device_id>> served;
  for (const unsigned number : plan.devices) {
    if (number < all.size()) served.emplace(all[number].platform, all[number].device);
  }
  exec::Options options;
  options.uses = [all, &session](cl_device_id device) {
    for (size_t number = 0; number < all.size(); ++number)
      if (all[number].device == device) session.uses(number);
  };
  options.serves = [served](cl_platform_id p, cl_device_id d) { return served.contains({p, d}); };
  options.take_printed = [printed] { return printed->take(); };
  options.log = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  options.open_peer_listener = [plan] { return open_peer_listener(plan); };
  options.packs = true;
  if (plan.store_bytes != 0) {
    options.open_chunk_store = [&session](const chunks::Owner& owner) {
      Report wanted;
      wanted.news = News::StoreWanted;
      wanted.owner = owner;
      report(wanted);
      return session.wait_for_store();
    };
    if (!credentials.token.empty()) options.chunk_key = chunks::key_of(credentials.token);
  }
  options.certificates = credentials;
  options.certificates.token.clear();  // peers have secrets of their own
  options.take_build_turn = [](std::string_view what) {
    Fd turn = take_build_turn(BuildTurnsFd, what);
    return turn.open() ? std::make_shared<const Fd>(std::move(turn)) : nullptr;
  };
  options.close_ms = static_cast<uint32_t>(CleanUpTime.count()) * 3 / 4;
  return options;
}

exec::Limits limits_of(const WorkerPlan& plan) {
  exec::Limits limits;
  limits.objects = plan.objects;
  limits.memory_bytes = plan.memory_bytes;
  limits.in_flight_bytes = plan.in_flight_bytes;
  limits.build_seconds = static_cast<uint32_t>(plan.build_seconds);
  return limits;
}

Status serve(const WorkerPlan& plan, const wire::Credentials& credentials, Printed* printed, Session& session) {
  Result<std::unique_ptr<OpenCl>> cl = OpenCl::load();
  if (!cl) return cl.status();
  const exec::Functions functions = exec::functions_of((*cl)->library());
  const exec::Options options = options_of(**cl, plan, credentials, printed, session);
  wire::Link& link = session.wait_for_link();
  exec::Executor executor(functions, link, limits_of(plan), options);
  session.set_executor(&executor);
  GT_TRY(executor.start());
  executor.wait_until_closed();
  end_within(CleanUpTime);
  session.count();
  session.set_executor(nullptr);
  return {};
}

Result<CounterPage*> counter_page() {
  void* const p = ::mmap(nullptr, CounterPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, CounterFd, 0);
  if (p == MAP_FAILED) return Status(Kind::Invalid, "gproxy starts its workers itself; see gproxy serve --help");
  return static_cast<CounterPage*>(p);
}

void limit_this_process() {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, "gproxy-worker");
  ::signal(SIGPIPE, SIG_IGN);
  ::fcntl(ControlFd, F_SETFD, FD_CLOEXEC);
  ::fcntl(CounterFd, F_SETFD, FD_CLOEXEC);
  ::fcntl(BuildTurnsFd, F_SETFD, FD_CLOEXEC);
}

// What a driver gives as shared virtual memory must be free at the same address in the client. Programs have what they
// map near the top of the address space, and so would this process: the top is taken here, and drivers map below it.
// Programs have their heap behind their image: a page is taken there, and the allocator maps memory instead.
void leave_where_programs_are() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they say themselves what may be mapped where
  constexpr size_t Tera = size_t{1} << 40;
  const size_t differs = static_cast<size_t>(::getpid()) % 32 * (Tera / 2);  // a client may have several workers
  constexpr int Flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  ::mmap(nullptr, 8 * Tera + differs, PROT_NONE, Flags, -1, 0);
  ::malloc_trim(0);
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const uintptr_t end = (reinterpret_cast<uintptr_t>(::sbrk(0)) + page - 1) / page * page;
  ::mmap(reinterpret_cast<void*>(end), page, PROT_NONE, Flags | MAP_FIXED_NOREPLACE, -1, 0);
#endif
}

}  // namespace

int worker_command(int argc, char** argv) {
  const Result<WorkerPlan> plan = plan_from_words({argv + 1, argv + argc});
  if (!plan) return fail(Program, plan.status());
  const Result<CounterPage*> page = counter_page();
  if (!page) return fail(Program, page.status());
  limit_this_process();
  leave_where_programs_are();
  // What is secret is read now: in the sandbox it is not there. Threads begin inside.
  static Result<wire::Credentials> credentials = credentials_of(*plan);
  if (!credentials) return fail(Program, credentials.status());
  if (plan->store_bytes != 0) (void)chunks::PieceNamer::available().ok();  // loads OpenSSL
  if (!plan->temporary.empty()) {
    const Status s = enter_sandbox(driver_sandbox(driver_libraries(), plan->temporary));
    if (!s.ok()) return fail(Program, s);
  }
  const Result<Printed*> printed = Printed::capture();
  if (!printed) return fail(Program, printed.status());
  auto* const session = new Session(*page);  // for threads that outlive this function
  std::thread([session] { hold_lifeline(*session); }).detach();
  std::thread([session] { greet_until_accepted(*credentials, *session); }).detach();
  const Status served = serve(*plan, *credentials, *printed, *session);
  ::_exit(served.ok() ? ExitOk : fail(Program, served));  // drivers' exit handlers are not needed, and may hang
}

}  // namespace gt::proxy
