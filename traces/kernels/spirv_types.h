// SPIR-V's types: what lies where in memory, and where there may be addresses.
//
// Memory is laid out as OpenCL compilers do it: members at their natural alignment, unless the structure is packed.
// Cost: types are read once, as they are defined; a type needs only those before it. Thread safety: none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace gt::spirv {

using Id = uint32_t;
using Words = std::span<const uint32_t>;  // of one instruction, with its first

constexpr uint64_t UnknownSize = ~uint64_t{0};

struct Type {
  enum class Form : uint8_t {
    Void,
    Bool,
    Number,
    Vector,
    Array,
    Struct,
    Pointer,
    Image,
    Sampler,
    Pipe,
    Opaque,
    Function
  };
  Form form = Form::Opaque;
  bool holds = false;      // may hold addresses, images or pipes
  bool is_signed = false;  // Number
  bool is_float = false;   // Number
  uint32_t storage = 0;    // Pointer: its StorageClass; Image and Pipe: the access qualifier
  Id element = 0;          // Vector, Array, Pointer (0: to no type): of what
  uint64_t count = 0;      // Vector, Array; UnknownSize: a specialization constant says
  uint64_t size = UnknownSize, align = 1;
  std::vector<Id> members;       // Struct
  std::vector<uint64_t> places;  // Struct: where they begin
};

// A part of a value: an address, or numbers.
struct Leaf {
  uint64_t at = 0, size = 0;
  bool address = false, number = false;
};

class Types {
 public:
  // REQUIRES: an instruction for which is_type_op() holds, with a result. `array_length`: what OpTypeArray's length
  // is, UnknownSize where that is not known here.
  void add(Words instruction, uint64_t array_length, bool packed);
  void set_address_bytes(uint32_t bytes) { address_bytes_ = bytes; }
  uint32_t address_bytes() const { return address_bytes_; }

  const Type* find(Id id) const;
  uint64_t size_of(Id id) const;
  bool holds(Id id) const;
  // The parts of a value; all as one where they are too many, or not known.
  std::vector<Leaf> leaves(Id id) const;
  // As OpenCL C would write it. `named`: structures' names.
  std::string name(Id id, const std::unordered_map<Id, std::string>& named) const;

 private:
  static constexpr size_t MostLeaves = 64;
  void add_series(Type& t, Words instruction, uint64_t array_length) const;
  void add_struct(Type& t, Words instruction, bool packed) const;
  bool add_leaves(Id id, uint64_t at, std::vector<Leaf>& out, unsigned depth) const;

  uint32_t address_bytes_ = 8;
  std::unordered_map<Id, Type> types_;
};

}  // namespace gt::spirv
