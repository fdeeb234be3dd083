// The private folder that a run shares with the injected library: the plan going in, the counters
// coming out. Thread safety: none.
#pragma once

#include <string>

#include "optimizer-rt/pool/counters.h"
#include "optimizer-rt/pool/plan.h"
#include "optimizer-rt/pool/policy.h"
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
                        bool shared = false);

class Session {
 public:
  static Result<Session> begin(const EncodedPlan& plan);
  Session(Session&& other) noexcept;
  Session& operator=(Session&&) = delete;
  ~Session();  // removes the folder

  std::string plan_path() const { return x_folder + "/plan"; }
  std::string counters_path() const { return x_folder + "/counters"; }
  const Counters& counters() const { return *x_counters; }

 private:
  explicit Session(std::string folder) : x_folder(std::move(folder)) {}
  Status write_plan(const std::string& bytes);
  Status map_counters();

  std::string x_folder;
  Counters* x_counters = nullptr;
};

}  // namespace gt::opt
