// Calls that are made again with other numbers: one by one, or a whole loop of them.
#include "tracer/gtrace/replay/last_call.h"
#include "tracer/gtrace/replay/replayer.h"

namespace gt::tracer {

using api::FnId;
using model::Arg;
using model::ArgForm;

void Replayer::keep_plain(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values,
                          AnyFunction function) {
  if (world_.summarised) return plain_.give_up(shape_);  // each call's values are looked at
  PlainCall kept;
  kept.call = api::PreparedCall::prepare(static_cast<FnId>(shape.fn), encoder_.inputs(), function, this);
  if (!kept.call || made_.size() != 1) return plain_.give_up(shape_);
  kept.shape = shape_;
  kept.fn = shape.fn;
  kept.waits = plan.fn->attributes.waits;
  kept.function = function;
  kept.row.assign(values.begin(), values.end());
  for (const EncodedNumber& n : encoder_.numbers()) {
    if (void* const place = kept.call->place(n.at, n.size)) kept.numbers.push_back({n.value, n.size, place});
  }
  kept.answer = static_cast<int32_t>(made_.front().value);
  kept.changes = world_.objects.changes();
  kept.kernel = first_of(model::ObjectKind::Kernel, shape, plan, values);
  plain_.keep(std::move(kept));
}

bool Replayer::call_like_before(const WalkedEvent& e, Status& outcome) {
  PlainCall* const kept = plain_.find(e.shape, e.values, world_.objects.changes());
  if (!kept || world_.late_reads.any()) return false;
  shape_ = e.shape;
  if (kept->waits) world_.mapped.program_waited();
  const int32_t answer = measured([&] { return kept->call->make(); });
  if (answer == kept->answer) {
    note_plain(*kept);
  } else {
    outcome = ended_otherwise(answer, *kept, e.values, e.number);
  }
  return true;
}

Status Replayer::call_rounds(model::Rounds& rounds, uint64_t number, LastCall* last) {
  // Who wants each call's time wants each call.
  if (world_.times_calls || world_.late_reads.any()) return {};
  if (!plain_.find_all(rounds, world_.objects.changes(), round_)) return {};
  const uint64_t wanted = rounds.left();
  LastCall none;
  LastCall& noted = last ? *last : none;
  noted.note(world_.trace.shapes[round_.front().kept->shape].thread, round_.front().fn, number);
  for (; rounds.left() > 0; rounds.end_round()) {
    size_t at = 0;
    for (const PlainStep& step : round_) {
      if (step.reads && !rounds.read(at)) return {};
      take_numbers(step);
      noted.note(step.fn, number);
      if (step.waits) world_.mapped.program_waited();
      const int32_t answer = step.call->make();
      if (answer != step.answer) {
        note_rounds(wanted - rounds.left(), at);
        return leave_rounds(rounds, at, answer, number);
      }
      ++at, ++number;
    }
  }
  note_rounds(wanted, 0);
  return {};
}

// The call of the round that has begun ended otherwise than the ones before it.
Status Replayer::leave_rounds(model::Rounds& rounds, size_t at, int32_t answer, uint64_t number) {
  PlainCall& kept = *round_[at].kept;
  shape_ = kept.shape;
  if (world_.measures.load(std::memory_order_relaxed)) ++times_[shape_].calls;
  const Status outcome = ended_otherwise(answer, kept, rounds.row(at), number);
  if (at + 1 < rounds.size()) {
    rounds.end_within(at + 1);
  } else {
    rounds.end_round();
  }
  return outcome;
}

// So many rounds were made, and the first `within` calls of another. What the last ones left behind is what all of them
// did, for they differ in numbers alone.
void Replayer::note_rounds(uint64_t rounds, size_t within) {
  const bool counts = world_.measures.load(std::memory_order_relaxed);
  const auto note = [&](size_t at, uint64_t times) {
    const PlainCall& kept = *round_[at].kept;
    if (counts) times_[kept.shape].calls += times;
    if (times > 0) note_plain(kept);
  };
  for (size_t at = within; at < round_.size(); ++at) note(at, rounds);
  for (size_t at = 0; at < within; ++at) note(at, rounds + 1);
}

Status Replayer::ended_otherwise(int32_t answer, PlainCall& kept, std::span<const int64_t> values, uint64_t number) {
  const model::Shape& shape = world_.trace.shapes[shape_];
  const ShapePlan& plan = *plans_[shape_];
  number_ = number;
  content_ = -1;
  moved_ = {};
  reads_ = late_ = late_copy_ = goes_on_ = unknown_ = false;
  if (!encoder_.encode(shape, plan, values)) return not_made(shape, plan, values, encoder_.why());
  outputs_.view().clear();
  kept.call->encode_outputs(answer, outputs_);
  return conclude(shape, plan, values, kept.function);
}

// Of numbers that were bound nobody asks who does not look at launches (world.hook), and then no call is plain.
void Replayer::note_plain(const PlainCall& kept) {
  const model::Shape& shape = world_.trace.shapes[kept.shape];
  const ShapePlan& plan = *plans_[kept.shape];
  const api::Attributes& attributes = plan.fn->attributes;
  if (attributes.launch) {
    const LaunchedLast now{kept.kernel, world_.kernels.changes(), kernel_class(shape, plan)};
    if (now == launched_) return;
    world_.kernels.launched(now.kernel, now.cls);
    launched_ = {now.kernel, world_.kernels.changes(), now.cls};
  }
  if (attributes.kernel_value < 0) return;
  const Arg& value = shape.args[plan.input_at[static_cast<size_t>(attributes.kernel_value)]];
  if (value.form != ArgForm::Int) note_binding(shape, plan, kept.row, kept.kernel);
}

}  // namespace gt::tracer
