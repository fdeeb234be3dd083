// How each kind of value stands in a profile: codecs, of which a key names one.
//
// A codec writes a value as text, and reads it from an *item*: a text in quotes, or a word up to a blank or '#'. Codecs
// of several items take them from a ValueScan. read() gives nullptr, or what is wrong with the item read last.
// Thread safety: pure, a ValueScan excepted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "traces/model/profile/profile.h"

namespace gt::model {

// The items of a line, one after another.
class ValueScan {
 public:
  ValueScan(std::string_view line, size_t from) : line_(line), next_(from) {}

  // Are there no more items, only blanks and perhaps a comment?
  bool at_end();
  std::string_view item();                // empty at the end
  size_t column() const { return at_; }  // of the item read last, or of the end
  size_t next() const { return next_; }  // where the rest of the line begins

 private:
  std::string_view line_;
  size_t next_, at_ = 0;
};

struct QuotedText {
  static void write(const std::string& v, std::string& out);
  static const char* read(std::string& v, std::string_view item);
};
struct Whole {
  static void write(uint64_t v, std::string& out);
  static const char* read(uint64_t& v, std::string_view item);
};
struct Offset {
  static void write(uint64_t v, std::string& out);
  static const char* read(uint64_t& v, std::string_view item);
};
struct Real {  // never negative; inf is a value: transfers without any kernel
  static void write(double v, std::string& out);
  static const char* read(double& v, std::string_view item);
};
struct FiniteReal {
  static void write(double v, std::string& out) { Real::write(v, out); }
  static const char* read(double& v, std::string_view item);
};
struct Bool {
  static void write(bool v, std::string& out) { out += v ? "true" : "false"; }
  static const char* read(bool& v, std::string_view item);
};
struct BuildId {
  static void write(const std::string& v, std::string& out) { QuotedText::write(v, out); }
  static const char* read(std::string& v, std::string_view item);
};
struct FileName {
  static void write(const std::string& v, std::string& out) { QuotedText::write(v, out); }
  static const char* read(std::string& v, std::string_view item);
};
struct PolicyWord {
  static void write(const std::string& v, std::string& out) { out += v; }
  static const char* read(std::string& v, std::string_view item);
};
struct MemoryWord {
  static void write(const std::string& v, std::string& out) { out += v; }
  static const char* read(std::string& v, std::string_view item);
};
struct Place {  // "c0ffee" "app" 0x1a2b
  static void write(const ProfilePlace& v, std::string& out);
  static const char* read(ProfilePlace& v, ValueScan& in);
};
struct Sizes {  // 4096:3 1048576:20
  static void write(const std::vector<SizeCount>& v, std::string& out);
  static const char* read(std::vector<SizeCount>& v, ValueScan& in);
};

}  // namespace gt::model
