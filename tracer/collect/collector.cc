#include "tracer/collect/collector.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "tracer/collect/collector_state.h"

namespace gt::tracer {

using model::ArgForm;
using model::Effect;
using model::ObjectKind;

size_t HashBlob::operator()(const model::Blob& b) const {
  uint64_t h = mix(b.full_size, b.bytes.size());
  size_t i = 0;
  for (; i + 8 <= b.bytes.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, b.bytes.data() + i, 8);
    h = mix(h, word);
  }
  for (; i < b.bytes.size(); ++i) h = mix(h, b.bytes[i]);
  return h;
}

size_t HashShape::operator()(const model::Shape& s) const {
  uint64_t h = mix(mix(s.fn, s.site), (uint64_t{s.thread} << 1) | s.unfinished);
  for (const model::Arg& a : s.args) {
    h = mix(h, (uint64_t{a.cls} << 32) | (uint64_t{a.param} << 16) |
                   (static_cast<uint64_t>(a.form) << 8) | static_cast<uint64_t>(a.effect));
  }
  return h;
}

Collector::Collector(double ns_per_tick, uint64_t start_ticks)
    : ns_per_tick_(ns_per_tick),
      start_ticks_(start_ticks),
      sites_(trace_.sites),
      chains_(trace_.sites),
      blobs_(trace_.blobs),
      shapes_(trace_.shapes),
      names_(trace_.classes) {}

Collector::~Collector() = default;

void Collector::take(const RecordView& record) {
  if (record.header.type == RecordType::ThreadEnd) return take_thread_end(record);
  last_ticks_ = std::max(last_ticks_, record.header.ticks);
  if ((++records_ & 0xffff) == 0) keep_within_budget();
  if (record.header.type == RecordType::Enter) return take_enter(record);
  Thread& thread = record.header.type == RecordType::CallbackEnter ? annex_for(record) : thread_of(record);
  switch (record.header.type) {
    case RecordType::Register:
      return take_register(thread, record);
    case RecordType::CallbackEnter:
      return take_callback_enter(thread, record);
    case RecordType::CallbackExit:
      return take_callback_exit(thread, record);
    case RecordType::Exit:
      return take_exit(thread, record, false);
    case RecordType::ExitTimed:
      return take_exit(thread, record, true);
    case RecordType::Allocate:
    case RecordType::Release:
    case RecordType::Returned:
      return take_memory(thread, record);
    case RecordType::DeviceTime:
      return take_device_time(record);
    case RecordType::Process:
      return take_process(thread, record);
    case RecordType::Module:
      return take_module(thread, record);
    case RecordType::Device:
      return take_device(thread, record);
    case RecordType::Chunk: {
      ByteReader in(record.payload);
      const bool last = in.fixed64() != 0;
      const ByteView part = in.raw(std::min<uint64_t>(in.fixed64(), in.remaining()));
      thread.chunk.insert(thread.chunk.end(), part.begin(), part.end());
      if (last) thread.external.push_back(std::exchange(thread.chunk, {}));
      return;
    }
    case RecordType::ThreadEnd:
    case RecordType::Enter:
      return;  // were taken above
    case RecordType::KernelName:
      return take_kernel_name(thread, record);
    case RecordType::KernelArgs:
      return take_kernel_args(thread, record);
    case RecordType::Frames:
      return take_frames(thread, record);
    case RecordType::Content:
      return take_content(thread, record);
    case RecordType::MemoryFacts:
      return take_memory_facts(thread, record);
    case RecordType::CommandArg:
      return take_command_arg(thread, record);
    case RecordType::Pad:
      return;
  }
  ++undecodable_;
}

// The thread whose first record from this ring this is.
Collector::Thread& Collector::meet_thread(const RecordView& record) {
  if (record.ring >= by_ring_.size()) {
    by_ring_.resize(record.ring + 1, nullptr);
    driver_sequences_.resize(record.ring + 1, 0);
  }
  Process& process = process_of(record.owner->pid, record.owner->parent_pid);
  Thread*& in_lane = process.lanes[steps(record.owner->path)];
  if (!in_lane || !in_lane->ended) in_lane = &new_thread(process, *record.owner);
  begin_life(*in_lane, *record.owner);
  in_lane->sequence = std::exchange(driver_sequences_[record.ring], 0);
  return *(by_ring_[record.ring] = in_lane);
}

