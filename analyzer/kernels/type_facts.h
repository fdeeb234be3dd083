// Which types may hold addresses: pointers, images, pipes, blocks, and what contains them.
// Cost: each record is looked into once. Thread safety: none.
#pragma once

#include "analyzer/kernels/cursor.h"

namespace gt::kernels {

class TypeFacts {
 public:
  bool carries(CXType canonical);
  bool is_record(CXType canonical) const { return without_arrays(canonical).kind == CXType_Record; }
  // Does a pointer to `to` show the memory behind a pointer to `from` as something else: other
  // members, or numbers where addresses are?
  enum class Change { None, Members, Addresses };
  Change change(CXType from, CXType to);

 private:
  CursorMap<bool> records_;
};

}  // namespace gt::kernels
