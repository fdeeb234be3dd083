#include "tracer/interpose/entry_patch.h"

#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "tracer/interpose/raw_memory.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace gt::interpose {

namespace {

constexpr size_t SlotBytes = 160;  // a hook stub and a trampoline; the planner's longest is far below
constexpr size_t StubBytes = 16;
constexpr size_t MaxOriginal = 32, MaxTrampoline = SlotBytes - StubBytes;

// Reads the plan's text. After a mistake everything reads as empty, and `good` is false.
class PlanText {
 public:
  explicit PlanText(const char* text) : at_(text) {}
  bool good() const { return good_; }
  bool next_entry() { return good_ && skip(';'); }
  bool more_fields() const { return good_ && *at_ == ','; }
  bool skip(char c) { return *at_ == c ? (++at_, true) : false; }
  void expect(char c) { good_ = skip(c) && good_; }

  uint64_t number() {
    char* end = nullptr;
    const uint64_t value = std::strtoull(at_, &end, 16);
    good_ = good_ && end != at_;
    at_ = end;
    return value;
  }
  template <size_t Room>
  void word(char (&out)[Room]) {
    const size_t n = std::strcspn(at_, ",;");
    good_ = good_ && n > 0 && n < Room;
    if (!good_) return;
    std::memcpy(out, at_, n);
    out[n] = 0;
    at_ += n;
  }
  template <size_t Room>
  size_t bytes(uint8_t (&out)[Room]) {
    const size_t n = std::strcspn(at_, ",;") / 2;
    good_ = good_ && n > 0 && n <= Room;
    for (size_t i = 0; good_ && i < n; ++i, at_ += 2) {
      const char pair[] = {at_[0], at_[1], 0};
      out[i] = static_cast<uint8_t>(std::strtoul(pair, nullptr, 16));
    }
    return good_ ? n : 0;
  }

 private:
  const char* at_;
  bool good_ = true;
};

struct Entry {
  char name[128];
  uint64_t address = 0, at = 0;
  uint8_t original[MaxOriginal];
  size_t original_bytes = 0;  // 0: not to be patched
  uint8_t trampoline[MaxTrampoline];
  size_t trampoline_bytes = 0;
};

void put(uint8_t* at, uint64_t value, size_t bytes) { std::memcpy(at, &value, bytes); }

// Applied as if the trampoline stood at `place`. False when a target is out of reach.
bool apply_fixup(PlanText& text, Entry& entry, uint64_t place, uint64_t bias) {
  const bool relative = text.skip('r');
  if (!relative) text.expect('a');
  const uint64_t offset = text.number();
  text.expect(':');
  const uint64_t end = relative ? text.number() : 0;
  if (relative) text.expect(':');
  const uint64_t target = text.number() + bias, width = relative ? 4 : 8;
  if (!text.good() || offset + width > entry.trampoline_bytes || end > entry.trampoline_bytes) return false;
  const auto distance = static_cast<int64_t>(target - (place + end));
  if (relative && distance != static_cast<int32_t>(distance)) return false;
  put(entry.trampoline + offset, relative ? static_cast<uint64_t>(distance) : target, width);
  return true;
}

// False: malformed, or not within reach. An entry that is not to be patched has no bytes.
bool read_entry(PlanText& text, Entry& entry, uint64_t place, uint64_t bias) {
  text.word(entry.name);
  text.expect(',');
  entry.address = text.number() + bias;
  entry.original_bytes = entry.trampoline_bytes = 0;
  if (!text.more_fields()) return text.good();
  text.expect(',');
  entry.at = text.number() + bias;
  text.expect(',');
  entry.original_bytes = text.bytes(entry.original);
  text.expect(',');
  entry.trampoline_bytes = text.bytes(entry.trampoline);
  bool reached = true;
  while (text.more_fields()) {
    text.expect(',');
    reached = apply_fixup(text, entry, place, bias) && reached;
    if (!reached) return false;
  }
  return text.good() && entry.original_bytes >= JumpBytes;
}

// An indirect jump to `target`, wherever it is.
void write_stub(uint8_t* at, const void* target) {
#if defined(__x86_64__)
  constexpr uint8_t Code[] = {0x3e, 0xff, 0x25, 0, 0, 0, 0};  // notrack jmp *0(%rip)
#else
  constexpr uint8_t Code[] = {0x50, 0, 0, 0x58, 0, 2, 0x1f, 0xd6};  // ldr x16, .+8; br x16
#endif
  std::memcpy(at, Code, sizeof Code);
  std::memcpy(at + sizeof Code, &target, sizeof target);
}

void write_jump(uint8_t (&jump)[JumpBytes], uint64_t from, uint64_t to) {
#if defined(__x86_64__)
  jump[0] = 0xe9;
  put(jump + 1, to - (from + JumpBytes), 4);
#else
  put(jump, 0x14000000 | (((to - from) >> 2) & 0x3ffffff), 4);
#endif
}

// The page is not executable while it is written. So no code of the patched file runs meanwhile, be it libc's: system
// calls are made here, and plain stores need no memcpy.
bool overwrite(uint64_t at, const uint8_t* bytes, size_t n) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t first = at & ~(page - 1), size = ((at + n + page - 1) & ~(page - 1)) - first;
  if (!protect_pages(first, size, PROT_READ | PROT_WRITE)) return false;
  auto* out = reinterpret_cast<volatile uint8_t*>(at);
  for (size_t i = 0; i < n; ++i) out[i] = bytes[i];
  const bool done = protect_pages(first, size, PROT_READ | PROT_EXEC);
  __builtin___clear_cache(reinterpret_cast<char*>(at), reinterpret_cast<char*>(at + n));
  return done;
}

