#include "tracer/interpose/disassembler.h"

#include <dlfcn.h>

#include <string>

namespace gt::interpose {
namespace {

#if defined(__x86_64__)
constexpr cs_arch Arch = CS_ARCH_X86;
constexpr cs_mode Mode = CS_MODE_64;
#else
constexpr cs_arch Arch = CS_ARCH_ARM64;
constexpr cs_mode Mode = CS_MODE_ARM;
#endif

struct Capstone {
  decltype(&cs_open) open = nullptr;
  decltype(&cs_option) option = nullptr;
  decltype(&cs_malloc) allocate = nullptr;
  decltype(&cs_disasm_iter) disassemble = nullptr;
  decltype(&cs_insn_group) in_group = nullptr;
  decltype(&cs_free) release = nullptr;
  decltype(&cs_close) close = nullptr;
  bool complete = false;
};

template <class Function>
bool find(void* library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(::dlsym(library, name));
  return out != nullptr;
}

// Its file is named after the version of the interface that the header describes. Never unloaded.
Capstone loaded() {
  Capstone c;
  void* const library = ::dlopen(("libcapstone.so." + std::to_string(CS_API_MAJOR)).c_str(), RTLD_LAZY | RTLD_LOCAL);
  c.complete = library && find(library, "cs_open", c.open) && find(library, "cs_option", c.option) &&
               find(library, "cs_malloc", c.allocate) && find(library, "cs_disasm_iter", c.disassemble) &&
               find(library, "cs_insn_group", c.in_group) && find(library, "cs_free", c.release) &&
               find(library, "cs_close", c.close);
  return c;
}

const Capstone& capstone() {
  static const Capstone c = loaded();
  return c;
}

}  // namespace

Disassembler::Disassembler() {
  if (!capstone().complete || capstone().open(Arch, Mode, &handle_) != CS_ERR_OK) return;
  capstone().option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
  instruction_ = capstone().allocate(handle_);
}

Disassembler::~Disassembler() {
  if (instruction_) capstone().release(instruction_, 1);
  if (handle_) capstone().close(&handle_);
}

const cs_insn* Disassembler::decode(std::string_view code, uint64_t address) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(code.data());
  size_t size = code.size();
  return ready() && capstone().disassemble(handle_, &bytes, &size, &address, instruction_) ? instruction_ : nullptr;
}

bool Disassembler::in_group(const cs_insn& i, unsigned group) const {
  return capstone().in_group(handle_, &i, group);
}

}  // namespace gt::interpose