Collector::Thread& Collector::new_thread(Process& process, const RingHeader& owner) {
  threads_.push_back(std::make_unique<Thread>());
  Thread& thread = *threads_.back();
  thread.id = static_cast<model::ThreadId>(trace_.threads.size());
  thread.process = &process;
  thread.path = owner.path;
  trace_.threads.push_back({process.index, owner.tid});
  if (keep_times_) {
    thread.call_times = std::make_unique<model::TimelineBuilder>();
    thread.memory_times = std::make_unique<model::TimelineBuilder>();
  }
  return thread;
}

// A thread in the place of one that has ended: for the trace the same thread, whose calls go on.
void Collector::begin_life(Thread& thread, const RingHeader& owner) {
  if (thread.memory_call.open) end_memory_call(thread, true);
  if (thread.pending.open) end_call(thread, true, last_ticks_, false);
  thread.ended = false;
  thread.frames.clear();
  thread.tid = owner.tid;
  thread.stack_low = owner.stack_low;
  thread.stack_high = owner.stack_high;
  thread.sequence = 0;
  thread.external.clear();
  thread.chunk.clear();
}

Collector::Process& Collector::process_of(int64_t pid, int64_t parent) {
  for (auto it = processes_.rbegin(); it != processes_.rend(); ++it) {
    if ((*it)->pid == pid) return **it;
  }
  const auto index = static_cast<uint32_t>(processes_.size());
  model::Process row;
  row.pid = pid;
  row.parent = index == 0 ? 0 : parent;
  row.start_ns = to_ns(last_ticks_ > start_ticks_ ? last_ticks_ - start_ticks_ : 0);
  trace_.processes.push_back(row);
  processes_.push_back(std::make_unique<Process>(index, pid, trace_.modules));
  return *processes_.back();
}

void Collector::ring_ended(uint32_t ring) {
  if (ring >= by_ring_.size()) return;
  while (by_ring_[ring] && by_ring_[ring]->annex_of) leave_annex(ring, true);
  by_ring_[ring] = nullptr;
  driver_sequences_[ring] = 0;
}

void Collector::take_process(Thread& thread, const RecordView& record) {
  ByteReader in(record.payload);
  in.fixed64();
  in.fixed64();
  std::string_view text = as_text(in.raw(in.remaining()));
  model::Process& row = trace_.processes[thread.process->index];
  const size_t end = std::min(text.find('\0'), text.size());
  row.executable = text.substr(0, end);
  row.arguments.clear();
  text.remove_prefix(std::min(end + 1, text.size()));
  // Arguments end with a zero each; the list ends with an empty one (and padding).
  while (!text.empty() && text[0] != 0) {
    const size_t n = std::min(text.find('\0'), text.size());
    row.arguments.emplace_back(text.substr(0, n));
    text.remove_prefix(std::min(n + 1, text.size()));
  }
}

void Collector::take_module(Thread& thread, const RecordView& record) {
  ByteReader in(record.payload);
  const uint64_t base = in.fixed64(), end = in.fixed64();
  const std::string_view text = as_text(in.raw(in.remaining()));
  const size_t id_end = text.find('\0');
  if (!in.ok() || id_end == text.npos || base >= end) {
    ++undecodable_;
    return;
  }
  std::string_view path = text.substr(id_end + 1);
  path = path.substr(0, std::min(path.find('\0'), path.size()));
  if (thread.process->modules.add(base, end, path, text.substr(0, id_end)))
    thread.process->forget_sites();
}

void Collector::take_device(Thread& thread, const RecordView& record) {
  ByteReader in(record.payload);
  const uint64_t handle = in.fixed64();
  in.fixed64();
  const std::string_view text = as_text(in.raw(in.remaining()));
  devices_[device_of(*thread.process, handle)]->name = text.substr(0, std::min(text.find('\0'), text.size()));
}

uint32_t Collector::device_of(Process& process, uint64_t handle) {
  for (uint32_t i = 0; i < devices_.size(); ++i) {
    if (devices_[i]->handle == handle && devices_[i]->process == process.index) return i;
  }
  devices_.push_back(std::make_unique<Device>());
  devices_.back()->handle = handle;
  devices_.back()->process = process.index;
  return static_cast<uint32_t>(devices_.size() - 1);
}

