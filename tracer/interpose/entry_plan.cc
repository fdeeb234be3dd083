#include "tracer/interpose/entry_plan.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "tracer/interpose/disassembler.h"
#include "tracer/interpose/elf_file.h"
#include "tracer/interpose/entry_patch.h"

namespace gt::interpose {

namespace {

constexpr size_t MaxFunctionBytes = 1 << 20;  // looked through for jumps into the displaced bytes

struct Trampoline {
  std::string code;    // bytes
  std::string fixups;  // ",r...", ",a..."

  void put(std::string_view bytes) { code += bytes; }
  void zeros(size_t n) { code.append(n, '\0'); }
  // Four bytes that end an instruction: the distance from its end to the target.
  void relative(uint64_t target) {
    zeros(4);
    fixups += fmt::format(",r{:x}:{:x}:{:x}", code.size() - 4, code.size(), target);
  }
  void absolute(uint64_t target) {
    zeros(8);
    fixups += fmt::format(",a{:x}:{:x}", code.size() - 8, target);
  }
};

// What moving one instruction gave. Ends: nothing that follows it is reached from it.
enum class Moved : uint8_t { Yes, Ends, No };

#if defined(__x86_64__)

bool branch_target(const cs_insn& i, uint64_t& target) {
  const cs_x86& x = i.detail->x86;
  if (x.op_count != 1 || x.operands[0].type != X86_OP_IMM) return false;
  target = static_cast<uint64_t>(x.operands[0].imm);
  return true;
}

std::string_view bytes_of(const cs_insn& i) { return {reinterpret_cast<const char*>(i.bytes), i.size}; }

Moved move_branch(const Disassembler& d, const cs_insn& i, uint64_t target, Trampoline& out) {
  if (d.in_group(i, CS_GRP_CALL)) {
    out.put("\xe8");
  } else if (i.id == X86_INS_JMP) {
    out.put("\xe9");
  } else {
    // Short jcc is 7x, near jcc is 0f 8x: the condition is the low half of the opcode.
    const uint8_t* opcode = i.detail->x86.opcode;
    const uint8_t condition = opcode[0] == 0x0f ? opcode[1] : opcode[0];
    const uint8_t kind = condition & 0xf0;
    if (kind != 0x70 && kind != 0x80) return Moved::No;  // loop, jrcxz
    const char near[] = {'\x0f', static_cast<char>(0x80 | (condition & 0xf))};
    out.put({near, 2});
  }
  out.relative(target);
  return i.id == X86_INS_JMP ? Moved::Ends : Moved::Yes;
}

// A RIP-relative operand: four bytes at disp_offset, counted from the end of the instruction.
void move_relative(const cs_insn& i, Trampoline& out) {
  const cs_x86& x = i.detail->x86;
  const size_t begin = out.code.size();
  out.put(bytes_of(i));
  for (unsigned k = 0; k < 4; ++k) out.code[begin + x.encoding.disp_offset + k] = 0;
  const uint64_t target = i.address + i.size + static_cast<uint64_t>(x.disp);
  out.fixups += fmt::format(",r{:x}:{:x}:{:x}", begin + x.encoding.disp_offset, out.code.size(), target);
}

bool is_relative(const cs_insn& i) {
  const cs_x86& x = i.detail->x86;
  for (unsigned k = 0; k < x.op_count; ++k) {
    if (x.operands[k].type == X86_OP_MEM && x.operands[k].mem.base == X86_REG_RIP) return true;
  }
  return false;
}

Moved move(const Disassembler& d, const cs_insn& i, Trampoline& out) {
  uint64_t target = 0;
  const bool branch = d.in_group(i, CS_GRP_JUMP) || d.in_group(i, CS_GRP_CALL);
  if (branch && branch_target(i, target)) return move_branch(d, i, target, out);
  if (is_relative(i)) {
    if (i.detail->x86.encoding.disp_size != 4) return Moved::No;
    move_relative(i, out);
  } else {
    out.put(bytes_of(i));
  }
  return i.id == X86_INS_JMP || d.in_group(i, CS_GRP_RET) || i.id == X86_INS_UD2 ? Moved::Ends : Moved::Yes;
}

void jump_back(uint64_t target, Trampoline& out) {
  out.put("\xe9");
  out.relative(target);
}

bool is_landing_pad(const cs_insn& i) { return i.id == X86_INS_ENDBR64; }
bool is_padding(const cs_insn& i) { return i.id == X86_INS_NOP || i.id == X86_INS_INT3; }

#else

std::string_view bytes_of(const cs_insn& i) { return {reinterpret_cast<const char*>(i.bytes), i.size}; }

bool branch_target(const cs_insn& i, uint64_t& target) {
  const cs_arm64& a = i.detail->arm64;
  if (a.op_count == 0 || a.operands[a.op_count - 1].type != ARM64_OP_IMM) return false;
  target = static_cast<uint64_t>(a.operands[a.op_count - 1].imm);
  return true;
}

void put_word(uint32_t word, Trampoline& out) { out.put({reinterpret_cast<const char*>(&word), 4}); }

// adr and adrp become a load of the address: ldr xN, .+8; b .+12; the address.
void move_address(uint32_t word, uint64_t target, Trampoline& out) {
  put_word(0x58000040 | (word & 31), out);
  put_word(0x14000003, out);
  out.absolute(target);
}

Moved move(const Disassembler& d, const cs_insn& i, Trampoline& out) {
  uint32_t word = 0;
  std::memcpy(&word, i.bytes, 4);
  uint64_t target = 0;
  if (i.id == ARM64_INS_ADR || i.id == ARM64_INS_ADRP) {
    if (!branch_target(i, target)) return Moved::No;
    move_address(word, target, out);
    return Moved::Yes;
  }
  const bool literal = (word & 0x3b000000) == 0x18000000;
  const bool branch = d.in_group(i, CS_GRP_JUMP) || d.in_group(i, CS_GRP_CALL);
  if (literal || (branch && branch_target(i, target))) return Moved::No;
  out.put(bytes_of(i));
  return d.in_group(i, CS_GRP_RET) || i.id == ARM64_INS_BR ? Moved::Ends : Moved::Yes;
}

// ldr x16, .+8; br x16: x16 is the linker's to use between functions.
void jump_back(uint64_t target, Trampoline& out) {
  put_word(0x58000050, out);
  put_word(0xd61f0200, out);
  out.absolute(target);
}

bool is_landing_pad(const cs_insn& i) { return i.id == ARM64_INS_HINT; }  // bti, paciasp
bool is_padding(const cs_insn& i) { return i.id == ARM64_INS_NOP; }

#endif

// One function on its way into the plan.
class Planner {
 public:
  Planner(Disassembler& decoder, const ElfFile& elf, const ElfFunction& f, const std::vector<uint64_t>& starts)
      : decoder_(decoder), elf_(elf), f_(f), starts_(starts) {}

