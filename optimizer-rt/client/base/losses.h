// Why devices were lost: one line on stderr for each loss, when a command or a call of the program's meets it. Programs
// give an error's number, if anything; nobody would know that a network or another process is the reason. Who needs the
// devices no more, as at an end by Ctrl-C, is told nothing.
// Thread safety: any thread.
#pragma once

#include <string>

namespace gt::virt {

void note_loss(const std::string& url, const std::string& why);
// What was noted and not told yet.
void tell_losses() noexcept;

}  // namespace gt::virt
