// One row of calls after the other.
#include "microbench/probes/call_probe.h"

#include <algorithm>
#include <vector>

namespace gt::bench {
namespace {

constexpr int Row = 64, Chain = 1000;
constexpr size_t BufferBytes = 64 << 10;
constexpr const char* Source = "__kernel void nothing(__global int* a, int n) { if (n == -1) a[0] = n; }\n";

using Event = Owned<cl_event, &clReleaseEvent>;

// Nanoseconds of `calls` calls, each.
template <class F>
Result<double> timed(int calls, F body) {
  const double start = now_ns();
  for (int i = 0; i < calls; ++i) GT_TRY(body(i));
  return (now_ns() - start) / calls;
}

class CallProbe {
 public:
  CallProbe(const Session& session, const Pace& pace) : session_(session), pace_(pace) {}

  Result<CallCosts> run() {
    GT_TRY(prepare());
    CallCosts costs;
    for (size_t i = 0; i < Turns.size(); ++i) {
      const Pace part{pace_.budget_s / static_cast<double>(Turns.size()), pace_.goal};
      const auto turn = [&] { return (this->*Turns[i])(); };
      Status done = turn().status();  // the first one pays for what is made on first use
      if (done.ok()) {
        const auto median = measure(turn, part);
        if (median) costs[i] = *median;
        done = median.status();
      }
      if (!done.ok() && done.kind() != Kind::Unsupported) return done;
      pace_.progress(static_cast<double>(i + 1) / static_cast<double>(Turns.size()));
    }
    return costs;
  }

 private:
  Result<ClProgram> built(int number) {
    const std::string text = "// " + std::to_string(number) + "\n" + Source;
    const char* source = text.c_str();
    cl_int err = CL_SUCCESS;
    ClProgram program(clCreateProgramWithSource(session_.context(), 1, &source, nullptr, &err));
    GT_TRY(cl_status("clCreateProgramWithSource", err));
    const cl_device_id device = session_.device().id;
    GT_TRY(cl_status("clBuildProgram", clBuildProgram(program.get(), 1, &device, "", nullptr, nullptr)));
    return program;
  }

  Status prepare() {
    for (Mem& buffer : buffers_) {
      Result<Mem> made = session_.buffer(BufferBytes);
      if (!made) return made.status();
      buffer = std::move(*made);
    }
    Result<ClProgram> program = built(0);
    if (!program) return program.status();
    program_ = std::move(*program);
    cl_int err = CL_SUCCESS;
    kernel_.reset(clCreateKernel(program_.get(), "nothing", &err));
    GT_TRY(cl_status("clCreateKernel", err));
    GT_TRY(set_buffer(0));
    return set_number(0);
  }

  Status set_number(int n) {
    return cl_status("clSetKernelArg", clSetKernelArg(kernel_.get(), 1, sizeof n, &n));
  }
  Status set_buffer(int which) {
    cl_mem buffer = buffers_[which & 1].get();
    return cl_status("clSetKernelArg", clSetKernelArg(kernel_.get(), 0, sizeof buffer, &buffer));
  }
  Status launch() {
    const size_t one = 1;
    return cl_status("clEnqueueNDRangeKernel",
                     clEnqueueNDRangeKernel(session_.queue(), kernel_.get(), 1, nullptr, &one, nullptr, 0, nullptr,
                                            nullptr));
  }

  Result<double> device_info() {
    return timed(Row, [this](int) {
      char name[256];
      return cl_status("clGetDeviceInfo",
                       clGetDeviceInfo(session_.device().id, CL_DEVICE_NAME, sizeof name, name, nullptr));
    });
  }

  // A row of buffers is made, used once (some drivers make them only then), and released.
  Result<double> buffers(bool making) {
    std::vector<Mem> row(Row);
    const auto made = timed(Row, [&](int i) {
      Result<Mem> buffer = session_.buffer(BufferBytes);
      if (buffer) row[static_cast<size_t>(i)] = std::move(*buffer);
      return buffer.status();
    });
    if (making || !made) return made;
    for (const Mem& buffer : row) GT_TRY(session_.write(buffer.get(), &word_, sizeof word_));
    return timed(Row, [&](int i) {
      row[static_cast<size_t>(i)].reset();
      return Status();
    });
  }
  Result<double> create_buffer() { return buffers(true); }
  Result<double> release_buffer() { return buffers(false); }

