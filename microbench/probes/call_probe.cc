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
  CallProbe(const Session& session, const Pace& pace) : x_session(session), x_pace(pace) {}

  Result<CallCosts> run() {
    GT_TRY(prepare());
    CallCosts costs;
    for (size_t i = 0; i < Turns.size(); ++i) {
      const Pace part{x_pace.budget_s / static_cast<double>(Turns.size()), x_pace.goal};
      const auto turn = [&] { return (this->*Turns[i])(); };
      Status done = turn().status();  // the first one pays for what is made on first use
      if (done.ok()) {
        const auto median = measure(turn, part);
        if (median) costs[i] = *median;
        done = median.status();
      }
      if (!done.ok() && done.kind() != Kind::Unsupported) return done;
      x_pace.progress(static_cast<double>(i + 1) / static_cast<double>(Turns.size()));
    }
    return costs;
  }

 private:
  Result<ClProgram> built(int number) {
    const std::string text = "// " + std::to_string(number) + "\n" + Source;
    const char* source = text.c_str();
    cl_int err = CL_SUCCESS;
    ClProgram program(clCreateProgramWithSource(x_session.context(), 1, &source, nullptr, &err));
    GT_TRY(cl_status("clCreateProgramWithSource", err));
    const cl_device_id device = x_session.device().id;
    GT_TRY(cl_status("clBuildProgram", clBuildProgram(program.get(), 1, &device, "", nullptr, nullptr)));
    return program;
  }

  Status prepare() {
    for (Mem& buffer : x_buffers) {
      Result<Mem> made = x_session.buffer(BufferBytes);
      if (!made) return made.status();
      buffer = std::move(*made);
    }
    Result<ClProgram> program = built(0);
    if (!program) return program.status();
    x_program = std::move(*program);
    cl_int err = CL_SUCCESS;
    x_kernel.reset(clCreateKernel(x_program.get(), "nothing", &err));
    GT_TRY(cl_status("clCreateKernel", err));
    GT_TRY(set_buffer(0));
    return set_number(0);
  }

  Status set_number(int n) {
    return cl_status("clSetKernelArg", clSetKernelArg(x_kernel.get(), 1, sizeof n, &n));
  }
  Status set_buffer(int which) {
    cl_mem buffer = x_buffers[which & 1].get();
    return cl_status("clSetKernelArg", clSetKernelArg(x_kernel.get(), 0, sizeof buffer, &buffer));
  }
  Status launch() {
    const size_t one = 1;
    return cl_status("clEnqueueNDRangeKernel",
                     clEnqueueNDRangeKernel(x_session.queue(), x_kernel.get(), 1, nullptr, &one, nullptr, 0, nullptr,
                                            nullptr));
  }

  Result<double> device_info() {
    return timed(Row, [this](int) {
      char name[256];
      return cl_status("clGetDeviceInfo",
                       clGetDeviceInfo(x_session.device().id, CL_DEVICE_NAME, sizeof name, name, nullptr));
    });
  }

  // A row of buffers is made, used once (some drivers make them only then), and released.
  Result<double> buffers(bool making) {
    std::vector<Mem> row(Row);
    const auto made = timed(Row, [&](int i) {
      Result<Mem> buffer = x_session.buffer(BufferBytes);
      if (buffer) row[static_cast<size_t>(i)] = std::move(*buffer);
      return buffer.status();
    });
    if (making || !made) return made;
    for (const Mem& buffer : row) GT_TRY(x_session.write(buffer.get(), &x_word, sizeof x_word));
    return timed(Row, [&](int i) {
      row[static_cast<size_t>(i)].reset();
      return Status();
    });
  }
  Result<double> create_buffer() { return buffers(true); }
  Result<double> release_buffer() { return buffers(false); }

  Result<double> build() {
    return timed(1, [this](int) { return built(++x_built).status(); });
  }

  Result<double> kernels(bool making) {
    std::vector<Kernel> row(Row);
    const auto made = timed(Row, [&](int i) {
      cl_int err = CL_SUCCESS;
      row[static_cast<size_t>(i)].reset(clCreateKernel(x_program.get(), "nothing", &err));
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
    GT_TRY(x_session.finish());
    return time;
  }
  Result<double> launch_and_finish() {
    return timed(1, [this](int) -> Status {
      GT_TRY(launch());
      return x_session.finish();
    });
  }
  Result<double> chain(bool new_arguments) {
    const double start = now_ns();
    for (int i = 0; i < Chain; ++i) {
      if (new_arguments) GT_TRY(set_number(i));
      GT_TRY(launch());
    }
    GT_TRY(x_session.finish());
    return (now_ns() - start) / Chain;
  }
  Result<double> plain_chain() { return chain(false); }
  Result<double> changing_chain() { return chain(true); }

  Result<double> small_write() {
    return timed(1, [this](int) { return x_session.write(x_buffers[0].get(), &x_word, sizeof x_word); });
  }
  Result<double> small_read() {
    return timed(1, [this](int) { return x_session.read(x_buffers[0].get(), &x_word, sizeof x_word); });
  }

  Result<double> marker() {
    std::vector<Event> row(Row);
    const auto time = timed(Row, [&](int i) {
      cl_event event = nullptr;
      const cl_int err = clEnqueueMarkerWithWaitList(x_session.queue(), 0, nullptr, &event);
      row[static_cast<size_t>(i)].reset(event);
      return cl_status("clEnqueueMarkerWithWaitList", err);
    });
    GT_TRY(x_session.finish());
    return time;
  }
  Result<double> event_info() {
    cl_event event = nullptr;
    GT_TRY(cl_status("clEnqueueMarkerWithWaitList",
                     clEnqueueMarkerWithWaitList(x_session.queue(), 0, nullptr, &event)));
    const Event owner(event);
    GT_TRY(x_session.finish());
    return timed(Row, [&](int) {
      cl_int state = 0;
      return cl_status("clGetEventInfo", clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state,
                                                        &state, nullptr));
    });
  }
  Result<double> user_event() {
    return timed(Row, [this](int) {
      cl_int err = CL_SUCCESS;
      const Event event(clCreateUserEvent(x_session.context(), &err));
      if (err == CL_SUCCESS) err = clSetUserEventStatus(event.get(), CL_COMPLETE);
      return cl_status("clCreateUserEvent", err);
    });
  }
  Result<double> idle_finish() {
    return timed(1, [this](int) { return x_session.finish(); });
  }

  // In the order of CallNames.
  static constexpr std::array<Result<double> (CallProbe::*)(), CallNames.size()> Turns = {
      &CallProbe::device_info,    &CallProbe::create_buffer,    &CallProbe::release_buffer, &CallProbe::build,
      &CallProbe::create_kernel,  &CallProbe::release_kernel,   &CallProbe::number_arg,     &CallProbe::buffer_arg,
      &CallProbe::enqueue,        &CallProbe::launch_and_finish, &CallProbe::plain_chain,   &CallProbe::changing_chain,
      &CallProbe::small_write,    &CallProbe::small_read,       &CallProbe::marker,         &CallProbe::event_info,
      &CallProbe::user_event,     &CallProbe::idle_finish};

  const Session& x_session;
  const Pace& x_pace;
  ClProgram x_program;
  Kernel x_kernel;
  Mem x_buffers[2];
  int x_word = 1, x_built = 0;
};

}  // namespace

Result<CallCosts> measure_calls(const Session& session, const Pace& pace) { return CallProbe(session, pace).run(); }

}  // namespace gt::bench
