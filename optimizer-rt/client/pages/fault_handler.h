// The handler of SIGSEGV that comes before the program's: it asks who looks after the address (fault_targets.h), and
// what is nobody's goes on to the handler that was there before, as if we were not: with its mask, its flags, its
// stack. Where there was none, the access is repeated without a handler, so that the program ends as it would: the same
// signal, the same address, the same core.
//
// A program that installs a handler later stands before us, and our pages are wild pointers to it. So whoever takes
// pages away asks for the handler again: stay_first(). Each time that we come to stand before another handler of the
// program's, we do so with another function, because that handler may call the one that it found: ours.
//
// What cannot be: a thread that blocks SIGSEGV ends the process when it touches such a page, as the kernel has it.
// Thread safety: any thread. Cost: a system call, 0.1 us.
#pragma once

namespace gt::virt {

void stay_first();

}  // namespace gt::virt
