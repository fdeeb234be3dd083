// Perfetto: a TracePacket for each track, and one for each begin and end of a slice.
//
// Field numbers are those of perfetto_trace.proto; all packets are of one sequence (number 1).
#include <fmt/format.h>

#include "tracer/gtrace/export/export_formats.h"
#include "tracer/gtrace/base/names.h"
#include "traces/store/function_facts.h"

namespace gt::tracer {
namespace {

enum Packet : uint32_t {
  Timestamp = 8, SequenceId = 10, TrackEvent = 11, InternedData = 12, SequenceFlags = 13, TrackDescriptor = 60
};
enum Event : uint32_t {
  Annotation = 4, Type = 9, NameId = 10, TrackUuid = 11, Category = 22, FlowId = 47, EndingFlowId = 48
};
enum EventType : uint64_t { SliceBegin = 1, SliceEnd = 2, Instant = 3 };
enum Intern : uint32_t { EventNames = 2, AnnotationNames = 3 };
enum Annotated : uint32_t { AnnotationNameId = 1, IntValue = 4, StringValue = 6 };
enum Descriptor : uint32_t { Uuid = 1, Name = 2, Process = 3, Thread = 4, ParentUuid = 5 };
constexpr uint64_t StateCleared = 1, NeedsState = 2;

}  // namespace

PerfettoWriter::PerfettoWriter(const model::Trace& trace, const model::ObjectNames& names, Output& out)
    : trace_(trace), fields_(trace, names), out_(out), has_memory_track_(trace.threads.size()) {}

void PerfettoWriter::end_packet(const ProtoWriter& packet) {
  ProtoWriter whole;
  whole.bytes(1, packet.view());
  out_.write(as_text(whole.view()));
}

template <class Fill>
void PerfettoWriter::track(uint64_t id, uint64_t parent, const std::string& name, const Fill& fill) {
  ProtoWriter packet;
  packet.number(SequenceId, 1);
  packet.message(TrackDescriptor, [&](ProtoWriter& d) {
    d.number(Uuid, id);
    if (parent) d.number(ParentUuid, parent);
    if (!name.empty()) d.text(Name, name);
    fill(d);
  });
  end_packet(packet);
}

void PerfettoWriter::begin() {
  ProtoWriter first;
  first.number(SequenceId, 1);
  first.number(SequenceFlags, StateCleared);
  end_packet(first);
  const std::vector<bool> active = processes_with_calls(trace_);
  for (size_t i = 0; i < trace_.processes.size(); ++i) {
    if (!active[i]) continue;
    const model::Process& p = trace_.processes[i];
    track(uuid(Track::Process, i), 0, "", [&](ProtoWriter& d) {
      d.message(Process, [&](ProtoWriter& process) {
        process.number(1, static_cast<uint64_t>(p.pid));
        for (const std::string& a : p.arguments) process.text(2, a);
        process.text(6, process_name(p));
      });
    });
  }
  for (size_t i = 0; i < trace_.threads.size(); ++i) {
    const model::Thread& t = trace_.threads[i];
    if (!active[t.process]) continue;
    track(uuid(Track::Thread, i), uuid(Track::Process, t.process), "", [&](ProtoWriter& d) {
      d.message(Thread, [&](ProtoWriter& thread) {
        thread.number(1, static_cast<uint64_t>(trace_.processes[t.process].pid));
        thread.number(2, static_cast<uint64_t>(t.tid));
        thread.text(5, fmt::format("T{}", i));
      });
    });
  }
}

uint64_t PerfettoWriter::Interned::id(const std::string& text, uint32_t field, ProtoWriter& fresh) {
  const auto known = ids.try_emplace(text, ids.size() + 1);
  const uint64_t id = known.first->second;
  if (known.second) {
    fresh.message(field, [&](ProtoWriter& entry) {
      entry.number(1, id);
      entry.text(2, text);
    });
  }
  return id;
}

template <class Fill>
void PerfettoWriter::edge(const Edge& edge, const Fill& fill) {
  fresh_.clear();
  ProtoWriter packet;
  packet.number(Timestamp, edge.time_ns);
  packet.number(SequenceId, 1);
  packet.number(SequenceFlags, NeedsState);
  packet.message(TrackEvent, [&](ProtoWriter& event) {
    event.number(Type, edge.type);
    event.number(TrackUuid, edge.track);
    fill(event);
  });
  if (!fresh_.view().empty()) packet.bytes(InternedData, fresh_.view());
  end_packet(packet);
}

void PerfettoWriter::annotate(ProtoWriter& event, const std::string& name, std::string_view text) {
  const uint64_t id = annotations_.id(name, AnnotationNames, fresh_);
  event.message(Annotation, [&](ProtoWriter& a) {
    a.number(AnnotationNameId, id);
    a.text(StringValue, text);
  });
}

void PerfettoWriter::annotate(ProtoWriter& event, const std::string& name, int64_t number) {
  const uint64_t id = annotations_.id(name, AnnotationNames, fresh_);
  event.message(Annotation, [&](ProtoWriter& a) {
    a.number(AnnotationNameId, id);
    a.number(IntValue, static_cast<uint64_t>(number));
  });
}

void PerfettoWriter::annotate_call(ProtoWriter& event, const ExportedCall& c) {
  annotate(event, "call", (c.stream->memory ? "m" : "#") + std::to_string(c.event->number));
  for (const CallField& f : fields_.fields(c.event->shape, c.event->values)) {
    f.is_number ? annotate(event, f.name, f.number) : annotate(event, f.name, f.text);
  }
  annotate(event, "site", site_text(trace_, trace_.shapes[c.event->shape].site));
}

void PerfettoWriter::call(const ExportedCall& c) {
  if (c.stream->memory) return memory_call(c);
  const model::EventTime& time = *c.event->time;
  const uint64_t on = uuid(Track::Thread, c.stream->thread);
  edge({SliceBegin, on, time.entry_ns}, [&](ProtoWriter& event) {
    const std::string name = store::function_name(trace_.shapes[c.event->shape].fn);
    event.number(NameId, names_.id(name, EventNames, fresh_));
    event.text(Category, "opencl");
    if (c.event->command) event.fixed64(FlowId, c.id);
    annotate_call(event, c);
  });
  edge({SliceEnd, on, time.entry_ns + time.duration_ns.value_or(0)}, [](ProtoWriter&) {});
  if (c.event->command) command(c);
}

// Memory calls have no duration: instants, on a track of their own below their thread's.
void PerfettoWriter::memory_call(const ExportedCall& c) {
  const uint64_t on = uuid(Track::Memory, c.stream->thread);
  if (!has_memory_track_[c.stream->thread]) {
    has_memory_track_[c.stream->thread] = true;
    track(on, uuid(Track::Thread, c.stream->thread), fmt::format("T{} memory", c.stream->thread), [](ProtoWriter&) {});
  }
  edge({Instant, on, c.event->time->entry_ns}, [&](ProtoWriter& event) {
    const std::string name = store::function_name(trace_.shapes[c.event->shape].fn);
    event.number(NameId, names_.id(name, EventNames, fresh_));
    event.text(Category, "memory");
    annotate_call(event, c);
  });
}

void PerfettoWriter::command(const ExportedCall& c) {
  const model::CommandTime& time = *c.event->command;
  const CommandFacts facts = fields_.command(c.event->shape, c.event->values);
  const uint32_t process = trace_.threads[c.stream->thread].process;
  const QueueTracks::Track queue = queues_.place(process, facts.queue, time.start_ns, time.start_ns + time.length_ns);
  const uint64_t on = uuid(Track::Queue, queue.id);
  if (queue.fresh) track(on, uuid(Track::Process, process), "queue " + queue.name, [](ProtoWriter&) {});
  edge({SliceBegin, on, time.start_ns}, [&](ProtoWriter& event) {
    event.number(NameId, names_.id(facts.title, EventNames, fresh_));
    event.text(Category, "device");
    event.fixed64(EndingFlowId, c.id);
    if (facts.bytes) annotate(event, "bytes", static_cast<int64_t>(facts.bytes));
    if (!facts.allocation.empty()) annotate(event, "allocation", facts.allocation);
    annotate_call(event, c);
  });
  edge({SliceEnd, on, time.start_ns + time.length_ns}, [](ProtoWriter&) {});
}

}  // namespace gt::tracer
