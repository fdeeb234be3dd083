// gmicrobench remote: what a device is worth from elsewhere: bandwidth by size through a proxy, beside the raw link and
// the same device here.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <thread>

#include "microbench/commands/command_parts.h"
#include "microbench/commands/commands.h"
#include "microbench/base/free_memory.h"
#include "microbench/base/interrupt.h"
#include "microbench/remote/own_proxy.h"
#include "microbench/report/remote_report.h"
#include "traces/base/command.h"
#include "traces/base/progress.h"
#include "traces/base/whole_file.h"
#include "transport/link/transports.h"

namespace gt::bench {
namespace {

constexpr double QuickBudget_s = 12, FullBudget_s = 70;
constexpr uint64_t LeastBytes = 4096, QuickBytes = uint64_t{64} << 20, FullBytes = uint64_t{256} << 20;
constexpr uint64_t CheckedBytes = 3'000'001;
constexpr int QuickIdle_s = 3, FullIdle_s = 10;

class Comparison {
 public:
  Comparison(const Options& options) : options_(options), quick_(options.flag("quick")), tools_(own_folder()) {}

  Status run() {
    GT_TRY(find_devices());
    GT_TRY(make_carriers());
    GT_TRY(measure());
    return own_ ? measure_idle() : Status();
  }
  const RemoteResult& result() const { return result_; }

 private:
  // The device here, and its likes elsewhere.
  Status find_devices() {
    const uint64_t number = options_.integer("device").value_or(0);
    const std::string& url = options_.text("remote");
    Result<std::vector<Device>> here = list_devices();
    if (here && number < here->size()) local_ = (*here)[number];
    if (url.empty()) {
      if (!here) return here.status();
      if (!local_) return {Kind::Invalid, fmt::format("there is no device {}: {} were found", number, here->size())};
      return find_own(number);
    }
    if (const auto parsed = wire::parse_url(url); !parsed) return parsed.status().at("--remote");
    RemoteSettings settings{url, {}, {}, {}, {}};
    settings.token_file = options_.text("token-file"), settings.cert = options_.text("cert");
    settings.key = options_.text("key"), settings.ca = options_.text("ca");
    return find_given(settings);
  }

  // Three clients: one by each way, and one more so that an idle proxy has several.
  Status find_own(uint64_t number) {
    Result<OwnProxy> own = OwnProxy::start(tools_, number);
    if (!own) return own.status();
    own_.emplace(std::move(*own));
    const std::vector<std::string> urls = {own_->tcp(), own_->shm(), own_->tcp()};
    RemoteSettings settings{urls[0] + "," + urls[1] + "," + urls[2], own_->token_file(), {}, {}, {}};
    const auto devices = list_remote_devices(tools_, settings);
    if (!devices) return devices.status();
    if (devices->size() != urls.size()) return {Kind::Unsupported, "the proxy that was started lacks the device"};
    for (size_t i = 0; i < 2; ++i) add_route(urls[i], (*devices)[i]);
    clients_ = urls.size();
    return {};
  }

  Status find_given(const RemoteSettings& settings) {
    const auto devices = list_remote_devices(tools_, settings);
    if (!devices) return devices.status();
    if (devices->empty()) return {Kind::Unsupported, settings.urls + " serves no device"};
    const auto same = [&](const Device& d) { return local_ && d.name == local_->name; };
    const auto like = std::find_if(devices->begin(), devices->end(), same);
    if (like == devices->end()) local_.reset();  // nothing to compare with
    add_route(settings.urls, like == devices->end() ? devices->front() : *like);
    return {};
  }

  void add_route(const std::string& url, const Device& device) {
    result_.routes.push_back({url, {}, {}, {}});
    remote_.push_back(device);
  }

  Status make_carriers() {
    const Device& first = local_ ? *local_ : remote_.front();
    result_.platform = first.platform, result_.name = first.name, result_.driver = first.driver;
    const uint64_t most =
        std::min({quick_ ? QuickBytes : FullBytes, free_memory() / 8, first.memory_bytes / 8, first.max_buffer_bytes});
    memory_.assign(std::max(most, LeastBytes), 1);
    if (local_) GT_TRY(add_device("here", *local_, false));
    for (size_t i = 0; i < remote_.size(); ++i) {
      GT_TRY(add_device(result_.routes[i].url, remote_[i], true));
      GT_TRY(add_raw_link(result_.routes[i]));
    }
    return {};
  }

  Status add_device(const std::string& name, const Device& device, bool remote) {
    auto session = Session::open(device);
    if (!session) return session.status().at(name);
    auto mover = device_mover(std::shared_ptr<Session>(std::move(*session)), memory_.size());
    if (!mover) return mover.status().at(name);
    carriers_.push_back({name, std::move(*mover), remote});
    return check_contents(carriers_.back(), std::span(memory_).first(std::min<size_t>(memory_.size(), CheckedBytes)));
  }

  Status add_raw_link(RemoteRoute& route) {
    const wire::Url url = *wire::parse_url(route.url);
    if (url.in_node()) {
      auto mover = shared_memory_mover(memory_.size());
      if (!mover) return mover.status();
      return add_raw_link(route, "a copy into shared memory", std::move(*mover));
    }
    Result<std::optional<wire::Url>> echo = echo_for(url);
    if (!echo) return echo.status();
    if (!*echo) return {};
    auto socket = BareSocket::connect(**echo, echo_proof_);
    if (!socket) return socket.status().at(wire::to_text(**echo));
    return add_raw_link(route, "a bare socket", socket_mover(std::move(*socket)));
  }

