#include "transport/gproxy/supervisor.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "traces/base/clock.h"
#include "transport/gproxy/log.h"
#include "transport/link/hello/sockets.h"
#include "transport/link/transports.h"

namespace gt::proxy {
namespace {


constexpr std::chrono::milliseconds LastResort{3000};  // workers clean up for two seconds
constexpr rlim_t OwnFds = 64, FdsOfSession = 4;

// Nobody else may put sockets, or links, beside ours.
Status check_private(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/'));
  struct stat about {};
  if (::stat(folder.c_str(), &about) != 0) return {};  // will be made
  const bool ours = about.st_uid == ::geteuid() && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  return ours ? Status() : Status(Kind::Unsupported, fmt::format("others may write in {}: set XDG_RUNTIME_DIR to a "
                                                                 "folder of your own", folder));
}

}  // namespace

Supervisor::~Supervisor() {
  if (!status_path_.empty()) ::unlink(status_path_.c_str());
}

Status Supervisor::open() {
  Result<std::unique_ptr<EventLoop>> loop = EventLoop::make();
  if (!loop) return loop.status();
  loop_ = std::move(*loop);
  GT_TRY(lower_max_clients());
  GT_TRY(chunk_stores_.open());
  GT_TRY(open_signals());
  acceptor_ = std::make_unique<Acceptor>(*loop_, [this](Caller caller) { pool_->welcome(std::move(caller)); });
  GT_TRY(open_places());
  for (const wire::Url& url : urls_) facts_.urls.push_back(wire::to_text(url));
  const wire::Url& beside = urls_.back();  // shared memory is always the last
  if (beside.name.find('/') == beside.name.npos) options_.plan.shm = beside.name;
  pool_ = std::make_unique<WorkerPool>(*loop_, to_words(options_.plan), environment_, options_.max_clients,
                                       [this](const chunks::Owner& owner) { return chunk_stores_.of(owner); },
                                       [this] { emptied(); });
  facts_.started_ns = monotonic_ns();
  return pool_->start();
}

// A session needs some descriptors of ours; few allowed means few clients, not failures later.
Status Supervisor::lower_max_clients() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t wanted = OwnFds + FdsOfSession * options_.max_clients;
  if (limit.rlim_cur < wanted) {
    limit.rlim_cur = std::min(wanted, limit.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  if (limit.rlim_cur >= wanted) return {};
  if (limit.rlim_cur < OwnFds + FdsOfSession) {
    return {Kind::System, fmt::format("only {} open files are allowed: raise ulimit -n", limit.rlim_cur), EMFILE};
  }
  options_.max_clients = (limit.rlim_cur - OwnFds) / FdsOfSession;
  facts_.most_sessions = options_.max_clients;
  log("{} open files are enough for {} clients at a time only: raise ulimit -n", limit.rlim_cur, options_.max_clients);
  return {};
}

Status Supervisor::open_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaddset(&set, s);
  ::signal(SIGCHLD, SIG_DFL);  // it may have come to us ignored
  ::signal(SIGPIPE, SIG_IGN);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_.open()) return system_error("signalfd", errno);
  signals_watch_ = loop_->watch(signals_.get(), [this] { read_signals(); });
  return {};
}

Status Supervisor::open_places() {
  const auto is_shm = [](const wire::Url& u) { return u.in_node(); };
  std::vector<wire::Url> wanted = options_.urls;
  std::stable_partition(wanted.begin(), wanted.end(), [&](const wire::Url& u) { return !is_shm(u); });
  for (const wire::Url& url : wanted) {
    if (is_shm(url)) GT_TRY(check_private(wire::socket_path(url)));
    const Result<wire::Url> where = acceptor_->open(url);
    if (!where) return where.status().at(wire::to_text(url));
    urls_.push_back(*where);
  }
  if (!is_shm(wanted.back())) {
    const wire::Url beside = wire::node_url(std::to_string(urls_.front().port));
    GT_TRY(check_private(wire::socket_path(beside)));
    const Result<wire::Url> where = acceptor_->open(beside);
    if (!where) return where.status().at(wire::to_text(beside));
    urls_.push_back(*where);
  }
  return open_status(urls_.back());
}

Status Supervisor::open_status(const wire::Url& rendezvous) {
  const auto refresh = [this] { pool_->ask_for_counters(); };
  const std::string path = status_socket(wire::socket_path(rendezvous));
  Result<Fd> socket = wire::listen_on(wire::node_url(path));
  if (!socket) return socket.status();
  status_path_ = path;
  status_ = std::make_unique<TextServer>(*loop_, std::move(*socket), TextServer::Style::SameUser, refresh,
                                         [this] { return status_json(facts_, *pool_, moment()); });
  for (const wire::Url& url : options_.metrics) {
    Result<Fd> listener = wire::listen_on(url);
    if (!listener) return listener.status().at("--metrics");
    metrics_ = std::make_unique<TextServer>(*loop_, std::move(*listener), TextServer::Style::Http, refresh,
                                            [this] { return metrics_text(facts_, *pool_, moment()); });
  }
  return {};
}

Moment Supervisor::moment() const { return {monotonic_ns(), acceptor_->turned_away(), lost_lines(), draining_}; }

void Supervisor::read_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) on_signal(static_cast<int>(info.ssi_signo));
}

void Supervisor::on_signal(int signal) {
  if (signal == SIGCHLD) return pool_->reap();
  if (signal == SIGHUP) {
    log("new sessions read the token and the certificates again");
    return pool_->renew();
  }
  draining_ ? end_sessions() : drain();
}

void Supervisor::drain() {
  draining_ = true;
  if (pool_->serving() > 0) log("{} sessions have up to {} s to finish", pool_->serving(), options_.drain_s);
  drain_over_ = loop_->after(std::chrono::seconds(options_.drain_s), [this] { end_sessions(); });
  pool_->drain();
}

void Supervisor::end_sessions() {
  if (std::exchange(ending_, true)) return;
  if (pool_->serving() > 0) log("{} sessions are ended", pool_->serving());
  pool_->end_all();
  last_resort_ = loop_->after(LastResort, [this] { pool_->kill_all(); });
}

void Supervisor::emptied() {
  if (!draining_) return;
  if (pool_->gone()) return loop_->stop();
  if (pool_->idle()) end_sessions();
}

void Supervisor::run() { loop_->run(); }

}  // namespace gt::proxy
