// Are all indices of a Trace in range, and is its structure possible?
#pragma once

#include "traces/base/status.h"
#include "traces/model/fold/event.h"

namespace gt::store {

// Corrupt with the first thing that is wrong. What passes here, readers need not check again, with
// one exception: *values* of Blob and Code arguments are data; look them up with model::find_blob
// and find_site (ssa.h), which give nullptr when out of range. Lengths of columns are checked where
// trip counts are constant, and by expand() elsewhere. Cost: the folded trace's size; columns are
// not walked.
Status check_trace(const model::Trace& trace);

}  // namespace gt::store
