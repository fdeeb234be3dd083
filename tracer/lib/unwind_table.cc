#include "tracer/lib/unwind_table.h"

#include <dlfcn.h>

#include <cstring>

namespace gt::tracer {

#if defined(__x86_64__) && defined(DLFO_STRUCT_HAS_EH_DBASE)  // glibc >= 2.35

extern "C" int _dl_find_object(void*, dl_find_object*) noexcept __attribute__((weak));

namespace {

constexpr uint64_t RegFp = 6, RegSp = 7, RegReturn = 16;
constexpr uint8_t EncData4 = 0x0b, EncUdata4 = 0x03, EncTable = 0x3b;  // DW_EH_PE_sdata4, udata4, datarel|sdata4

// Bytes of a module, read in order; after the end everything is 0 and ok() is false.
class Cursor {
 public:
  Cursor(uint64_t at, uint64_t end) : at_(at), end_(end) {}
  uint64_t at() const { return at_; }
  bool ok() const { return ok_; }
  bool more() const { return ok_ && at_ < end_; }
  void skip(uint64_t n) { n <= end_ - at_ ? void(at_ += n) : fail(); }

  // The next n bytes, on their own.
  Cursor take(uint64_t n) {
    const uint64_t begin = at_;
    skip(n);
    return ok_ ? Cursor(begin, at_) : Cursor(at_, at_);
  }

  template <class T>
  T read() {
    T v{};
    if (end_ - at_ < sizeof v) return fail(), v;
    std::memcpy(&v, reinterpret_cast<const void*>(at_), sizeof v);
    at_ += sizeof v;
    return v;
  }
  uint64_t uleb() {
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = read<uint8_t>();
      v |= uint64_t{byte & 0x7fu} << shift;
      if (!(byte & 0x80)) return v;
    }
    return fail(), 0;
  }
  int64_t sleb() {
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64;) {
      const uint8_t byte = read<uint8_t>();
      v |= uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if (byte & 0x80) continue;
      if ((byte & 0x40) && shift < 64) v |= ~uint64_t{0} << shift;
      return static_cast<int64_t>(v);
    }
    return fail(), 0;
  }
  // A pointer in one of the encodings of DW_EH_PE, only for its length.
  void skip_encoded(uint8_t encoding) {
    constexpr uint8_t Lengths[16] = {8, 0, 2, 4, 8, 0, 0, 0, 8, 0, 2, 4, 8, 0, 0, 0};
    const uint8_t form = encoding & 0x0f;
    if (encoding == 0xff) return;
    if (form == 1 || form == 9) return void(uleb());
    Lengths[form] ? skip(Lengths[form]) : fail();
  }

 private:
  void fail() {
    ok_ = false;
    at_ = end_;
  }
  uint64_t at_, end_;
  bool ok_ = true;
};

struct Entry {  // a frame description entry and its common part
  uint64_t function = 0, bytes = 0;
  uint64_t code_align = 1;
  int64_t data_align = 1;
  Cursor common{0, 0}, own{0, 0};  // instructions
};

// What is known while the instructions of an entry run.
struct Rules {
  FrameStep step;
  uint64_t cfa_reg = RegSp;
  int64_t cfa_offset = 0;
  bool cfa_plain = true;  // register + offset
  bool returns = true;    // the return address is where calls put it
};

// The entry of the sorted table in .eh_frame_hdr that covers `pc`; 0: none, or another layout.
uint64_t search(uint64_t header, uint64_t end, uint64_t pc, uint64_t& function) {
  Cursor in(header, end);
  const auto version = in.read<uint8_t>(), frame_encoding = in.read<uint8_t>(), count_encoding = in.read<uint8_t>(),
             table_encoding = in.read<uint8_t>();
  if (version != 1 || count_encoding != EncUdata4 || table_encoding != EncTable) return 0;
  in.skip_encoded(frame_encoding);
  const uint64_t count = in.read<uint32_t>(), table = in.at();
  if (!in.ok() || count == 0 || count > (end - table) / 8) return 0;
  const auto word = [&](uint64_t i) {  // relative to the header
    int32_t v;
    std::memcpy(&v, reinterpret_cast<const void*>(table + 4 * i), 4);
    return header + static_cast<uint64_t>(int64_t{v});
  };
  uint64_t low = 0, high = count;  // the last entry that begins at or before pc
  while (high - low > 1) {
    const uint64_t middle = (low + high) / 2;
    (word(2 * middle) <= pc ? low : high) = middle;
  }
  function = word(2 * low);
  return function <= pc ? word(2 * low + 1) : 0;
}

