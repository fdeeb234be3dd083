// Writing and reading single values.
#include "traces/model/profile/profile_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace gt::model {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

// `text` begins with a backslash.
bool read_escape(std::string& v, std::string_view& text) {
  if (text.size() >= 2 && (text[1] == '"' || text[1] == '\\')) {
    v += text[1];
    text.remove_prefix(2);
    return true;
  }
  if (text.size() < 4 || text[1] != 'x') return false;
  unsigned byte = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + 4, byte, 16);
  if (error != std::errc() || end != text.data() + 4) return false;
  v += static_cast<char>(byte);
  text.remove_prefix(4);
  return true;
}

// The length of the quoted text at the start of `rest`, both quotes included; all of `rest` when it is not closed.
size_t quoted_length(std::string_view rest) {
  for (size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '\\') {
      ++i;
    } else if (rest[i] == '"') {
      return i + 1;
    }
  }
  return rest.size();
}

const char* read_whole(uint64_t& v, std::string_view item, int base) {
  const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), v, base);
  if (error == std::errc::result_out_of_range) return "the number does not fit into 64 bits";
  return error == std::errc() && end == item.data() + item.size() ? nullptr : "a whole number is wanted";
}

template <size_t N>
bool one_of(const std::array<std::string_view, N>& words, std::string_view item) {
  return std::find(words.begin(), words.end(), item) != words.end();
}

const char* read_size_count(SizeCount& v, std::string_view item) {
  const size_t colon = item.find(':');
  if (colon == std::string_view::npos) return "sizes are wanted like 4096:3, least size and count";
  if (const char* wrong = Whole::read(v.from, item.substr(0, colon))) return wrong;
  if (const char* wrong = Whole::read(v.count, item.substr(colon + 1))) return wrong;
  if (v.from != 0 && !std::has_single_bit(v.from)) return "a size class begins at a power of two, or is 0";
  return v.count == 0 ? "a size that nobody asked for is left out" : nullptr;
}

}  // namespace

bool ValueScan::at_end() {
  next_ = std::min(line_.find_first_not_of(" \t", next_), line_.size());
  return next_ == line_.size() || line_[next_] == '#';
}

std::string_view ValueScan::item() {
  const bool end = at_end();
  at_ = next_;
  if (end) return {};
  const std::string_view rest = line_.substr(at_);
  const size_t size = rest[0] == '"' ? quoted_length(rest) : std::min(rest.find_first_of(" \t#"), rest.size());
  next_ += size;
  return rest.substr(0, size);
}

void QuotedText::write(const std::string& v, std::string& out) {
  out += '"';
  for (const char c : v) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (is_control(c)) {
      char hex[8];
      std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned>(c) & 0xffu);
      out += hex;
    } else {
      out += c;
    }
  }
  out += '"';
}

const char* QuotedText::read(std::string& v, std::string_view item) {
  if (item.empty() || item[0] != '"') return "a text in double quotes is wanted";
  v.clear();
  for (item.remove_prefix(1); !item.empty() && item[0] != '"';) {
    if (is_control(item[0])) return "a control character must be written \\xNN";
    if (item[0] != '\\') {
      v += item[0];
      item.remove_prefix(1);
    } else if (item.size() > 1 && !read_escape(v, item)) {
      return "only \\\\, \\\" and \\xNN are known escapes";
    } else if (item.size() == 1) {
      break;
    }
  }
  return item == "\"" ? nullptr : "the text has no closing quote";
}

void Whole::write(uint64_t v, std::string& out) { out += std::to_string(v); }
const char* Whole::read(uint64_t& v, std::string_view item) { return read_whole(v, item, 10); }

void Offset::write(uint64_t v, std::string& out) {
  char hex[24];
  std::snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(v));
  out += hex;
}
const char* Offset::read(uint64_t& v, std::string_view item) {
  if (!item.starts_with("0x")) return "an offset is wanted, like 0x1a2b";
  return read_whole(v, item.substr(2), 16);
}

void Real::write(double v, std::string& out) {
  std::array<char, 64> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), v).ptr;
  out.append(digits.data(), end);
}
const char* Real::read(double& v, std::string_view item) {
  const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), v);
  if (error != std::errc() || end != item.data() + item.size()) return "a number is wanted";
  return std::isnan(v) || std::signbit(v) ? "the number must not be negative" : nullptr;
}
const char* FiniteReal::read(double& v, std::string_view item) {
  if (const char* wrong = Real::read(v, item)) return wrong;
  return std::isinf(v) ? "the number must be finite" : nullptr;
}

const char* Bool::read(bool& v, std::string_view item) {
  v = item == "true";
  return v || item == "false" ? nullptr : "true or false is wanted";
}

const char* BuildId::read(std::string& v, std::string_view item) {
  if (const char* wrong = QuotedText::read(v, item)) return wrong;
  const bool hex = v.find_first_not_of("0123456789abcdef") == std::string::npos;
  return hex && v.size() <= 128 ? nullptr : "a build-id is hexadecimal, in lower case";
}

const char* FileName::read(std::string& v, std::string_view item) {
  if (const char* wrong = QuotedText::read(v, item)) return wrong;
  return v.find('/') == std::string::npos ? nullptr : "a module is a file name without directories";
}

const char* PolicyWord::read(std::string& v, std::string_view item) {
  constexpr std::array<std::string_view, 7> Known = {"auto", "standard", "opencl", "locked", "hybrid", "pin", "staged"};
  v = item;
  return one_of(Known, item) ? nullptr : "the policies are auto, standard, opencl, locked, hybrid, pin and staged";
}

const char* MemoryWord::read(std::string& v, std::string_view item) {
  constexpr std::array<std::string_view, 4> Known = {"stack", "static", "file", "unknown"};
  v = item;
  return one_of(Known, item) ? nullptr : "the kinds of memory are stack, static, file and unknown";
}

void Place::write(const ProfilePlace& v, std::string& out) {
  BuildId::write(v.build_id, out);
  out += ' ';
  FileName::write(v.module, out);
  out += ' ';
  Offset::write(v.offset, out);
}
const char* Place::read(ProfilePlace& v, ValueScan& in) {
  if (const char* wrong = BuildId::read(v.build_id, in.item())) return wrong;
  if (const char* wrong = FileName::read(v.module, in.item())) return wrong;
  if (v.build_id.empty() && v.module.empty()) return "a place needs a build-id or a module";
  if (const char* wrong = Offset::read(v.offset, in.item())) return wrong;
  return v.offset == 0 ? "a place needs an offset other than 0" : nullptr;
}

void Sizes::write(const std::vector<SizeCount>& v, std::string& out) {
  for (size_t i = 0; i < v.size(); ++i) {
    if (i > 0) out += ' ';
    out.append(std::to_string(v[i].from)).append(":").append(std::to_string(v[i].count));
  }
}
const char* Sizes::read(std::vector<SizeCount>& v, ValueScan& in) {
  while (!in.at_end()) {
    SizeCount size;
    if (const char* wrong = read_size_count(size, in.item())) return wrong;
    if (!v.empty() && size.from <= v.back().from) return "sizes must ascend";
    v.push_back(size);
  }
  return nullptr;
}

}  // namespace gt::model
