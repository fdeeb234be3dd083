#include "optimizer-rt/client/memory/residency.h"

#include <algorithm>

namespace gt::virt {
namespace {

// As far as can be seen without asking anybody elsewhere.
bool has_ended(const _cl_event& event) {
  if (event.ended() || event.ended_by_finish()) return true;
  return event.sub_context && event.sub_context->session.sees_end(event.name);
}

}  // namespace

bool have_ended(const std::vector<Ref<_cl_event>>& events) {
  return std::all_of(events.begin(), events.end(), [](const auto& e) { return has_ended(*e); });
}

// Seldom enough to cost little for each writer: when there are twice as many as were left the last time.
void Residency::add_writer(const Ref<_cl_event>& event) {
  constexpr size_t Few = 32;
  if (writers.size() >= std::max(Few, most_writers)) {
    std::erase_if(writers, [](const Ref<_cl_event>& e) { return has_ended(*e); });
    for (const Ref<_cl_event>& e : writers)
      if (e->sub_context && !e->sub_context->session.in_process()) e->subscribe();  // or else nobody would ever know
    most_writers = 2 * writers.size();
  }
  writers.push_back(event);
}

void Residency::look_at(size_t place) {
  const Ref<_cl_event>& move = ready[place];
  if (move && move->ended() && move->status.load() == CL_COMPLETE) has_arrived(place);
}

void Residency::written_at(size_t place) {
  for (size_t i = 0; i < valid.size(); ++i) {
    passed_on[i] = 0;
    valid[i] = i == place;
    if (i != place) has_arrived(i);
  }
}

}  // namespace gt::virt
