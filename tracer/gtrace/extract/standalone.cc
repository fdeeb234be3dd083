#include "tracer/gtrace/extract/standalone.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "traces/base/whole_file.h"

namespace gt::tracer {

namespace fs = std::filesystem;
using Kind_ = ExtractedArgument::Kind;

namespace {

std::string c_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (u < 0x20 || u >= 0x7f || c == '?') {
      out += fmt::format("\\{:03o}", u);  // three digits: what follows cannot belong to it
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string sizes(const std::vector<uint64_t>& list, const char* name) {
  if (list.empty()) return fmt::format("static const size_t* const {} = NULL;\n", name);
  return fmt::format("static const size_t {}[] = {{{}}};\n", name, fmt::join(list, ", "));
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(c - 'a' + 'A');
  return text;
}

std::vector<uint64_t> global_size(const Launch& launch) {
  return launch.global.empty() ? std::vector<uint64_t>{1} : launch.global;
}

std::string images(const ExtractedLaunch& e) {
  std::string out;
  for (size_t i = 0; i < e.buffers.size(); ++i) {
    if (!e.buffers[i].image) continue;
    const ExtractedImage& m = *e.buffers[i].image;
    const auto region = m.region();
    const std::string shape = fmt::format("{}, {}, {}, {}", m.width, m.height, m.depth, m.layers);
    out += fmt::format("static const struct image image{} = {{{{0x{:x}, 0x{:x}}}, 0x{:x}, {}, {{{}}}}};\n", i, m.order,
                       m.channel, m.type, shape, fmt::join(region, ", "));
  }
  return out;
}

const char* kind_name(ExtractedArgument::Kind kind) {
  switch (kind) {
    case Kind_::Buffer:
      return "buffer";
    case Kind_::Local:
      return "local";
    case Kind_::Sampler:
      return "sampler";
    default:
      return "value";
  }
}

std::string header(const ExtractedLaunch& e) {
  std::string out = fmt::format("#define KERNEL_NAME {}\n#define BUILD_OPTIONS {}\n#define WORK_DIM {}\n",
                                c_string(e.launch.kernel), c_string(e.options), e.launch.dimensions);
  out += sizes(e.launch.offset, "global_offset") + sizes(global_size(e.launch), "global_size") +
         sizes(e.launch.local, "local_size");
  out += "\n" + images(e);
  out += fmt::format("\n#define BUFFER_COUNT {}\nstatic const struct buffer buffers[BUFFER_COUNT + 1] = {{\n",
                     e.buffers.size());
  for (size_t i = 0; i < e.buffers.size(); ++i)
    out += fmt::format("    {{\"buffer{}\", {}, {}, {}}},\n", i, e.buffers[i].before.size(),
                       upper(element_name(e.buffers[i].element)),
                       e.buffers[i].image ? fmt::format("&image{}", i) : "NULL");
  out += "    {NULL, 0, BYTE, NULL},\n};\n\n";
  for (const ExtractedArgument& a : e.arguments) {
    if (a.kind == Kind_::Value && !a.value.empty())
      out += fmt::format("static const unsigned char value{}[] = {{{}}};\n", a.index, fmt::join(a.value, ", "));
    if (a.kind == Kind_::Sampler)
      out += fmt::format("static const cl_uint value{}[] = {{{}}};\n", a.index, fmt::join(a.sampler, ", "));
  }
  out += fmt::format("#define ARGUMENT_COUNT {}\nstatic const struct argument arguments[ARGUMENT_COUNT + 1] = {{\n",
                     e.arguments.size());
  for (const ExtractedArgument& a : e.arguments) {
    const bool value = a.kind == Kind_::Sampler || (a.kind == Kind_::Value && !a.value.empty());
    out += fmt::format("    {{{}, {}, {}, {}, {}}},\n", a.index, upper(kind_name(a.kind)), a.bytes,
                       value ? fmt::format("value{}", a.index) : "NULL", a.buffer);
  }
  return out + "    {0, VALUE, 0, NULL, 0},\n};\n";
}

std::string description(const ExtractedLaunch& e) {
  nlohmann::ordered_json j = {{"format", "gtrace-launch"}, {"version", 1}};
  const auto list = [](const std::vector<uint64_t>& v) {
    return v.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(v);
  };
  j["kernel"] = e.launch.kernel;
  j["options"] = e.options;
  j["offset"] = list(e.launch.offset);
  j["global"] = global_size(e.launch);
  j["local"] = list(e.launch.local);
  j["buffers"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < e.buffers.size(); ++i) {
    nlohmann::ordered_json one = {{"name", fmt::format("buffer{}", i)},
                                  {"bytes", e.buffers[i].before.size()},
                                  {"element", element_name(e.buffers[i].element)}};
    if (e.buffers[i].image) {
      const ExtractedImage& m = *e.buffers[i].image;
      one["image"] = {{"order", m.order},   {"channel", m.channel}, {"type", m.type},     {"width", m.width},
                      {"height", m.height}, {"depth", m.depth},     {"layers", m.layers}, {"region", m.region()}};
    }
    j["buffers"].push_back(one);
  }
  j["arguments"] = nlohmann::ordered_json::array();
  for (const ExtractedArgument& a : e.arguments) {
    nlohmann::ordered_json one = {{"index", a.index},
                                  {"kind", kind_name(a.kind)},
                                  {"bytes", a.bytes}};
    if (a.kind == Kind_::Buffer) one["buffer"] = a.buffer;
    if (a.kind == Kind_::Sampler) one["sampler"] = a.sampler;
    if (a.kind == Kind_::Value) one["value"] = std::vector<int>(a.value.begin(), a.value.end());
    j["arguments"].push_back(one);
  }
  return j.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string readme(const ExtractedLaunch& e) {
  return fmt::format(
      "# The {0}. launch of kernel `{1}`\n\n"
      "One launch of an OpenCL kernel with the data that it had, recorded on {2}. It needs an OpenCL SDK and a C "
      "compiler,\n"
      "or Python with pyopencl and numpy; nothing else.\n\n"
      "    cmake -B build && cmake --build build && build/launch        # or: cc main.c -lOpenCL -lm -o launch\n"
      "    build/launch --list; build/launch --device 1 --repeat 100 --tolerance 1e-5\n"
      "    python3 launch.py\n\n"
      "It sets the recorded arguments, launches the kernel, and compares what all of its buffers then hold with what "
      "they\n"
      "held after the launch on {2}. Exit status: 0 the same, 1 not, 2 it could not be run. With `--repeat`, the "
      "buffers are\n"
      "set anew before each launch, and the fastest is told.\n\n"
      "- `kernel.cl`: the program's source, with what it includes in `include`; its build options: `{3}`\n"
      "- `launch.h`, `launch.json`: sizes and arguments, for C and for Python\n"
      "- `data/bufferN.before`, `.after`: what buffer (or image) N held before and after the launch; a pointer into\n"
      "  shared virtual memory is a buffer here\n\n"
      "Work size: global {4}, local {5}. The program was recorded by gtrace, call #{6} of thread {7}.\n",
      e.launch.nth, e.launch.kernel, e.device, e.options, fmt::join(global_size(e.launch), " x "),
      e.launch.local.empty() ? "chosen by the driver" : fmt::format("{}", fmt::join(e.launch.local, " x ")),
      e.launch.number, e.launch.thread);
}

}  // namespace

Status make_new_folder(const std::string& folder) {
  std::error_code error;
  const fs::path dir = folder;
  if (fs::exists(dir, error) && (!fs::is_directory(dir, error) || !fs::is_empty(dir, error)))
    return {Kind::Invalid, fmt::format("{}: it is there already; name a new folder with -o", folder)};
  fs::create_directories(dir, error);
  return error ? Status(Kind::System, fmt::format("{}: {}", folder, error.message()), error.value()) : Status();
}

Status write_standalone(const ExtractedLaunch& e, const std::string& folder) {
  std::error_code error;
  const fs::path dir = folder;
  fs::create_directories(dir / "data", error);
  if (error) return {Kind::System, fmt::format("{}: {}", folder, error.message()), error.value()};
  const std::string files[][2] = {
      {"main.c", StandaloneMain}, {"launch.py", StandalonePython}, {"CMakeLists.txt", StandaloneCMake},
      {"launch.h", header(e)},    {"launch.json", description(e)}, {"kernel.cl", e.source},
      {"README.md", readme(e)}};
  for (const auto& [name, text] : files) GT_TRY(write_whole_file(dir / name, text));
  for (size_t i = 0; i < e.buffers.size(); ++i) {
    GT_TRY(write_whole_file(dir / "data" / fmt::format("buffer{}.before", i), as_text(e.buffers[i].before)));
    GT_TRY(write_whole_file(dir / "data" / fmt::format("buffer{}.after", i), as_text(e.buffers[i].after)));
  }
  return {};
}

}  // namespace gt::tracer