model::Site Collector::place_in_module(Process& process, uint64_t address) {
  model::Site site;
  site.module = process.modules.find_code(address);
  site.offset = site.module == model::NoIndex ? address : address - trace_.modules[site.module].base;
  return site;
}

model::SiteId Collector::site_of(Process& process, uint64_t address) {
  if (address == 0) return model::NoIndex;
  if (const model::SiteId* known = process.sites.find(address)) return *known;
  const model::SiteId id = sites_(place_in_module(process, address));
  process.sites[address] = id;
  return id;
}

model::SiteId Collector::site_of(Process& process, uint64_t address, std::span<const uint64_t> around) {
  if (address == 0 || around.empty()) return site_of(process, address);
  uint64_t key = mix(address, around.size());
  for (const uint64_t frame : around) key = mix(key, frame);
  if (const model::SiteId* known = process.chained_sites.find(key)) return *known;
  std::vector<model::Site> chain{place_in_module(process, address)};
  for (const uint64_t frame : around) chain.push_back(place_in_module(process, frame));
  const model::SiteId id = chains_(chain);
  if (key != 0) process.chained_sites[key] = id;
  return id;
}

model::ClassId Collector::class_of(Thread& thread, ObjectKind kind, model::BlobId label) {
  const model::Shape& call = thread.pending.shape;
  return names_.class_of({kind, thread.id, call.site, call.fn, label});
}

model::BlobId Collector::blob_of(ByteView bytes, uint64_t full_size) {
  return blobs_({Bytes(bytes.begin(), bytes.end()), full_size});
}

model::ShapeId Collector::intern_shape(const model::Shape& shape) {
  return shapes_(shape, [this] { trace_.stats.emplace_back(); });
}

static bool same_shape(const model::Shape& a, const model::Shape& b) {
  static_assert(std::has_unique_object_representations_v<model::Arg>);
  return a.fn == b.fn && a.site == b.site && a.thread == b.thread && a.unfinished == b.unfinished &&
         a.moves == b.moves &&
         a.args.size() == b.args.size() &&
         std::memcmp(a.args.data(), b.args.data(), a.args.size() * sizeof(model::Arg)) == 0;
}

model::ShapeId Collector::shape_of_call(Thread& thread) {
  const model::Shape& shape = thread.pending.shape;
  model::ShapeId& next = thread.next_shape[mix(thread.last_shape, shape.site) % thread.next_shape.size()];
  if (next >= trace_.shapes.size() || !same_shape(trace_.shapes[next], shape)) next = intern_shape(shape);
  return thread.last_shape = next;
}

// Thread ids are unique on a machine and outlive their rings.
static uint64_t timed_key(uint64_t tid, uint64_t sequence) { return (tid << 40) | sequence; }

// --- OpenCL calls
// -------------------------------------------------------------------------------------------------

void Collector::begin_call(Thread& thread, const RecordView& record, model::SiteId site, uint64_t stack_pointer) {
  Thread::Pending& call = thread.pending;
  call.begin(record.header.fn, site, thread.id);
  call.ticks = record.header.ticks;
  call.stack_pointer = stack_pointer;
  const uint64_t memory_calls = std::exchange(thread.memory_since_call, 0);
  call.add_number(model::ParamAllocs, ArgForm::Int, static_cast<int64_t>(memory_calls));
}

void Collector::take_enter(const RecordView& record) {
  ByteReader in(record.payload);
  const uint64_t site = in.fixed64(), stack_pointer = in.fixed64();
  leave_jumped_out_of(record.ring, stack_pointer);
  Thread& thread = thread_of(record);
  if (thread.running) list_callback(thread, false);
  if (thread.pending.open) end_call(thread, true, record.header.ticks, false);
  begin_call(thread, record, site_of(*thread.process, site), stack_pointer);
  thread.pending.sequence = thread.sequence++;
  ++calls_;
  ++thread.process->calls;

  const ByteView inputs = in.raw(in.remaining());
  if (recall(thread, inputs)) return;
  decoded_.clear();
  api::DecodeContext context;
  context.external = &thread.external;
  const bool sound = in.ok() && api::decode_inputs(static_cast<api::FnId>(record.header.fn), inputs, context, decoded_);
  undecodable_ += !sound;
  thread.pending.calls_back = std::any_of(decoded_.begin(), decoded_.end(),
                                          [](const api::DecodedArg& arg) { return arg.tag == api::Tag::Code; });
  for (const api::DecodedArg& arg : decoded_) name_argument(thread, arg, false);
  if (thread.pending.attributes->launch && sound) memorise(thread, inputs);  // what is bound to its kernel may change
  before_call(thread);
  if (!thread.pending.attributes->launch && sound) memorise(thread, inputs);
  if (!thread.external.empty()) thread.external.clear();
}

