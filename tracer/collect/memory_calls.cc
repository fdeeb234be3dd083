#include "tracer/collect/memory_calls.h"

#include <algorithm>
#include <cstring>

namespace gt::tracer {

using api::AllocFn;
using api::AllocRole;
using model::ArgForm;
using model::Effect;
using model::ObjectKind;

namespace {

bool is(const MemoryForm& form, AllocFn fn) { return form.fn == static_cast<uint16_t>(fn); }
bool is_mapping(const MemoryForm& form) { return is(form, AllocFn::Mmap) || is(form, AllocFn::Mmap64); }
bool is_string(const MemoryForm& form) {
  return is(form, AllocFn::Strdup) || is(form, AllocFn::Strndup) || is(form, AllocFn::Wcsdup);
}
bool moves_break(const MemoryForm& form) { return is(form, AllocFn::Brk) || is(form, AllocFn::Sbrk); }
bool is_address(AllocRole role) { return role == AllocRole::Place || role == AllocRole::Old; }

uint64_t whole_pages(uint64_t bytes) { return (bytes + PageBytes - 1) & ~(PageBytes - 1); }

bool holds(const std::vector<ObjectRef>& objects, const ObjectRef& object) {
  return std::any_of(objects.begin(), objects.end(),
                     [&](const ObjectRef& o) { return o.cls == object.cls && o.slot == object.slot; });
}

// free(NULL). By code that came and went with the driver (the destructors of a compiler that ran in a first run only)
// it is none of the program's.
bool gives_nothing_back(const RecordView& record) {
  return std::all_of(record.payload.begin() + 8, record.payload.end(), [](uint8_t b) { return b == 0; });
}

size_t hash_of(const MemoryForm& form) { return mix(mix(form.site, form.fn), form.in[0]); }

// The product of what was asked for; the largest number when it is no number.
uint64_t bytes_asked(const MemoryCall& call) {
  uint64_t bytes = 1;
  for (size_t i = 0; i < call.params; ++i) {
    if (call.info->params[i].role == AllocRole::Size && __builtin_mul_overflow(bytes, call.words[i], &bytes))
      return ~uint64_t{0};
  }
  return bytes;
}

// The parameter through which it returns memory; params when the result is it.
size_t made_param(const MemoryCall& call) {
  size_t i = 0;
  while (i < call.params && call.info->params[i].role != AllocRole::Made) ++i;
  return i;
}

// What the call made, from its words.
void find_made(MemoryCall& call) {
  if (!call.info->makes()) return;
  call.made = call.words[made_param(call)];
  call.made_bytes = bytes_asked(call);
  if (is_string(call.form)) call.made_bytes = call.words[call.params + 1];
  if (moves_break(call.form)) call.made_bytes = call.words[0];
  if (is(call.form, AllocFn::Sbrk) && static_cast<int64_t>(call.words[0]) <= 0)
    call.made = 0;  // only tells where it is
  if (is(call.form, AllocFn::Pvalloc)) call.made_bytes = whole_pages(call.made_bytes);
}

bool failed(const MemoryCall& call) {
  const auto code = static_cast<int32_t>(call.words[call.params]);
  if (is(call.form, AllocFn::MallocUsableSize) || call.info->result == AllocRole::None) return false;
  if (is(call.form, AllocFn::Sbrk)) return call.words[call.params] == 0;
  if (call.info->result == AllocRole::Number) return code != 0;
  return call.made == 0 && !call.form.ends_old;
}

}  // namespace

void MemoryCalls::take_frames(TracedThread& thread, const RecordView& record) {
  std::vector<uint64_t>& frames = of(thread).frames;
  frames.resize(std::min<size_t>(record.payload.size() / 8, MaxFrames));
  if (!frames.empty()) std::memcpy(frames.data(), record.payload.data(), frames.size() * 8);
}

// Its name is free: what happens to it from here on is only counted.
bool MemoryCalls::take_left_list(TracedThread& thread, const RecordView& record) {
  State& state = of(thread);
  if (state.call.open) end(thread, state, true);
  ByteReader in(record.payload);
  const Place block = thread.process->objects.take_memory(in.fixed64(), nullptr);
  if (block.found) names_.release(block.object, thread.id);
  return in.at_end();
}

model::Folder* MemoryCalls::stream(const TracedThread& thread) {
  folding_.finish();
  State* state = states_.find(thread);
  return state && state->stream.events() > 0 ? &state->stream : nullptr;
}

const model::TimelineBuilder* MemoryCalls::times(const TracedThread& thread) const {
  const State* state = states_.find(thread);
  return state ? state->times.get() : nullptr;
}

void MemoryCalls::end_open(TracedThread& thread) {
  State* state = states_.find(thread);
  if (!state) return;
  if (state->call.open) end(thread, *state, true);
  state->frames.clear();
}

bool MemoryCalls::take(TracedThread& thread, const RecordView& record) {
  State& state = of(thread);
  MemoryCall& call = state.call;
  if (record.header.type == RecordType::Returned) {
    if (!call.open || call.form.fn != record.header.fn || record.payload.size() != 8) return false;
    std::memcpy(&call.words[call.params], record.payload.data(), 8);
    call.ticks = record.header.ticks;
    end(thread, state, false);
    return true;
  }
  if (call.open) end(thread, state, true);
  if (take_block(thread, state, record)) return true;
  const Entered entered = enter(thread, state, record);
  state.frames.clear();
  if (entered != Entered::Yes) return entered == Entered::Foreign;
  call.open = true;
  if (record.header.type == RecordType::Allocate || call.info->result == AllocRole::None) end(thread, state, false);
  return true;
}

void MemoryCalls::note(State& state, model::ShapeId shape, std::span<const int64_t> values, uint64_t ticks) {
  if (noted_) noted_->push_back({shape, {values.begin(), values.end()}});
  if (state.times) state.times->add_event(clock_.time_of(ticks), {});
}

// Reads the record and finds the memory that it speaks of. Foreign: the call is none of the program's.
MemoryCalls::Entered MemoryCalls::enter(TracedThread& thread, State& state, const RecordView& record) {
  MemoryCall& call = state.call;
  TracedProcess& process = *thread.process;
  const api::AllocFnInfo& info = api::alloc_fn_info(record.header.fn);
  const bool whole = record.header.type == RecordType::Allocate;
  const size_t words = record.payload.size() / 8, params = info.param_count();
  const size_t added = !whole                                                    ? 0
                       : is_string({.fn = record.header.fn})                     ? 3
                       : record.header.fn == static_cast<uint16_t>(AllocFn::Brk) ? 2
                                                                                 : 1;
  if (params == 0 || words < 1 + params + added || info.gives_back() == whole) return Entered::Senseless;
  uint64_t site = 0;
  std::memcpy(&site, record.payload.data(), 8);
  if (info.result == AllocRole::None && gives_nothing_back(record) &&
      process.modules.find_code(site) == model::NoIndex) {
    ++foreign_releases_;
    return Entered::Foreign;
  }
  call.info = &info;
  call.ticks = record.header.ticks;
  call.params = params;
  call.given = params + added;
  call.words = {};
  std::memcpy(call.words.data(), record.payload.data() + 8, call.given * 8);
  call.form = MemoryForm{};
  call.form.fn = record.header.fn;
  call.places = {};
  call.ended.clear();
  call.made = call.made_bytes = call.old_size = 0;
  if (!find_places(thread, call)) return Entered::Foreign;
  call.form.site = tables_.site_of(process, site, state.frames);
  name_kind(call, record.payload);
  return Entered::Yes;
}

// False: it gives back memory that the program never asked for.
bool MemoryCalls::find_places(TracedThread& thread, MemoryCall& call) {
  // A string on the stack is named by its caller's frame.
  const uint64_t stack_pointer = is_string(call.form) ? call.words[call.params + 2] : thread.pending.stack_pointer;
  size_t n = 0;
  for (size_t i = 0; i < call.params; ++i) {
    const uint64_t address = call.words[i];
    const AllocRole role = call.info->params[i].role;
    if (address == 0 && is_address(role)) ++n;
    if (address == 0 || !is_address(role)) continue;
    call.form.present |= static_cast<uint16_t>(1u << i);
    Place& place = call.places[n];
    if (role == AllocRole::Old && !give_back(thread, call, address, place)) return false;
    if (!place.found) place = places_.of(thread, address, stack_pointer);
    call.form.in[n++] = place.object.cls;
  }
  return true;
}

// `place`: of what is given back; not found: it has no name. False: that is none of the program's business.
bool MemoryCalls::give_back(TracedThread& thread, MemoryCall& call, uint64_t address, Place& place) {
  Objects& objects = thread.process->objects;
  const bool unmaps = is(call.form, AllocFn::Munmap) || is(call.form, AllocFn::Mremap);
  place = unmaps ? objects.find_memory(address) : objects.take_memory(address, &call.old_size);
  call.form.ends_old = place.found;
  if (!place.found && call.info->result == AllocRole::None) {
    // Memory that the program never asked for: what a driver allocated inside our calls, and frees when it is
    // unloaded, from the program's thread. Listed, it would be different in each run.
    ++foreign_releases_;
    return false;
  }
  if (unmaps) {
    call.old_size = address % PageBytes == 0 ? whole_pages(call.words[1]) : 0;
    objects.unmap(address, call.old_size, call.ended);
    call.form.ends_old = place.found && holds(call.ended, place.object);
  } else if (place.found) {
    call.ended.push_back(place.object);
  }
  return true;
}

// What kind of object the call makes: a mapped file has its path behind the words.
void MemoryCalls::name_kind(MemoryCall& call, ByteView payload) {
  const size_t path_at = (1 + call.given) * 8;
  if (is_mapping(call.form) && payload.size() > path_at) {
    std::string_view path = as_text(payload).substr(path_at);
    path = path.substr(0, std::min(path.find('\0'), path.size()));
    call.form.kind = ObjectKind::File;
    call.form.label = tables_.blob_of(as_bytes(path), path.size());
  } else if (is_string(call.form)) {
    call.form.kind = ObjectKind::String;
  }
}

// Completes what the call is, now that it has returned or will not. True: it failed.
bool MemoryCalls::settle(TracedThread& thread, MemoryCall& call, bool unfinished) {
  MemoryForm& form = call.form;
  call.open = false;
  if (!unfinished) find_made(call);
  // realloc(p, 0) gives p back and returns NULL.
  const bool resizes = call.info->gives_back() && call.info->makes();
  const bool kept = !unfinished && resizes && call.made == 0 && call.made_bytes != 0;
  if (kept && form.ends_old) {
    thread.process->objects.add_block(call.words[0], call.old_size, call.places[0].object);
    call.ended.clear();
    form.ends_old = false;
  }
  const bool fails = !unfinished && failed(call);
  form.made = call.made != 0;
  form.unfinished = unfinished;
  if (!form.made) form.kind = ObjectKind::Segment, form.label = model::NoIndex;
  return fails;
}

// The shape of a call of this form: the one that it had last, or a new one.
const MemoryCalls::Recent& MemoryCalls::shape_of(TracedThread& thread, State& state) {
  const MemoryCall& call = state.call;
  const MemoryForm& form = call.form;
  const api::AllocFnInfo& info = *call.info;
  Recent& recent = state.recent[hash_of(form) % state.recent.size()];
  if (recent.shape != model::NoIndex && recent.form == form) return recent;
  shape_ = {};
  shape_.fn = form.fn;
  shape_.site = form.site;
  shape_.thread = thread.id;
  shape_.unfinished = form.unfinished;
  const model::ClassId out =
      form.made ? names_.class_of({form.kind, thread.id, form.site, form.fn, form.label}) : model::NoIndex;
  const auto add = [this](uint16_t param, ArgForm kind) {
    shape_.args.push_back({param, kind, Effect::None, model::NoIndex});
  };
  size_t n = 0;
  for (uint16_t i = 0; i < call.params; ++i) {
    const AllocRole role = info.params[i].role;
    if (role == AllocRole::Made) {
      add(i, ArgForm::Empty);
    } else if (!is_address(role)) {
      add(i, ArgForm::Int);
    } else if (form.present & (1u << i)) {
      const Effect effect = role == AllocRole::Old && form.ends_old ? Effect::Release : Effect::Use;
      shape_.args.push_back({i, ArgForm::Memory, effect, form.in[n++]});
    } else {
      add(i, ArgForm::Null);
      ++n;
    }
  }
  if (form.made) {
    const size_t by = made_param(call);
    const uint16_t made_by = by < call.params ? static_cast<uint16_t>(by) : model::ParamReturn;
    shape_.args.push_back({made_by, ArgForm::Object, Effect::Def, out});
  } else if (info.result == AllocRole::Made && !form.unfinished && !is(form, AllocFn::Sbrk)) {
    add(model::ParamReturn, ArgForm::Null);
  }
  if (info.result == AllocRole::Number && !form.unfinished) add(model::ParamReturn, ArgForm::Int);
  recent = {form, tables_.intern_shape(shape_), out};
  return recent;
}

// The names of what has lost its memory are free from here on.
void MemoryCalls::release_ended(TracedThread& thread, MemoryCall& call, bool fails) {
  const MemoryForm& form = call.form;
  Objects& objects = thread.process->objects;
  if (const auto by = static_cast<int64_t>(call.words[0]);
      moves_break(form) && by < 0 && !fails && !form.unfinished) {
    const uint64_t before = call.words[call.params + (is(form, AllocFn::Brk) ? 1 : 0)],
                   less = -static_cast<uint64_t>(by);
    objects.unmap(before - less, less, call.ended);
  }
  if (form.made && is_mapping(form)) objects.unmap(call.made, call.made_bytes, call.ended);
  for (const ObjectRef& object : call.ended) names_.release(object, thread.id);
  call.ended.clear();
}

ObjectRef MemoryCalls::name_large(TracedThread& thread, model::ClassId cls, uint64_t address, uint64_t bytes) {
  Objects& objects = thread.process->objects;
  if (const Place stale = objects.take_memory(address, nullptr); stale.found) names_.release(stale.object, thread.id);
  const ObjectRef object = names_.create(cls);
  objects.add_block(address, bytes, object);
  return object;
}

namespace {

// The values of the parameters; returns how many they are.
size_t put_values(const MemoryCall& call, int64_t* values) {
  size_t count = 0, n = 0;
  for (size_t i = 0; i < call.params; ++i) {
    const AllocRole role = call.info->params[i].role;
    if (role == AllocRole::Number || role == AllocRole::Size) values[count++] = static_cast<int64_t>(call.words[i]);
    if (!is_address(role)) continue;
    const Place& place = call.places[n++];
    if (!(call.form.present & (1u << i))) continue;
    values[count++] = place.object.slot;
    values[count++] = static_cast<int64_t>(place.offset);
  }
  return count;
}

int64_t result_of(const MemoryCall& call) {
  const uint64_t word = call.words[call.params];
  return is(call.form, AllocFn::MallocUsableSize) ? static_cast<int64_t>(word) : static_cast<int32_t>(word);
}

// May take_block() stand for the next such call?
bool is_plain(const MemoryCall& call) {
  const MemoryForm& form = call.form;
  if (form.unfinished || form.kind != ObjectKind::Segment) return false;
  return form.made ? makes_block(*call.info) && !is(form, AllocFn::Pvalloc)  // whose size is another
                   : frees_block(*call.info) && form.ends_old && form.present == 1;
}

}  // namespace

void MemoryCalls::end(TracedThread& thread, State& state, bool unfinished) {
  MemoryCall& call = state.call;
  const MemoryForm& form = call.form;
  const bool fails = settle(thread, call, unfinished);
  const Recent& known = shape_of(thread, state);
  int64_t values[2 * MemoryCall::MaxWords];
  size_t count_of_values = put_values(call, values);
  release_ended(thread, call, fails);  // before the new name is given
  if (form.made) values[count_of_values++] = name_made(thread, known.out, call.made, call.made_bytes).slot;
  if (call.info->result == AllocRole::Number && !unfinished) values[count_of_values++] = result_of(call);
  model::ShapeStats& stats = tables_.trace.stats[known.shape];
  stats.failed += fails;
  if (form.made) stats.bytes.add(call.made_bytes);
  count(state, known.shape, {values, count_of_values}, call.ticks);
  if (is_plain(call)) {
    state.blocks.put({form.site, form.in[0], form.fn, known.shape, known.out, static_cast<uint32_t>(count_of_values)});
  }
}

}  // namespace gt::tracer