bool read_entry(uint64_t at, uint64_t begin, uint64_t end, Entry& e) {
  if (at < begin || at >= end) return false;
  Cursor head(at, end);
  const uint64_t length = head.read<uint32_t>(), own_end = head.at() + length;
  const uint64_t common_at = head.at() - head.read<uint32_t>();
  if (!head.ok() || length < 8 || length > end - at - 4 || common_at < begin || common_at >= end) return false;

  Cursor common(common_at, end);
  const uint64_t common_length = common.read<uint32_t>();
  if (common_length > end - common.at()) return false;
  const uint64_t common_end = common.at() + common_length;
  const auto id = common.read<uint32_t>();
  const auto version = common.read<uint8_t>();
  char augmentation[8] = "";
  for (size_t i = 0; i < sizeof augmentation; ++i) {
    if ((augmentation[i] = static_cast<char>(common.read<uint8_t>())) == 0) break;
  }
  if (id != 0 || version != 1 || augmentation[sizeof augmentation - 1] != 0) return false;
  if (augmentation[0] != 0 && augmentation[0] != 'z') return false;
  e.code_align = common.uleb();
  e.data_align = common.sleb();
  if (common.read<uint8_t>() != RegReturn) return false;
  uint8_t encoding = 0;  // of addresses
  if (augmentation[0] == 'z') {
    const uint64_t bytes = common.uleb(), after = common.at() + bytes;
    for (const char* a = augmentation + 1; *a; ++a) {
      if (*a == 'R')
        encoding = common.read<uint8_t>();
      else if (*a == 'L')
        common.skip(1);
      else if (*a == 'P')
        common.skip_encoded(common.read<uint8_t>());
      else
        return false;  // 'S' is a signal handler's frame
    }
    if (!common.ok() || after > common_end) return false;
    common = Cursor(after, common_end);
  } else {
    common = Cursor(common.at(), common_end);
  }
  Cursor own(head.at(), own_end);
  own.skip_encoded(encoding);
  const bool narrow = (encoding & 0x0f) == EncData4 || (encoding & 0x0f) == EncUdata4;
  e.bytes = narrow ? own.read<uint32_t>() : own.read<uint64_t>();
  if (augmentation[0] == 'z') own.skip(own.uleb());
  e.common = common;
  e.own = own;
  return own.ok();
}

// The two expressions that compilers write when they realign the stack: DW_OP_breg6 n, and the same with DW_OP_deref.
bool word_at_fp(Cursor in, bool dereferenced, int32_t& offset) {
  if (in.read<uint8_t>() != 0x76) return false;
  offset = static_cast<int32_t>(in.sleb());
  if (dereferenced && in.read<uint8_t>() != 0x06) return false;
  return in.ok() && !in.more();
}

void set_saved(Rules& r, uint64_t reg, FrameStep::Fp how, int64_t offset) {
  if (reg == RegFp) {
    r.step.fp = how;
    r.step.fp_offset = static_cast<int32_t>(offset);
  } else if (reg == RegReturn) {
    r.returns = how == FrameStep::Fp::AtCfa && offset == -8;
  }
}

