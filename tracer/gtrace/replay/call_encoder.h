// A recorded call's inputs, encoded as traces/api/invoke.h takes them: names become this replay's handles.
//
// Memory of the program is encoded as its number in `places`, with the length MapsMemory: invoke() asks for it when it
// knows how much the call needs. Callbacks become the number 1, or 0 where the replay waits instead.
// Thread safety: one encoder per thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tracer/gtrace/replay/addresses.h"
#include "tracer/gtrace/replay/command_buffers.h"
#include "tracer/gtrace/replay/devices.h"
#include "tracer/gtrace/replay/host_memory.h"
#include "tracer/gtrace/replay/objects.h"
#include "tracer/gtrace/replay/program_sources.h"
#include "tracer/gtrace/replay/recorded_headers.h"
#include "tracer/gtrace/replay/shape_plan.h"
#include "traces/api/wire.h"

namespace gt::tracer {

// A number of the row that stands in the encoded inputs as it is: the first `size` bytes of it at `at`.
struct EncodedNumber {
  uint16_t value = 0, size = 0;
  uint32_t at = 0;
};

class CallEncoder {
 public:
  // All must outlive it.
  CallEncoder(const model::Trace& trace, const DeviceChoice& devices, const ReplayObjects& objects, HostMemory& memory)
      : trace_(trace), devices_(devices), objects_(objects), memory_(memory) {}

  // REQUIRES: plan.callable. `with_event`: the call is to give its event, also where the program did not ask for it.
  // `goes_on`: it is not to block. False: why() says what is missing.
  bool encode(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values,
              bool with_event = false, bool goes_on = false);

  ByteView inputs() { return writer_.view(); }
  const std::vector<HostPlace>& places() const { return places_; }  // number n stands at n - 1
  // Addresses in OpenCL's or the program's memory, in the order of the call's parameters.
  const std::vector<uint64_t>& pointers() const { return pointers_; }
  // Elements of lists and values of kernels' arguments, in the order of the row: nothing else depends on them.
  const std::vector<EncodedNumber>& numbers() const { return numbers_; }
  const std::string& why() const { return why_; }
  // What is missing is an object that the recording does not make either, or that went with another call.
  bool lacks_lost() const { return lost_; }

  // The handle that stands for an object; 0: none does.
  uint64_t handle(model::ClassId cls, int64_t slot) const;
  // An address in memory that OpenCL gave; 0: no call gave it.
  uint64_t address(model::ClassId cls, int64_t slot, int64_t offset) const;

  // The handle or address that stands for an argument that is none of the function's parameters; nullopt: why() says
  // what is missing.
  std::optional<uint64_t> word_of(const model::Shape& shape, const ShapePlan& plan, std::span<const int64_t> values,
                                  size_t arg);

  // The list of this name is NULL in calls from now on, the number 0; nullptr: none is.
  void leave_out(const char* param) { left_out_ = param; }
  // Builds of programs that were made from source in place of a binary have these options.
  void know_sources(const ProgramSources& sources) { sources_ = &sources; }

  // Numbers that are addresses on a device are those that they are here.
  void know_addresses(const SharedAddresses& addresses) { addresses_ = &addresses; }

  // Sync points that a command buffer's commands wait for are those that they are here.
  void know_command_buffers(const CommandBuffers& buffers) { command_buffers_ = &buffers; }

  // Builds are told to keep what kernels' arguments are called (-cl-kernel-arg-info).
  void describe_kernels() { describes_kernels_ = true; }
  // Builds find what their sources include below `folder`.
  void include_from(const RecordedHeaders& headers, const std::string& folder) {
    headers_ = &headers;
    header_folder_ = folder;
  }

 private:
  struct Row {
    const model::Shape& shape;
    const ShapePlan& plan;
    std::span<const int64_t> values;
    int64_t value(size_t arg, size_t which = 0) const { return values[plan.value_at[arg] + which]; }
    int64_t number(int param) const { return number_of(shape, plan, values, param); }
  };

  void parameter(const Row& row, uint16_t param);
  bool is_left_out(const Row& row, uint16_t param) const {
    return left_out_ && row.plan.fn->params[param].name == std::string_view(left_out_);
  }
  void list(const Row& row, uint16_t param, size_t begin, size_t end);
  void element(const Row& row, size_t arg);
  void sync_point(const Row& row, size_t arg);
  void bytes(const Row& row, uint16_t param, size_t arg);
  void info(const Row& row, size_t begin, size_t end);
  void host_data(const Row& row, size_t arg);
  uint64_t device_address(uint64_t recorded) const;
  uint64_t pointer(const Row& row, size_t arg);
  uint64_t object(const Row& row, size_t arg);
  void blob(int64_t id);
  void options(const Row& row, size_t arg);
  std::optional<std::string> options_of_source(const Row& row) const;
  void note_number(const Row& row, size_t arg, size_t size, size_t behind = 0);
  void refuse(std::string why);

  const model::Trace& trace_;
  const DeviceChoice& devices_;
  const ReplayObjects& objects_;
  HostMemory& memory_;
  api::VectorWriter writer_;
  std::vector<HostPlace> places_;
  std::vector<uint64_t> pointers_;
  std::vector<EncodedNumber> numbers_;
  std::string why_;
  const RecordedHeaders* headers_ = nullptr;
  std::string header_folder_;
  const char* left_out_ = nullptr;
  const ProgramSources* sources_ = nullptr;
  const SharedAddresses* addresses_ = nullptr;
  const CommandBuffers* command_buffers_ = nullptr;
  bool sound_ = true, lost_ = false, with_event_ = false, goes_on_ = false, describes_kernels_ = false;
};

}  // namespace gt::tracer
