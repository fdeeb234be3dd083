#include "transport/executor/calls/building.h"

#include "transport/executor/calls/include_files.h"
#include "transport/executor/calls/launches.h"

namespace gt::exec {
namespace {

using Step = wire::Build::Step;

constexpr const char* ArgInfoOption = "-cl-kernel-arg-info";

std::string text_of(const Cl& cl, cl_program program, cl_program_info name) {
  size_t size = 0;
  if (cl.clGetProgramInfo(program, name, 0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
  std::string text(size, '\0');
  if (cl.clGetProgramInfo(program, name, size, text.data(), nullptr) != CL_SUCCESS) return {};
  text.resize(text.find('\0') == std::string::npos ? size : text.find('\0'));
  return text;
}

std::string log_of(const Cl& cl, cl_program program, cl_device_id device) {
  constexpr size_t Longest = size_t{4} << 20;
  size_t size = 0;
  if (cl.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) != CL_SUCCESS || size == 0 ||
      size > Longest)
    return {};
  std::string log(size, '\0');
  cl.clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  while (!log.empty() && log.back() == '\0') log.pop_back();
  return log;
}

cl_int call(const Cl& cl, BuildJob& job, const std::string& options) {
  const auto devices = static_cast<cl_uint>(job.listed);
  const cl_device_id* const list = devices ? job.devices.data() : nullptr;
  const auto inputs = static_cast<cl_uint>(job.inputs.size());
  const cl_program* const programs = inputs ? job.inputs.data() : nullptr;
  const char* const text = job.asked.how == wire::Build::Options::None ? nullptr : options.c_str();
  if (job.asked.step == Step::Build) return cl.clBuildProgram(job.program, devices, list, text, nullptr, nullptr);
  if (job.asked.step == Step::Link) {
    cl_int code = CL_SUCCESS;
    job.program = cl.clLinkProgram(job.context, devices, list, text, inputs, programs, nullptr, nullptr, &code);
    return code;
  }
  std::vector<const char*> names;
  for (const std::string& name : job.asked.names) names.push_back(name.c_str());
  return cl.clCompileProgram(job.program, devices, list, text, inputs, programs,
                             names.empty() ? nullptr : names.data(), nullptr, nullptr);
}

wire::KernelInfo kernel_of(const Cl& cl, cl_program program, const std::string& name) {
  wire::KernelInfo info;
  info.name = name;
  cl_int code = CL_SUCCESS;
  cl_kernel kernel = cl.clCreateKernel(program, name.c_str(), &code);
  if (code != CL_SUCCESS || !kernel) return info;
  info.args.resize(Cl::ask<cl_uint>(cl.clGetKernelInfo, kernel, CL_KERNEL_NUM_ARGS));
  info.told = 1;
  for (cl_uint i = 0; i < info.args.size(); ++i) {
    bool told = false;
    info.args[i] = arg_info(cl, kernel, i, told);
    info.told = info.told && told;
  }
  cl.clReleaseKernel(kernel);
  return info;
}

void describe_kernels(const Session& session, const BuildJob& job, wire::Built& out) {
  constexpr size_t Most = size_t{1} << 16;
  // NVIDIA's driver crashes when it is asked for the names of none.
  if (Cl::ask<size_t>(session.cl.clGetProgramInfo, job.program, CL_PROGRAM_NUM_KERNELS) == 0) return;
  const std::string names = text_of(session.cl, job.program, CL_PROGRAM_KERNEL_NAMES);
  for (size_t at = 0; at < names.size() && out.kernels.size() < Most;) {
    const size_t end = std::min(names.find(';', at), names.size());
    if (end > at) out.kernels.push_back(kernel_of(session.cl, job.program, names.substr(at, end - at)));
    at = end + 1;
  }
}

// Sources of what is built, and of what it is built from; empty where they are not known.
std::string sources_of(const Cl& cl, const BuildJob& job) {
  std::string sources = job.asked.step == Step::Link ? "" : text_of(cl, job.program, CL_PROGRAM_SOURCE);
  for (cl_program input : job.inputs) sources += text_of(cl, input, CL_PROGRAM_SOURCE);
  return sources;
}

}  // namespace

cl_int build(const Session& session, BuildJob& job) {
  if (job.asked.step == Step::Describe) return CL_SUCCESS;
  const std::string sources = sources_of(session.cl, job);
  const bool has_source = job.asked.step != Step::Link && !sources.empty();
  std::shared_ptr<const void> turn;  // ends when the files are gone
  if (session.options.take_build_turn && !sources.empty()) turn = session.options.take_build_turn(sources);
  const std::optional<IncludeFiles> files = IncludeFiles::write(job.asked.files, sources, turn != nullptr);
  if (!files) return CL_INVALID_VALUE;
  if (job.asked.how != wire::Build::Options::Adapted) return call(session.cl, job, job.asked.options);
  const std::string options = rewrite_options(job.asked.options, files->folder());
  if (has_source && options.find(ArgInfoOption) == std::string::npos) {
    const cl_int code = call(session.cl, job, options.empty() ? ArgInfoOption : options + " " + ArgInfoOption);
    // Not every driver knows the option, and NVIDIA's fails with it where a kernel has no arguments.
    if (code == CL_SUCCESS) return code;
  }
  return call(session.cl, job, options);
}

void describe(const Session& session, const BuildJob& job, wire::Built& out) {
  if (!job.program) return;
  const Cl& cl = session.cl;
  bool built = false;
  for (size_t i = 0; i < job.devices.size(); ++i) {
    const auto ask = [&](cl_program_build_info name, auto& value) {
      cl.clGetProgramBuildInfo(job.program, job.devices[i], name, sizeof value, &value, nullptr);
    };
    cl_build_status status = CL_BUILD_NONE;
    cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
    ask(CL_PROGRAM_BUILD_STATUS, status);
    ask(CL_PROGRAM_BINARY_TYPE, type);
    out.devices.push_back({job.device_ids[i], status, type, log_of(cl, job.program, job.devices[i])});
    built = built || (status == CL_BUILD_SUCCESS && type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
  }
  // Intel's driver calls a program made from a binary built, and crashes when it is asked for its kernels before it is.
  if (built && job.asked.step != Step::Describe) describe_kernels(session, job, out);
}

}  // namespace gt::exec
