#include "tracer/collect/collector.h"

#include <algorithm>

namespace gt::tracer {

Collector::Collector(double ns_per_tick, uint64_t start_ticks)
    : clock_(ns_per_tick, start_ticks),
      threads_(tables_.trace, clock_,
               [this](TracedThread& thread) {
                 memory_.end_open(thread);
                 calls_.end_open(thread, clock_.last_ticks());
               }),
      places_(tables_, threads_.all()),
      texts_(tables_),
      memory_(tables_, places_, clock_),
      naming_(tables_, places_, texts_, devices_),
      registered_(tables_),
      list_(tables_, devices_, clock_),
      files_(tables_, texts_, contents_),
      calls_(tables_, naming_, registered_, memory_, list_, contents_, files_, clock_),
      callbacks_(threads_, registered_, naming_, calls_, list_, clock_) {}

void Collector::keep_times() {
  keep_times_ = true;
  list_.keep_times();
  memory_.keep_times();
}

void Collector::take(const RecordView& record) {
  if (record.header.type == RecordType::ThreadEnd) return callbacks_.thread_ended(record);
  clock_.see(record.header.ticks);
  if ((++records_ & 0xffff) == 0) keep_within_budget();
  switch (record.header.type) {
    case RecordType::Blocks:
    case RecordType::Repeat: {
      const uint64_t before = memory_.calls();
      undecodable_ += record.header.type == RecordType::Repeat ? memory_.take_repeat(threads_.of(record), record)
                                                               : memory_.take_blocks(threads_.of(record), record);
      if (before >> 16 != memory_.calls() >> 16) keep_within_budget();
      return;
    }
    case RecordType::BlockForm:
      undecodable_ += !memory_.take_form(record);
      return;
    case RecordType::Enter:
      undecodable_ += !calls_.enter(callbacks_.thread_of_enter(record), record);
      return;
    case RecordType::Exit:
    case RecordType::ExitTimed: {
      TracedThread* const thread = callbacks_.thread_of_exit(record);
      undecodable_ += !thread || !calls_.exit(*thread, record, record.header.type == RecordType::ExitTimed);
      return;
    }
    case RecordType::Allocate:
    case RecordType::Release:
    case RecordType::Returned:
      undecodable_ += !memory_.take(threads_.of(record), record);
      return;
    case RecordType::CallbackEnter:
      undecodable_ += !callbacks_.enter(record);
      return;
    case RecordType::CallbackExit:
      undecodable_ += !callbacks_.exit(record);
      return;
    default:
      undecodable_ += !take_of_thread(record);
  }
}

// False: the record makes no sense.
bool Collector::take_of_thread(const RecordView& record) {
  TracedThread& thread = threads_.of(record);
  switch (record.header.type) {
    case RecordType::Register:
      return registered_.take(thread, record);
    case RecordType::Module:
      return threads_.take_module(thread, record);
    case RecordType::Content:
      return calls_.take_content(thread, record);
    case RecordType::SharedContent:
      return calls_.take_shared(thread, record);
    case RecordType::ContentPiece:
      return contents_.take_piece(thread, record.payload);
    case RecordType::Fresh:
      return calls_.take_fresh(thread, record);
    case RecordType::MemoryFacts:
      return naming_.take_memory_facts(thread, record);
    case RecordType::CommandArg:
      return naming_.take_command_arg(thread, record);
    case RecordType::DeviceTime:
      list_.take_device_time(record);
      return true;
    case RecordType::Process:
      threads_.take_process(thread, record);
      return true;
    case RecordType::Device:
      take_device(thread, record);
      return true;
    case RecordType::Chunk:
      Threads::take_chunk(thread, record);
      return true;
    case RecordType::KernelName:
      texts_.take_kernel_name(thread, record);
      return true;
    case RecordType::KernelArgs:
      texts_.take_kernel_args(thread, record);
      return true;
    case RecordType::Frames:
      memory_.take_frames(thread, record);
      return true;
    case RecordType::LeftList:
      return memory_.take_left_list(thread, record);
    case RecordType::Pad:
    case RecordType::Enter:  // these and the following are taken by take()
    case RecordType::Exit:
    case RecordType::ExitTimed:
    case RecordType::Allocate:
    case RecordType::Release:
    case RecordType::Returned:
    case RecordType::Blocks:
    case RecordType::Repeat:
    case RecordType::BlockForm:
    case RecordType::CallbackEnter:
    case RecordType::CallbackExit:
    case RecordType::ThreadEnd:
      return true;
  }
  return false;
}

void Collector::take_device(const TracedThread& thread, const RecordView& record) {
  ByteReader in(record.payload);
  const uint64_t handle = in.fixed64();
  in.fixed64();
  const std::string_view text = as_text(in.raw(in.remaining()));
  const uint32_t number = devices_.number_of(thread.process->index, handle);
  devices_[number].name = text.substr(0, std::min(text.find('\0'), text.size()));
}

}  // namespace gt::tracer
