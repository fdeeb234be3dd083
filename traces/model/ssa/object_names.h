// Short names for the objects of a trace: b0, b1, s3, q0, k0:vadd.
//
// A name is the kind's letter and a number in order of first appearance (OpenCL streams first, then
// memory streams). Objects are (class, slot). Where a call in a loop names one of many slots of a
// class (affine or long column), the class as a whole is a *family*: one name, of which b2[7] is
// the object in slot 7, and b2[i] the one of iteration i. Kernels and the like carry their label
// behind a colon. Thread safety: immutable after construction.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "traces/model/fold/event.h"

namespace gt::model {

// Values that are indices are data, even in a checked trace: nullptr when out of range.
const Blob* find_blob(const Trace& trace, int64_t id);
const Site* find_site(const Trace& trace, int64_t id);

// A series as people read it: "7", "64i+16", "{0,1}", "…". Counters are i, j, k, ... from the
// outermost loop.
std::string series_text(const Series& series, size_t depth);

using VariableId = uint32_t;  // index of a named thing: an object, or a family

class ObjectNames {
 public:
  explicit ObjectNames(const Trace& trace);

  struct Variable {
    ClassId cls = NoIndex;
    int64_t slot = 0;  // not for families
    bool family = false;
    std::string name;
  };
  const std::vector<Variable>& variables() const { return variables_; }
  bool is_family(ClassId cls) const { return classes_[cls].family; }

  // The variable of an object; NoIndex when no call of the trace names it.
  VariableId variable(ClassId cls, int64_t slot) const;
  // All that an argument may name, over all iterations: one variable, or the few of a short period.
  std::vector<VariableId> variables(ClassId cls, const Series& slot) const;

  // "b0", "b2[7]". REQUIRES: cls is a class of the trace.
  void append(std::string& out, ClassId cls, int64_t slot) const;
  // "b0", "b0|b1", "b2[i+1]".
  std::string text(ClassId cls, const Series& slot, size_t depth) const;

 private:
  struct ClassNames {
    bool family = false;
    std::map<int64_t, VariableId> slots;  // family: the only entry is 0
  };
  class Builder;

  std::vector<ClassNames> classes_;
  std::vector<Variable> variables_;
};

}  // namespace gt::model
