// The memory of a kernel, as the analysis of arguments sees it: objects, and the addresses that
// they may hold.
//
// Objects are the memory behind each parameter, all memory that is not known (Unknown), variables of
// program scope (Static), and the variables of the functions that run. The last hold addresses, each
// member of a struct its own; what all others hold is not followed: an address loaded from there is
// Unknown. A *loose* object is one that is looked at in more ways than its type says: all its
// members are one. Sets only grow; `changed` says whether one has since it was last cleared.
// Thread safety: none.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "analyzer/kernels/expr.h"

namespace gt::kernels {

using ObjectId = uint32_t;
constexpr ObjectId Unknown = 0, Static = 1, FirstParameter = 2;

// An address: of a member of an object. In the value of a struct, `within` is the member that holds
// it.
struct Target {
  ObjectId object = Unknown;
  FieldId field = NoField;
  FieldId within = NoField;
  auto operator<=>(const Target&) const = default;
};

class Targets {
 public:
  bool add(Target t);
  bool add(const Targets& more);
  auto begin() const { return sorted_.begin(); }
  auto end() const { return sorted_.end(); }
  bool empty() const { return sorted_.empty(); }
  bool operator==(const Targets&) const = default;
  auto operator<=>(const Targets&) const = default;

 private:
  std::vector<Target> sorted_;
};

class Memory {
 public:
  explicit Memory(size_t parameters) : objects_(FirstParameter + parameters), first_variable_(objects_.size()) {}

  ObjectId add_variable();
  bool is_variable(ObjectId id) const { return id >= first_variable_; }

  // The addresses held at each of `places`; of a struct, by its members.
  Targets load(const Targets& places, bool record) const;
  // REQUIRES: only variables among `places` are meant: others are left out.
  void store(const Targets& places, const Targets& value, bool record);
  void loosen(const Targets& at);
  // Whoever knows one of `at` may put any address there, and into what it leads to.
  void expose(const Targets& at);
  // What `at` leads to, itself and over any number of addresses.
  Targets reachable(const Targets& at) const;

  bool changed = false;

 private:
  struct Object {
    bool loose = false, exposed = false;
    std::map<FieldId, Targets> slots;
  };
  void put(ObjectId object, FieldId field, Target value);
  Targets all_of(const Object& object) const;

  std::vector<Object> objects_;
  size_t first_variable_;
};

}  // namespace gt::kernels
