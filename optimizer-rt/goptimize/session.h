// The private folder that a run shares with the injected library: the plan going in, the counters
// coming out, requests for what devices cost in between. Thread safety: none.
#pragma once

#include <chrono>
#include <string>

#include "optimizer-rt/pool/counters.h"
#include "optimizer-rt/pool/plan.h"
#include "optimizer-rt/pool/policy.h"
#include "optimizer-rt/pool/requests.h"
#include "traces/base/status.h"

namespace gt::opt {

// The plan's bytes. Sites with the standard policy are left out; `site_of_plan` says which site
// each row stands for. Of more than MaxSites, those that save most stay.
struct EncodedPlan {
  std::string bytes;
  std::vector<size_t> site_of_plan;
};
EncodedPlan encode_plan(const model::Platform& platform, const model::Profile& profile,
                        const Decision& decision, bool pin_everywhere, Staging staging, Reuse reuse,
                        bool shared = false, bool asks = false, bool huge_pages = false);

class Session {
 public:
  // `limit`: how long a program that asks may wait in all; zero: none asks.
  static Result<Session> begin(const EncodedPlan& plan, std::chrono::seconds limit = {});
  Session(Session&& other) noexcept;
  Session& operator=(Session&&) = delete;
  ~Session();  // removes the folder

  std::string plan_path() const { return folder_ + "/plan"; }
  std::string counters_path() const { return folder_ + "/counters"; }
  std::string requests_path() const { return folder_ + "/requests"; }
  const Counters& counters() const { return *counters_; }
  Requests* requests() const { return requests_; }  // nullptr: none asks

  // In one step: a process of the program may be reading it.
  Status replace_plan(const EncodedPlan& plan) const;

 private:
  explicit Session(std::string folder) : folder_(std::move(folder)) {}
  Status write_plan(const std::string& bytes, const std::string& path) const;
  template <class T>
  Status map(const std::string& path, T** out) const;

  std::string folder_;
  Counters* counters_ = nullptr;
  Requests* requests_ = nullptr;
};

}  // namespace gt::opt