  // The entry's text, or "" and why() tells why not.
  std::string plan() {
    if (f_.chosen_at_start) return refuse("it is chosen when the program starts (IFUNC)");
    if (!decoder_.ready()) return refuse("Capstone cannot be loaded");
    at_ = f_.address + pad_bytes();
    if (!move_head() || !nothing_jumps_into_head()) return "";
    return fmt::format(",{:x},{},{}{}", at_, hex(elf_.code(at_, moved_bytes_)), hex(out_.code), out_.fixups);
  }
  const std::string& why() const { return why_; }

 private:
  std::string refuse(const std::string& why) {
    if (why_.empty()) why_ = why;
    return "";
  }
  bool cannot(const std::string& why) { return refuse(why), false; }

  static std::string hex(std::string_view bytes) {
    std::string text;
    for (const char c : bytes) text += fmt::format("{:02x}", static_cast<uint8_t>(c));
    return text;
  }

  const cs_insn* decode(uint64_t address) { return decoder_.decode(elf_.code(address, 16), address); }

  size_t pad_bytes() {
    const cs_insn* first = decode(f_.address);
    return first && is_landing_pad(*first) ? first->size : 0;
  }

  // After an end the rest of the jump may lie in padding, as far as no other function begins there.
  bool room_is_padding() {
    for (size_t n = moved_bytes_; n < JumpBytes;) {
      const cs_insn* i = decode(at_ + n);
      if (!i || !is_padding(*i)) return false;
      n += i->size;
    }
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), f_.address);
    return next == starts_.end() || *next >= at_ + JumpBytes;
  }

