// gmicrobench link: what a link to another process or node can do.
#include <fmt/format.h>
#include <signal.h>
#include <sys/signalfd.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "microbench/commands/command_parts.h"
#include "microbench/commands/commands.h"
#include "microbench/links/echo.h"
#include "microbench/links/link_probe.h"
#include "transport/link/hello/credentials.h"
#include "transport/link/transports.h"

namespace gt::bench {
namespace {

Result<wire::Credentials> credentials(const Options& options) {
  wire::Credentials c;
  c.cert = options.text("cert");
  c.key = options.text("key");
  c.ca = options.text("ca");
  if (options.text("token-file").empty()) return c;
  auto token = wire::read_token(options.text("token-file"));
  if (!token) return token.status();
  c.token = std::move(*token);
  return c;
}

Status serve(const wire::Url& url, const wire::Credentials& credentials) {
  if (!url.in_node() && !url.is_encrypted() && credentials.token.empty())
    return {Kind::Invalid, "nobody could connect to " + wire::to_text(url) +
                               " without a token: give both sides the same --token-file (64 hex digits)"};
  sigset_t ends;
  ::sigemptyset(&ends);
  ::sigaddset(&ends, SIGINT);
  ::sigaddset(&ends, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  const Fd wake(::signalfd(-1, &ends, SFD_CLOEXEC));
  return serve_echo(url, credentials, wake.get());
}

// Replaces the link of the same name.
Status add_to_platform(const LinkResult& result, const std::string& path) {
  auto platform = model::read_platform(path);
  if (!platform) return platform.status();
  auto costs = link_costs(result);
  if (!costs) return costs.status();
  std::erase_if(platform->links, [&](const model::LinkCosts& l) { return l.name == costs->name; });
  platform->links.push_back(std::move(*costs));
  return model::write_platform(*platform, path);
}

}  // namespace

int link_command(int argc, char** argv) {
  CommandLine line("gmicrobench link",
                   "Measures a link to a gmicrobench link --serve: round trip, bandwidth by size, the delay window.");
  const Options& options = line.options();
  std::string text;
  line.argument("URL", text, "shm:NAME, tcp://HOST:PORT or tls://HOST:PORT", CommandLine::Need::Required);
  if (const auto status = line.parse(argc, argv)) return *status;
  const auto url = wire::parse_url(text);
  if (!url) return fail(Program, url.status());
  const auto who = credentials(options);
  if (!who) return fail(Program, who.status());
  if (options.flag("serve")) {
    const Status s = serve(*url, *who);
    return s.ok() ? ExitOk : fail(Program, s);
  }
  const std::string path = options.text("platform");
  if (!path.empty())  // known before anything is measured
    if (const auto platform = model::read_platform(path); !platform) return fail(Program, platform.status());
  const auto result = measure_link(*url, *who, options.flag("quick"));
  if (!result) return fail(Program, result.status());
  Status s = print_text(options.flag("json") ? link_json(*result) : link_table(*result));
  if (s.ok() && !path.empty()) s = add_to_platform(*result, path);
  if (!s.ok()) return fail(Program, s);
  if (!path.empty()) fmt::print(stderr, "{}: added {} to {}\n", Program, result->url, path);
  return ExitOk;
}

}  // namespace gt::bench
