// The command line of gproxy serve, checked.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "transport/gproxy/serve.h"
#include "transport/link/transports.h"

namespace gt::proxy {
namespace {


std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find_first_of(",\n", at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

Status add_urls(const Options& options, std::vector<wire::Url>& urls) {
  for (const std::string& text : split(options.text("listen"))) {
    Result<wire::Url> url = wire::parse_url(text);
    if (!url) return url.status().at("--listen");
    const bool open = !url->is_encrypted() && !wire::is_local(*url);
    if (open && !options.flag("insecure")) {
      return {Kind::Invalid, fmt::format("--listen {}: other machines reach it and nothing is encrypted: use tls:// "
                                         "with --cert, --key and --ca, or say --insecure", text)};
    }
    urls.push_back(std::move(*url));
  }
  return urls.empty() ? Status(Kind::Invalid, "--listen names no place") : Status();
}

Status check_certificates(const ServeOptions& wanted) {
  const WorkerPlan& plan = wanted.plan;
  const bool tls = std::any_of(wanted.urls.begin(), wanted.urls.end(),
                               [](const wire::Url& u) { return u.is_encrypted(); });
  const int given = !plan.cert.empty() + !plan.key.empty() + !plan.ca.empty();
  if (tls && given < 3) return {Kind::Invalid, "tls:// needs --cert, --key and --ca"};
  if (!tls && given > 0) return {Kind::Invalid, "--cert, --key and --ca are for --listen tls://HOST:PORT"};
  for (const std::string& file : {plan.cert, plan.key, plan.ca}) {
    if (tls && ::access(file.c_str(), R_OK) != 0) return system_error("cannot read " + file, errno);
  }
  return {};
}

Status add_metrics(std::string text, std::vector<wire::Url>& metrics) {
  if (text.empty()) return {};
  if (text.find_first_not_of("0123456789") == text.npos) text = "127.0.0.1:" + text;
  Result<wire::Url> url = wire::parse_url("tcp://" + text);
  if (!url) return {Kind::Invalid, "--metrics " + text + ": not HOST:PORT"};
  metrics.push_back(std::move(*url));
  return {};
}

WorkerPlan plan_of(const Options& options) {
  WorkerPlan plan;
  plan.memory_bytes = options.size("memory").value_or(0);
  plan.objects = options.integer("objects").value_or(0);
  plan.build_seconds = options.integer("build-seconds").value_or(0);
  plan.in_flight_bytes = options.size("in-flight").value_or(0);
  plan.store_bytes = options.size("store").value_or(0);
  plan.token_file = options.text("token-file").empty() ? default_token_file() : options.text("token-file");
  plan.cert = options.text("cert");
  plan.key = options.text("key");
  plan.ca = options.text("ca");
  return plan;
}

}  // namespace

Result<ServeOptions> serve_options(const Options& options) {
  constexpr uint64_t MostClients = 10'000, LongestWait_s = 86'400, LeastStore = uint64_t{1} << 20;
  ServeOptions wanted;
  wanted.devices = options.text("devices");
  wanted.plan = plan_of(options);
  GT_TRY(add_urls(options, wanted.urls));
  GT_TRY(check_certificates(wanted));
  GT_TRY(add_metrics(options.text("metrics"), wanted.metrics));
  const uint64_t clients = options.integer("max-clients").value_or(0);
  if (clients < 1 || clients > MostClients) return Status(Kind::Invalid, "--max-clients: 1 to 10000");
  if (options.integer("probe-seconds").value_or(0) < 1) return Status(Kind::Invalid, "--probe-seconds: 1 at least");
  if (wanted.plan.token_file.empty()) return Status(Kind::Invalid, "no home folder for the token: give --token-file");
  wanted.max_clients = clients;
  if (wanted.plan.store_bytes != 0 && wanted.plan.store_bytes < LeastStore)
    return Status(Kind::Invalid, "--store: 1M at least, or 0");
  wanted.store_folder = options.text("store-dir");
  wanted.sandbox = !options.flag("no-sandbox");
  wanted.drain_s = static_cast<unsigned>(std::min(options.integer("drain").value_or(0), LongestWait_s));
  wanted.probe_s = static_cast<unsigned>(std::min(*options.integer("probe-seconds"), LongestWait_s));
  return wanted;
}

}  // namespace gt::proxy
