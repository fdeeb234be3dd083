// Memory calls: from their records to a shape and its values.
//
// What a call gives back loses its address when the call is entered, for another thread may be given it before the
// call returns; its name ends when the call has returned, and so realloc in a loop keeps its slots. A realloc that
// fails gets its memory back under the old name.
#include <algorithm>
#include <cstring>

#include "tracer/collect/collector.h"
#include "tracer/collect/collector_state.h"

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

// Calls with one parameter: the size of the block that they return, or the block that they free.
bool makes_block(const api::AllocFnInfo& info) {
  return info.result == AllocRole::Made && info.params[0].role == AllocRole::Size &&
         info.params[1].role == AllocRole::None;
}
bool frees_block(const api::AllocFnInfo& info) {
  return info.result == AllocRole::None && info.params[0].role == AllocRole::Old &&
         info.params[1].role == AllocRole::None;
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

void Collector::take_frames(Thread& thread, const RecordView& record) {
  thread.frames.resize(std::min<size_t>(record.payload.size() / 8, MaxFrames));
  if (!thread.frames.empty()) std::memcpy(thread.frames.data(), record.payload.data(), thread.frames.size() * 8);
}

void Collector::take_memory(Thread& thread, const RecordView& record) {
  MemoryCall& call = thread.memory_call;
  if (record.header.type == RecordType::Returned) {
    if (!call.open || call.form.fn != record.header.fn || record.payload.size() != 8) {
      ++undecodable_;
      return;
    }
    std::memcpy(&call.words[call.params], record.payload.data(), 8);
    call.ticks = record.header.ticks;
    return end_memory_call(thread, false);
  }
  if (call.open) end_memory_call(thread, true);
  if (take_block(thread, record)) return;
  const uint64_t stack_pointer = thread.pending.stack_pointer;  // of the call that a callback may be inside
  const bool known = enter_memory(thread, record);
  thread.pending.stack_pointer = stack_pointer;
  thread.frames.clear();
  if (!known) return;
  call.open = true;
  if (record.header.type == RecordType::Allocate || call.info->result == AllocRole::None)
    end_memory_call(thread, false);
}

// Most memory calls make one block, or free one, from a place that did so before: nothing but names is left to find.
// False: this is no such call, or not one that is known.
bool Collector::take_block(Thread& thread, const RecordView& record) {
  if (!thread.frames.empty()) return false;
  const api::AllocFnInfo& info = api::alloc_fn_info(record.header.fn);
  if (record.header.type == RecordType::Allocate) return makes_block(info) && make_block(thread, record);
  return frees_block(info) && free_block(thread, record);
}

bool Collector::make_block(Thread& thread, const RecordView& record) {
  struct {
    uint64_t site, size, made;
  } call;
  if (record.payload.size() != sizeof call) return false;
  std::memcpy(&call, record.payload.data(), sizeof call);
  if (call.made == 0) return false;
  const model::SiteId site = site_of(*thread.process, call.site);
  const Thread::Block& known = thread.block(site, model::NoIndex, record.header.fn);
  if (!known.is(site, model::NoIndex, record.header.fn)) return false;
  Objects& objects = thread.process->objects;
  if (objects.memory_at(call.made)) names_.release(objects.take_memory(call.made, nullptr).object, thread.id);
  const ObjectRef object = names_.create(known.out);
  objects.add_new_memory(call.made, call.size, object);
  trace_.stats[known.shape].bytes.add(call.size);
  const int64_t values[] = {static_cast<int64_t>(call.size), object.slot};
  count_memory_call(thread, known.shape, values, record.header.ticks);
  return true;
}

bool Collector::free_block(Thread& thread, const RecordView& record) {
  struct {
    uint64_t site, block;
  } call;
  if (record.payload.size() != sizeof call) return false;
  std::memcpy(&call, record.payload.data(), sizeof call);
  Objects& objects = thread.process->objects;
  const Memory* memory = objects.memory_at(call.block);
  if (!memory) return false;
  const ObjectRef object = memory->object;
  const auto offset = static_cast<int64_t>(memory->offset);
  const model::SiteId site = site_of(*thread.process, call.site);
  const Thread::Block& known = thread.block(site, object.cls, record.header.fn);
  if (!known.is(site, object.cls, record.header.fn)) return false;
  objects.take_memory(call.block, nullptr);
  names_.release(object, thread.id);
  const int64_t values[] = {object.slot, offset};
  count_memory_call(thread, known.shape, values, record.header.ticks);
  return true;
}

void Collector::count_memory_call(Thread& thread, model::ShapeId shape, std::span<const int64_t> values,
                                  uint64_t ticks) {
  ++memory_calls_;
  ++thread.memory_since_call;
  ++trace_.stats[shape].calls;
  thread.memory.push(shape, values);
  if (thread.memory_times) thread.memory_times->add_event(time_of(ticks), {});
}

// Reads the record and finds the memory that it speaks of. False: there is no such call in the trace.
bool Collector::enter_memory(Thread& thread, const RecordView& record) {
  MemoryCall& call = thread.memory_call;
  Process& process = *thread.process;
  const api::AllocFnInfo& info = api::alloc_fn_info(record.header.fn);
  const bool whole = record.header.type == RecordType::Allocate;
  const size_t words = record.payload.size() / 8, params = info.param_count();
  const size_t added = !whole                                                    ? 0
                       : is_string({.fn = record.header.fn})                     ? 3
                       : record.header.fn == static_cast<uint16_t>(AllocFn::Brk) ? 2
                                                                                 : 1;
  if (params == 0 || words < 1 + params + added || info.gives_back() == whole) {
    ++undecodable_;
    return false;
  }
  uint64_t site = 0;
  std::memcpy(&site, record.payload.data(), 8);
  if (info.result == AllocRole::None && gives_nothing_back(record) &&
      process.modules.find_code(site) == model::NoIndex) {
    ++foreign_releases_;
    return false;
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

  // A string on the stack is named by its caller's frame.
  if (is_string(call.form)) thread.pending.stack_pointer = call.words[params + 2];
  const bool unmaps = is(call.form, AllocFn::Munmap) || is(call.form, AllocFn::Mremap);
  size_t n = 0;
  for (size_t i = 0; i < params; ++i) {
    const uint64_t address = call.words[i];
    if (address == 0 && is_address(info.params[i].role)) ++n;
    if (address == 0 || !is_address(info.params[i].role)) continue;
    call.form.present |= static_cast<uint16_t>(1u << i);
    Place& place = call.places[n];
    if (info.params[i].role == AllocRole::Old) {
      place = unmaps ? process.objects.find_memory(address) : process.objects.take_memory(address, &call.old_size);
      call.form.ends_old = place.found;
      if (!place.found && info.result == AllocRole::None) {
        // Memory that the program never asked for: what a driver allocated inside our calls, and frees when it is
        // unloaded, from the program's thread. Listed, it would be different in each run.
        ++foreign_releases_;
        return false;
      }
      if (unmaps) {
        call.old_size = address % PageBytes == 0 ? whole_pages(call.words[1]) : 0;
        process.objects.unmap(address, call.old_size, call.ended);
        call.form.ends_old = place.found && holds(call.ended, place.object);
      } else if (place.found) {
        call.ended.push_back(place.object);
      }
    }
    if (!place.found) place = place_of(thread, address);
    call.form.in[n++] = place.object.cls;
  }
  call.form.site = site_of(process, site, thread.frames);

  const size_t path_at = (1 + call.given) * 8;
  if (is_mapping(call.form) && record.payload.size() > path_at) {
    std::string_view path = as_text(record.payload).substr(path_at);
    path = path.substr(0, std::min(path.find('\0'), path.size()));
    call.form.kind = ObjectKind::File;
    call.form.label = blob_of(as_bytes(path), path.size());
  } else if (is_string(call.form)) {
    call.form.kind = ObjectKind::String;
  }
  return true;
}

void Collector::end_memory_call(Thread& thread, bool unfinished) {
  MemoryCall& call = thread.memory_call;
  MemoryForm& form = call.form;
  Process& process = *thread.process;
  const api::AllocFnInfo& info = *call.info;
  call.open = false;
  if (!unfinished) find_made(call);
  // realloc(p, 0) gives p back and returns NULL.
  const bool resizes = info.gives_back() && info.makes();
  const bool kept = !unfinished && resizes && call.made == 0 && call.made_bytes != 0;
  if (kept && form.ends_old) {
    process.objects.add_memory(call.words[0], call.old_size, call.places[0].object);
    call.ended.clear();
    form.ends_old = false;
  }
  const bool fails = !unfinished && failed(call);
  form.made = call.made != 0;
  form.unfinished = unfinished;
  if (!form.made) form.kind = ObjectKind::Segment, form.label = model::NoIndex;

  Thread::Recent& recent = thread.recent[hash_of(form) % thread.recent.size()];
  if (recent.shape == model::NoIndex || recent.form != form) {
    model::Shape& shape = thread.pending.shape;  // memory calls never come between Enter and Exit of their thread
    model::Shape saved;
    std::swap(saved, shape);
    shape.fn = form.fn;
    shape.site = form.site;
    shape.thread = thread.id;
    shape.unfinished = unfinished;
    const model::ClassId out = form.made ? class_of(thread, form.kind, form.label) : model::NoIndex;
    size_t n = 0;
    for (uint16_t i = 0; i < call.params; ++i) {
      const AllocRole role = info.params[i].role;
      const Effect effect = role == AllocRole::Old && form.ends_old ? Effect::Release : Effect::Use;
      if (role == AllocRole::Made) {
        shape.args.push_back({i, ArgForm::Empty, Effect::None, model::NoIndex});
      } else if (!is_address(role)) {
        shape.args.push_back({i, ArgForm::Int, Effect::None, model::NoIndex});
      } else if (form.present & (1u << i)) {
        shape.args.push_back({i, ArgForm::Memory, effect, form.in[n++]});
      } else {
        shape.args.push_back({i, ArgForm::Null, Effect::None, model::NoIndex});
        ++n;
      }
    }
    const size_t by = made_param(call);
    if (form.made) {
      const uint16_t made_by = by < call.params ? static_cast<uint16_t>(by) : model::ParamReturn;
      shape.args.push_back({made_by, ArgForm::Object, Effect::Def, out});
    } else if (info.result == AllocRole::Made && !unfinished && !is(form, AllocFn::Sbrk)) {
      shape.args.push_back({model::ParamReturn, ArgForm::Null, Effect::None, model::NoIndex});
    }
    if (info.result == AllocRole::Number && !unfinished)
      shape.args.push_back({model::ParamReturn, ArgForm::Int, Effect::None, model::NoIndex});
    recent = {form, intern_shape(shape), out};
    shape = std::move(saved);
  }

  int64_t values[2 * MemoryCall::MaxWords];
  size_t count = 0, n = 0;
  for (size_t i = 0; i < call.params; ++i) {
    const AllocRole role = info.params[i].role;
    if (role == AllocRole::Number || role == AllocRole::Size) values[count++] = static_cast<int64_t>(call.words[i]);
    if (!is_address(role)) continue;
    const Place& place = call.places[n++];
    if (!(form.present & (1u << i))) continue;
    values[count++] = place.object.slot;
    values[count++] = static_cast<int64_t>(place.offset);
  }
  // The old names are free before the new one is given.
  if (const auto by = static_cast<int64_t>(call.words[0]); moves_break(form) && by < 0 && !fails && !unfinished) {
    const uint64_t before = call.words[call.params + (is(form, AllocFn::Brk) ? 1 : 0)],
                   less = -static_cast<uint64_t>(by);
    process.objects.unmap(before - less, less, call.ended);
  }
  if (form.made && is_mapping(form)) process.objects.unmap(call.made, call.made_bytes, call.ended);
  for (const ObjectRef& object : call.ended) names_.release(object, thread.id);
  call.ended.clear();
  if (form.made) {
    if (Place stale = process.objects.take_memory(call.made, nullptr); stale.found)
      names_.release(stale.object, thread.id);
    const ObjectRef object = names_.create(recent.out);
    process.objects.add_memory(call.made, call.made_bytes, object);
    values[count++] = object.slot;
  }
  if (info.result == AllocRole::Number && !unfinished)
    values[count++] = is(form, AllocFn::MallocUsableSize) ? static_cast<int64_t>(call.words[call.params])
                                                          : static_cast<int32_t>(call.words[call.params]);
  model::ShapeStats& stats = trace_.stats[recent.shape];
  stats.failed += fails;
  if (form.made) stats.bytes.add(call.made_bytes);
  count_memory_call(thread, recent.shape, {values, count}, call.ticks);
  const bool plain = !unfinished && form.kind == ObjectKind::Segment &&
                     (form.made ? makes_block(info) && !is(form, AllocFn::Pvalloc)  // whose size is another
                                : frees_block(info) && form.ends_old && form.present == 1);
  if (plain) thread.block(form.site, form.in[0], form.fn) = {form.site, form.in[0], form.fn, recent.shape, recent.out};
}

}  // namespace gt::tracer