  bool move_head() {
    Moved moved = Moved::Yes;
    while (moved_bytes_ < JumpBytes && moved == Moved::Yes) {
      const cs_insn* i = decode(at_ + moved_bytes_);
      if (!i) return cannot("its first instructions cannot be decoded");
      uint64_t target = 0;
      if (decoder_.in_group(*i, CS_GRP_JUMP) && branch_target(*i, target)) head_targets_.push_back(target);
      moved = move(decoder_, *i, out_);
      if (moved == Moved::No)
        return cannot(fmt::format("'{} {}' among its first instructions cannot be moved", i->mnemonic, i->op_str));
      moved_bytes_ += i->size;
      if (f_.size != 0 && at_ + moved_bytes_ > f_.address + f_.size) return cannot("its size is not that of its code");
    }
    const uint64_t next = at_ + moved_bytes_;
    if (moved_bytes_ < JumpBytes && !room_is_padding())
      return cannot(fmt::format("it is too short to hold a jump ({} bytes)", moved_bytes_));
    moved_bytes_ = std::max(moved_bytes_, JumpBytes);
    head_end_ = at_ + moved_bytes_;
    jump_back(next, out_);
    return true;
  }

  bool nothing_jumps_into_head() {
    for (const uint64_t target : head_targets_) {
      if (target >= f_.address && target < head_end_) return cannot("its first instructions jump among themselves");
    }
    const uint64_t end = f_.address + std::min<uint64_t>(f_.size, MaxFunctionBytes);
    for (uint64_t at = head_end_; at < end;) {
      const cs_insn* i = decode(at);
      uint64_t target = 0;
      if (i && decoder_.in_group(*i, CS_GRP_JUMP) && branch_target(*i, target) && target >= f_.address &&
          target < head_end_) {
        return cannot("code further on jumps back to its first instructions");
      }
#if defined(__x86_64__)
      at += i ? i->size : 1;
#else
      at += 4;
#endif
    }
    return true;
  }

  Disassembler& decoder_;
  const ElfFile& elf_;
  const ElfFunction& f_;
  const std::vector<uint64_t>& starts_;  // of all functions, ascending
  uint64_t at_ = 0, head_end_ = 0;
  size_t moved_bytes_ = 0;  // of the function that the trampoline stands for
  Trampoline out_;
  std::vector<uint64_t> head_targets_;
  std::string why_;
};

bool can_be_named(std::string_view name) { return name.size() < 128 && name.find_first_of(",;=") == name.npos; }

// By name, once: a function may stand in both tables.
std::map<std::string_view, ElfFunction> functions_of_interest(const std::vector<ElfFunction>& all,
                                                              const std::function<EntryUse(std::string_view)>& use) {
  std::map<std::string_view, ElfFunction> wanted;
  for (const ElfFunction& f : all) {
    if (can_be_named(f.name) && use(f.name) != EntryUse::None) wanted.emplace(f.name, f);
  }
  return wanted;
}

}  // namespace

Result<EntryPlan> plan_entries(const std::string& binary, const std::function<EntryUse(std::string_view)>& use) {
  EntryPlan plan;
  auto elf = ElfFile::open(binary);
  struct stat st {};
  if (!elf || stat(binary.c_str(), &st) != 0) return plan;
  const std::vector<ElfFunction> all = elf->functions();
  const auto wanted = functions_of_interest(all, use);
  if (wanted.empty()) return plan;
  std::vector<uint64_t> starts;
  for (const ElfFunction& f : all) starts.push_back(f.address);
  std::sort(starts.begin(), starts.end());
  std::set<uint64_t> taken;
  Disassembler decoder;
  plan.text = fmt::format("{:x}:{:x}", st.st_dev, st.st_ino);
  for (const auto& [name, f] : wanted) {
    plan.text += fmt::format(";{},{:x}", name, f.address);
    if (use(name) != EntryUse::Hook) continue;
    if (!taken.insert(f.address).second) {
      plan.refused.push_back({std::string(name), "another function has the same code"});
      continue;
    }
    Planner planner(decoder, *elf, f, starts);
    const std::string entry = planner.plan();
    plan.text += entry;
    if (entry.empty()) {
      plan.refused.push_back({std::string(name), planner.why()});
    } else {
      plan.hooked.emplace_back(name);
    }
  }
  return plan;
}

}  // namespace gt::interpose
