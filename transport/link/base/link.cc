// Waiting for several tickets.
#include "transport/link/base/link.h"

namespace gt::wire {

bool Link::test_all(std::span<const Ticket> tickets) {
  for (const Ticket ticket : tickets) {
    if (!test(ticket)) return false;
  }
  return true;
}

Status Link::wait_all(std::span<const Ticket> tickets) {
  for (const Ticket ticket : tickets) GT_TRY(wait(ticket));
  return {};
}

}  // namespace gt::wire