  Status add_raw_link(RemoteRoute& route, const char* name, Mover mover) {
    route.raw = name;
    carriers_.push_back({route.url + ", link", std::move(mover), false});
    return {};
  }

  // Who is at the other end of a bare socket: the one of --echo; where nothing leaves this machine, one of our own.
  Result<std::optional<wire::Url>> echo_for(const wire::Url& url) {
    const std::string& given = options_.text("echo");
    if (given.empty() && !wire::is_local(url)) return std::optional<wire::Url>();
    std::string token = options_.text("token-file"), place = given;
    if (given.empty()) {
      GT_TRY(start_echo(token, place));
    }
    if (!token.empty()) {
      auto read = wire::read_token(token);
      if (!read) return read.status();
      echo_proof_.token = std::move(*read);
    }
    auto parsed = wire::parse_url(place);
    if (!parsed) return parsed.status().at("--echo");
    return std::optional(*parsed);
  }

  Status start_echo(std::string& token, std::string& place) {
    Result<TemporaryFolder> folder = TemporaryFolder::make("gmicrobench");
    if (!folder) return folder.status();
    echo_folder_.emplace(std::move(*folder));
    token = echo_folder_->path() + "/token";
    if (const auto made = wire::make_token(token); !made) return made.status();
    Result<ServerProcess> echo = ServerProcess::start(
        {tools_ + "/gmicrobench", "link", "--serve", "tcp://127.0.0.1:0", "--token-file", token}, {},
        echo_folder_->path() + "/log", "listening at");
    if (!echo) return echo.status();
    echo_.emplace(std::move(*echo));
    place = echo_->said("listening at");
    return {};
  }

  Status measure() {
    constexpr double Steps = 1000;
    Progress progress("measuring", static_cast<uint64_t>(Steps), std::chrono::milliseconds(0));
    const Pace pace{quick_ ? QuickBudget_s : FullBudget_s, quick_ ? Goal{0.05, 3, 30, 2} : Goal{0.02, 5, 100, 3},
                    [&](double part) {
                      progress.show("measuring " + result_.name, static_cast<uint64_t>(part * Steps));
                    }};
    std::vector<uint64_t> sizes;
    for (uint64_t size = LeastBytes; size <= memory_.size(); size *= quick_ ? 16 : 4) sizes.push_back(size);
    if (quick_ && sizes.back() * 4 <= memory_.size()) sizes.push_back(sizes.back() * 4);
    Result<std::vector<Times>> times = measure_bandwidth(carriers_, sizes, memory_, pace);
    if (!times) return times.status();
    auto next = times->begin();
    result_.has_native = local_.has_value();
    if (local_) result_.native = std::move(*next++);
    for (RemoteRoute& route : result_.routes) {
      route.remote = std::move(*next++);
      if (!route.raw.empty()) route.link = std::move(*next++);
    }
    return {};
  }

  Status measure_idle() {
    const int seconds = quick_ ? QuickIdle_s : FullIdle_s;
    Progress progress("doing nothing", static_cast<uint64_t>(seconds), std::chrono::milliseconds(0));
    std::this_thread::sleep_for(std::chrono::seconds(1));  // what the last transfer left to do
    const uint64_t before = cpu_ns(own_->pid());
    const double start = now_ns();
    for (int s = 0; s < seconds; ++s) {
      if (interrupted()) return {Kind::Busy, "interrupted"};
      progress.show("doing nothing", static_cast<uint64_t>(s));
      std::this_thread::sleep_for(std::chrono::seconds(1));
    }
    const uint64_t after = std::max(cpu_ns(own_->pid()), before);  // less: a worker that waited has ended
    result_.idle = {clients_, static_cast<double>(after - before) / (now_ns() - start)};
    return {};
  }

  const Options& options_;
  const bool quick_;
  const std::string tools_;
  // Servers first: what uses them ends before they do.
  std::optional<OwnProxy> own_;
  std::optional<TemporaryFolder> echo_folder_;
  std::optional<ServerProcess> echo_;
  wire::Credentials echo_proof_;
  size_t clients_ = 0;
  std::optional<Device> local_;
  std::vector<Device> remote_;  // by route
  Bytes memory_;
  std::vector<Carrier> carriers_;  // the local device, then each route's device and raw link
  RemoteResult result_;
};

// What was started for it has ended.
Result<RemoteResult> compare(const Options& options) {
  Comparison comparison(options);
  GT_TRY(comparison.run());
  return comparison.result();
}

}  // namespace

int remote_command(int argc, char** argv) {
  CommandLine line("gmicrobench remote",
                   "Measures a device through a proxy: bandwidth by size, beside the raw link and the same device "
                   "here.");
  const Options& options = line.options();
  if (const auto status = line.parse(argc, argv)) return *status;
  const std::string page = options.text("html");
  if (Status s = page.empty() ? Status() : can_write(page); !s.ok()) return fail(Program, s);
  const InterruptGuard guard;
  const Result<RemoteResult> compared = compare(options);
  if (interrupted()) return end_interrupted();
  if (!compared) return fail(Program, compared.status());
  const RemoteResult& result = *compared;
  Status written;
  if (!page.empty()) written = write_whole_file(page, remote_page(result));
  if (!page.empty() && written.ok()) fmt::print(stderr, "{}: wrote {}\n", Program, page);
  const Status printed = print_text(options.flag("json") ? remote_json(result) : remote_table(result));
  if (const Status& s = written.ok() ? printed : written; !s.ok()) return fail(Program, s);
  return ExitOk;
}

}  // namespace gt::bench