void Collector::take_exit(Thread& at, const RecordView& record, bool timed) {
  Thread* const found = where_open(at, record);
  if (!found) {
    ++undecodable_;
    return;
  }
  Thread& thread = *found;
  if (recall_results(thread, record.payload)) return end_call(thread, false, record.header.ticks, timed);
  const size_t args = thread.pending.shape.args.size(), values = thread.pending.values.size();
  decoded_.clear();
  api::DecodeContext context;
  context.external = &thread.external;
  const auto fn = static_cast<api::FnId>(thread.pending.shape.fn);
  const bool sound = api::decode_outputs(fn, record.payload, context, decoded_);
  undecodable_ += !sound;
  for (const api::DecodedArg& arg : decoded_) name_argument(thread, arg, true);
  if (sound) memorise_results(thread, record.payload, args, values);
  if (!thread.external.empty()) thread.external.clear();
  end_call(thread, false, record.header.ticks, timed);
}

void Collector::end_call(Thread& thread, bool unfinished, uint64_t ticks, bool timed) {
  Thread::Pending& call = thread.pending;
  const api::Attributes& attributes = *call.attributes;
  if (!unfinished) after_call(thread);
  define_callback(thread);
  if (call.captured) call.add_number(model::ParamContent, ArgForm::Int, call.content);
  if (unfinished || call.error) call.shape.moves = model::Direction::None, call.bytes = 0;
  call.open = false;
  call.shape.unfinished = unfinished;
  const model::ShapeId shape = shape_of_call(thread);
  model::ShapeStats& stats = trace_.stats[shape];
  const uint64_t ns = to_ns(ticks - call.ticks - std::min(call.capture_ticks, ticks - call.ticks));
  if (stats.calls++ == 0) stats.first_host_ns = ns;
  stats.failed += call.error;
  if (!unfinished) stats.host_ns.add(ns);
  if (call.bytes) stats.bytes.add(call.bytes);
  thread.calls.push(shape, call.values);
  if (thread.call_times) {
    thread.call_times->add_event(time_of(call.ticks), unfinished ? std::nullopt : std::optional(ns));
  }

  if (call.device == 0 || call.error) return;
  const bool launch = attributes.launch && !attributes.records;
  const CommandTimes::Command command{shape,       static_cast<uint32_t>(call.device - 1), launch, call.shape.moves,
                                      call.timed_queue, call.timed_context};
  if (timed) {
    const uint64_t key = timed_key(static_cast<uint64_t>(thread.tid), call.sequence);
    times_.expect(key, command);
    if (!thread.call_times) return;
    placed_[key] = {&thread, command.device, thread.calls.events() - 1, time_of(call.ticks)};
    thread.call_times->expect_command();
  } else if (attributes.replays >= 0) {
    times_.leave_untimed(command, call.recorded.launches.size(), call.recorded.transfers);
  } else if (launch || call.shape.moves != model::Direction::None) {
    times_.skip(command);
  }
}

void Collector::take_device_time(const RecordView& record) {
  ByteReader in(record.payload);
  const uint64_t tid = in.fixed64(), sequence = in.fixed64(), start = in.fixed64(),
                 end = in.fixed64();
  if (!in.ok()) return;
  const uint64_t key = timed_key(tid, sequence);
  const bool sane = times_.take(key, start, end, trace_.stats);
  const auto it = placed_.find(key);
  if (it == placed_.end()) return;
  const Placed command = it->second;
  placed_.erase(it);
  if (!sane) return command.thread->call_times->add_command(command.event, nullptr, 0, 0);
  model::DeviceClock& clock = devices_[command.device]->clock;
  clock.add(command.entry_ns, start, end, time_of(record.header.ticks));
  command.thread->call_times->add_command(command.event, &clock, start, end - start);
}

}  // namespace gt::tracer