  Result<double> build() {
    return timed(1, [this](int) { return built(++built_).status(); });
  }

  Result<double> kernels(bool making) {
    std::vector<Kernel> row(Row);
    const auto made = timed(Row, [&](int i) {
      cl_int err = CL_SUCCESS;
      row[static_cast<size_t>(i)].reset(clCreateKernel(program_.get(), "nothing", &err));
      return cl_status("clCreateKernel", err);
    });
    if (making || !made) return made;
    return timed(Row, [&](int i) {
      row[static_cast<size_t>(i)].reset();
      return Status();
    });
  }
  Result<double> create_kernel() { return kernels(true); }
  Result<double> release_kernel() { return kernels(false); }

  Result<double> number_arg() {
    return timed(Row, [this](int i) { return set_number(i); });
  }
  Result<double> buffer_arg() {
    return timed(Row, [this](int i) { return set_buffer(i); });
  }

  Result<double> enqueue() {
    const auto time = timed(Row, [this](int) { return launch(); });
    GT_TRY(session_.finish());
    return time;
  }
  Result<double> launch_and_finish() {
    return timed(1, [this](int) -> Status {
      GT_TRY(launch());
      return session_.finish();
    });
  }
  Result<double> chain(bool new_arguments) {
    const double start = now_ns();
    for (int i = 0; i < Chain; ++i) {
      if (new_arguments) GT_TRY(set_number(i));
      GT_TRY(launch());
    }
    GT_TRY(session_.finish());
    return (now_ns() - start) / Chain;
  }
  Result<double> plain_chain() { return chain(false); }
  Result<double> changing_chain() { return chain(true); }

  Result<double> small_write() {
    return timed(1, [this](int) { return session_.write(buffers_[0].get(), &word_, sizeof word_); });
  }
  Result<double> small_read() {
    return timed(1, [this](int) { return session_.read(buffers_[0].get(), &word_, sizeof word_); });
  }

  Result<double> marker() {
    std::vector<Event> row(Row);
    const auto time = timed(Row, [&](int i) {
      cl_event event = nullptr;
      const cl_int err = clEnqueueMarkerWithWaitList(session_.queue(), 0, nullptr, &event);
      row[static_cast<size_t>(i)].reset(event);
      return cl_status("clEnqueueMarkerWithWaitList", err);
    });
    GT_TRY(session_.finish());
    return time;
  }
  Result<double> event_info() {
    cl_event event = nullptr;
    GT_TRY(cl_status("clEnqueueMarkerWithWaitList",
                     clEnqueueMarkerWithWaitList(session_.queue(), 0, nullptr, &event)));
    const Event owner(event);
    GT_TRY(session_.finish());
    return timed(Row, [&](int) {
      cl_int state = 0;
      return cl_status("clGetEventInfo", clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state,
                                                        &state, nullptr));
    });
  }
  Result<double> user_event() {
    return timed(Row, [this](int) {
      cl_int err = CL_SUCCESS;
      const Event event(clCreateUserEvent(session_.context(), &err));
      if (err == CL_SUCCESS) err = clSetUserEventStatus(event.get(), CL_COMPLETE);
      return cl_status("clCreateUserEvent", err);
    });
  }
  Result<double> idle_finish() {
    return timed(1, [this](int) { return session_.finish(); });
  }

  // In the order of CallNames.
  static constexpr std::array<Result<double> (CallProbe::*)(), CallNames.size()> Turns = {
      &CallProbe::device_info,    &CallProbe::create_buffer,    &CallProbe::release_buffer, &CallProbe::build,
      &CallProbe::create_kernel,  &CallProbe::release_kernel,   &CallProbe::number_arg,     &CallProbe::buffer_arg,
      &CallProbe::enqueue,        &CallProbe::launch_and_finish, &CallProbe::plain_chain,   &CallProbe::changing_chain,
      &CallProbe::small_write,    &CallProbe::small_read,       &CallProbe::marker,         &CallProbe::event_info,
      &CallProbe::user_event,     &CallProbe::idle_finish};

  const Session& session_;
  const Pace& pace_;
  ClProgram program_;
  Kernel kernel_;
  Mem buffers_[2];
  int word_ = 1, built_ = 0;
};

}  // namespace

Result<CallCosts> measure_calls(const Session& session, const Pace& pace) { return CallProbe(session, pace).run(); }

}  // namespace gt::bench
