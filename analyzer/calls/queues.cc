// Looking for the creation of the queue that all commands name.
#include "analyzer/calls/queues.h"

#include <CL/cl.h>

#include "analyzer/calls/node_walk.h"

namespace gt::analyzer {
namespace {

using model::ClassId;

// The class of every command's queue; nothing when they differ.
std::optional<ClassId> common_queue(const model::Trace& trace, const CallPlans& plans) {
  std::optional<ClassId> queue;
  for (const CallPlan& p : plans) {
    if (!p.command || trace.stats[p.shape].calls == 0) continue;
    const ClassId cls = p.touches[p.queue].cls;
    if (queue && *queue != cls) return std::nullopt;
    queue = cls;
  }
  return queue;
}

// Do the numbers of the creating call ask for execution out of order? A list has words: key, value, ...
bool in_order(const model::Trace& trace, const model::Node& creation) {
  const model::Shape& shape = trace.shapes[creation.shape];
  std::vector<int64_t> words;
  size_t at = 0;
  for (const model::Arg& a : shape.args) {
    const std::string_view name = a.param < api::param_count(shape.fn) ? api::param_name(shape.fn, a.param) : "";
    if (name == "properties" && a.form == model::ArgForm::Int) {
      if (creation.values[at].kind != model::Series::Kind::Const) return false;
      words.push_back(creation.values[at].value);
    }
    at += static_cast<size_t>(model::value_count(a.form));
  }
  if (words.size() == 1) return (words[0] & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
  for (size_t i = 0; i + 1 < words.size(); i += 2)
    if (words[i] == CL_QUEUE_PROPERTIES && (words[i + 1] & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)) return false;
  return true;
}

}  // namespace

std::optional<ClassId> only_in_order_queue(const model::Trace& trace, const CallPlans& plans) {
  const auto queue = common_queue(trace, plans);
  if (!queue || !plans.followed(*queue)) return std::nullopt;
  size_t made = 0;
  bool ordered = true;
  walk_calls(trace, [&](const CallPlace& place) {
    for (const Touch& t : plans[place.node.shape].touches) {
      if (t.cls != *queue || !t.made()) continue;
      made += place.loops.empty() ? 1 : 2;
      ordered &= in_order(trace, place.node);
    }
  });
  return made == 1 && ordered ? queue : std::nullopt;
}

}  // namespace gt::analyzer