// The program or library that the plan is for.
struct Module {
  dev_t device = 0;
  ino_t inode = 0;
  uint64_t bias = 0, low = UINT64_MAX, high = 0;
  uint64_t code = 0, code_end = 0;  // its last executable segment
};

// Stops at the module of that file. The program's own name is empty.
int look_at_module(dl_phdr_info* info, size_t, void* out) {
  auto& module = *static_cast<Module*>(out);
  const bool named = info->dlpi_name && info->dlpi_name[0];
  struct stat st {};
  if (stat(named ? info->dlpi_name : "/proc/self/exe", &st) != 0) return 0;
  if (st.st_dev != module.device || st.st_ino != module.inode) return 0;
  module.bias = info->dlpi_addr;
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info->dlpi_phdr[i];
    if (p.p_type != PT_LOAD) continue;
    const uint64_t begin = module.bias + p.p_vaddr, end = begin + p.p_memsz;
    if (begin < module.low) module.low = begin;
    if (end > module.high) module.high = end;
    if (p.p_flags & PF_X) {
      module.code = begin;
      module.code_end = end;
    }
  }
  return 1;
}

void* map_at(uint64_t place, size_t bytes) {
  void* got = raw_mmap(reinterpret_cast<void*>(place), bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED || got == reinterpret_cast<void*>(place)) return got;
  raw_munmap(got, bytes);  // a kernel that takes the address for a hint
  return MAP_FAILED;
}

// Below the module first: above the program the heap wants to grow.
uint8_t* map_near(const Module& module, size_t bytes) {
  constexpr uint64_t Step = 1 << 20, Heap = 1 << 26;
  const uint64_t reach = JumpReach - (JumpReach >> 3);
  for (uint64_t place = (module.low - bytes) & ~uint64_t{0xffff};
       place > 0x10000 && module.high - place < reach && place < module.low; place -= Step) {
    void* got = map_at(place, bytes);
    if (got != MAP_FAILED) return static_cast<uint8_t*>(got);
  }
  for (uint64_t place = (module.high + Heap) & ~uint64_t{0xffff}; place + bytes - module.low < reach; place += Step) {
    void* got = map_at(place, bytes);
    if (got != MAP_FAILED) return static_cast<uint8_t*>(got);
  }
  return nullptr;
}

bool find_module(PlanText& text, Module& module) {
  module.device = static_cast<dev_t>(text.number());
  text.expect(':');
  module.inode = static_cast<ino_t>(text.number());
  return text.good() && dl_iterate_phdr(look_at_module, &module) != 0;
}

bool single_threaded() {
  struct stat st {};
  return stat("/proc/self/task", &st) == 0 && st.st_nlink == 3;
}

size_t count_entries(const char* plan) {
  size_t n = 0;
  for (; *plan; ++plan) n += *plan == ';';
  return n;
}

// The slot holds the stub to the hook, then the trampoline.
bool patch(const Entry& entry, uint8_t* slot) {
  uint8_t jump[JumpBytes];
  write_jump(jump, entry.at, reinterpret_cast<uint64_t>(slot));
  return overwrite(entry.at, jump, JumpBytes);
}

bool fill_slot(const Entry& entry, const Module& module, uint8_t* slot, const void* hook) {
  if (entry.at < module.code || entry.at >= module.code_end || module.code_end - entry.at < entry.original_bytes)
    return false;
  if (std::memcmp(reinterpret_cast<const void*>(entry.at), entry.original, entry.original_bytes) != 0) return false;
  write_stub(slot, hook);
  std::memcpy(slot + StubBytes, entry.trampoline, entry.trampoline_bytes);
  return true;
}

// One way through the plan. First without `armed`: slots are written and the real functions set; then, when the slots
// are executable, the entries are patched.
int walk(PlanText text, const Module& module, uint8_t* slots, const EntryHooks& hooks, bool armed) {
  int done = 0;
  Entry entry;
  for (uint8_t* slot = slots; text.next_entry(); slot += SlotBytes) {
    uint8_t* trampoline = slot + StubBytes;
    if (!read_entry(text, entry, reinterpret_cast<uint64_t>(trampoline), module.bias)) break;
    void* hook = hooks.hook_for(entry.name);
    if (!hook) continue;
    if (entry.original_bytes == 0) {
      if (!armed) hooks.set_real(entry.name, reinterpret_cast<void*>(entry.address));
    } else if (!armed) {
      if (fill_slot(entry, module, slot, hook)) hooks.set_real(entry.name, trampoline);
    } else if (slot[0] != 0) {
      done += patch(entry, slot);
    }
  }
  return done;
}

}  // namespace

int patch_entries(const char* plan, const EntryHooks& hooks) {
  PlanText text(plan);
  Module module;
  if (!single_threaded() || !find_module(text, module)) return 0;
  const size_t bytes = (count_entries(plan) * SlotBytes + 0xfff) & ~size_t{0xfff};
  uint8_t* slots = bytes ? map_near(module, bytes) : nullptr;
  if (!slots) return 0;
  walk(text, module, slots, hooks, false);
  if (syscall(SYS_mprotect, slots, bytes, PROT_READ | PROT_EXEC) != 0) return 0;
  __builtin___clear_cache(reinterpret_cast<char*>(slots), reinterpret_cast<char*>(slots + bytes));
  return walk(text, module, slots, hooks, true);
}

}  // namespace gt::interpose