// clang-format off
// Runs instructions until they speak of code after `pc`. False: one that we do not know.
bool run(Cursor in, const Entry& e, uint64_t pc, const Rules& initial, Rules& r) {
  constexpr size_t Depth = 8;
  Rules kept[Depth];
  size_t depth = 0;
  uint64_t at = e.function;
  while (in.more()) {
    const auto op = in.read<uint8_t>();
    const uint64_t low = op & 0x3f;
    uint64_t advance = 0;
    switch (op & 0xc0) {
      case 0x40: advance = low * e.code_align; break;
      case 0x80: set_saved(r, low, FrameStep::Fp::AtCfa, static_cast<int64_t>(in.uleb()) * e.data_align); continue;
      case 0xc0:
        if (low == RegFp) r.step.fp = initial.step.fp, r.step.fp_offset = initial.step.fp_offset;
        if (low == RegReturn) r.returns = initial.returns;
        continue;
      default: break;
    }
    if (!(op & 0xc0)) {
      switch (op) {
        case 0x00: break;                                                         // nop
        case 0x02: advance = in.read<uint8_t>() * e.code_align; break;            // advance_loc1, 2, 4
        case 0x03: advance = in.read<uint16_t>() * e.code_align; break;
        case 0x04: advance = in.read<uint32_t>() * e.code_align; break;
        case 0x05: {                                                              // offset_extended
          const uint64_t reg = in.uleb();
          set_saved(r, reg, FrameStep::Fp::AtCfa, static_cast<int64_t>(in.uleb()) * e.data_align);
          break;
        }
        case 0x11: {                                                              // offset_extended_sf
          const uint64_t reg = in.uleb();
          set_saved(r, reg, FrameStep::Fp::AtCfa, in.sleb() * e.data_align);
          break;
        }
        case 0x07: set_saved(r, in.uleb(), FrameStep::Fp::Unknown, 0); break;     // undefined
        case 0x08: set_saved(r, in.uleb(), FrameStep::Fp::Same, 0); break;        // same_value
        case 0x09: set_saved(r, in.uleb(), FrameStep::Fp::Unknown, 0), in.uleb(); break;  // register
        case 0x0a:                                                                // remember_state
          if (depth == Depth) return false;
          kept[depth++] = r;
          break;
        case 0x0b:                                                                // restore_state
          if (depth == 0) return false;
          r = kept[--depth];
          break;
        case 0x0c: r.cfa_reg = in.uleb(), r.cfa_offset = static_cast<int64_t>(in.uleb()), r.cfa_plain = true; break;
        case 0x0d: r.cfa_reg = in.uleb(); break;                                  // def_cfa_register
        case 0x0e: r.cfa_offset = static_cast<int64_t>(in.uleb()); break;         // def_cfa_offset
        case 0x0f: {                                                              // def_cfa_expression
          const bool known = word_at_fp(in.take(in.uleb()), true, r.step.cfa_offset);
          r.step.cfa = known ? FrameStep::Cfa::AtFp : FrameStep::Cfa::Unknown;
          r.cfa_plain = false;
          break;
        }
        case 0x10: {                                                              // expression
          const uint64_t reg = in.uleb();
          int32_t offset = 0;
          const bool known = word_at_fp(in.take(in.uleb()), false, offset);
          set_saved(r, reg, known ? FrameStep::Fp::AtFp : FrameStep::Fp::Unknown, offset);
          break;
        }
        case 0x2e: in.uleb(); break;                                              // GNU_args_size
        default: return false;
      }
    }
    at += advance;
    if (at > pc) return in.ok();
  }
  return in.ok();
}
// clang-format on

}  // namespace

FrameStep find_step(uint64_t pc) {
  --pc;  // inside the call
  dl_find_object object;
  if (!_dl_find_object || _dl_find_object(reinterpret_cast<void*>(pc), &object) != 0 || !object.dlfo_eh_frame)
    return {};
  const auto begin = reinterpret_cast<uint64_t>(object.dlfo_map_start),
             end = reinterpret_cast<uint64_t>(object.dlfo_map_end);
  const auto header = reinterpret_cast<uint64_t>(object.dlfo_eh_frame);
  if (header < begin || header >= end) return {};
  Entry e;
  const uint64_t at = search(header, end, pc, e.function);
  if (at == 0 || !read_entry(at, begin, end, e) || pc - e.function >= e.bytes) return {};
  Rules initial, r;
  if (!run(e.common, e, ~uint64_t{0}, initial, initial)) return {};
  r = initial;
  if (!run(e.own, e, pc, initial, r) || !r.returns) return {};
  if (r.cfa_plain) {
    r.step.cfa_offset = static_cast<int32_t>(r.cfa_offset);
    r.step.cfa = r.cfa_reg == RegSp   ? FrameStep::Cfa::Sp
                 : r.cfa_reg == RegFp ? FrameStep::Cfa::Fp
                                      : FrameStep::Cfa::Unknown;
  }
  r.step.function = e.function;
  return r.step;
}

#else

FrameStep find_step(uint64_t) { return {}; }

#endif

}  // namespace gt::tracer
