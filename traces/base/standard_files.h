// Closed standard files of a program of ours: what it opens must not get their numbers, and be printed into.
// Thread safety: before there are other threads.
#pragma once

namespace gt {

// Those that are closed are kept: input and output fail as before, messages go nowhere. A program that
// this one starts has them closed.
void reserve_standard_files();

}  // namespace gt
