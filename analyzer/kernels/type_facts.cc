// Looking into records.
#include "analyzer/kernels/type_facts.h"

namespace gt::kernels {
namespace {

CXVisitorResult collect(CXCursor field, CXClientData out) {
  static_cast<Cursors*>(out)->push_back(field);
  return CXVisit_Continue;
}

}  // namespace

bool TypeFacts::carries(CXType t) {
  t = without_arrays(t);
  if (t.kind != CXType_Record)
    return is_pointer(t) || is_image(t) || t.kind == CXType_Pipe || t.kind == CXType_BlockPointer ||
           t.kind == CXType_Unexposed;
  const CXCursor record = clang_getTypeDeclaration(t);
  const auto known = records_.find(record);
  if (known != records_.end()) return known->second;
  Cursors fields;
  clang_Type_visitFields(t, collect, &fields);
  bool found = false;
  for (const CXCursor field : fields) found = found || carries(type_of(field));
  return records_[record] = found;
}

TypeFacts::Change TypeFacts::change(CXType from, CXType to) {
  from = without_arrays(from);
  to = without_arrays(to);
  if (carries(from) != carries(to)) return Change::Addresses;
  if (!carries(from)) return Change::None;
  const bool records = from.kind == CXType_Record && to.kind == CXType_Record;
  if (!records) return from.kind == to.kind ? Change::None : Change::Members;
  const CXCursor one = clang_getCanonicalCursor(clang_getTypeDeclaration(from));
  const CXCursor other = clang_getCanonicalCursor(clang_getTypeDeclaration(to));
  return clang_equalCursors(one, other) ? Change::None : Change::Members;
}

}  // namespace gt::kernels
