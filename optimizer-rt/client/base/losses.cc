#include "optimizer-rt/client/base/losses.h"

#include <unistd.h>

#include "traces/base/mutex.h"

namespace gt::virt {
namespace {

struct Untold {
  Mutex mutex;
  std::string text GT_GUARDED_BY(mutex);
};

Untold& untold() {
  static Untold& all = *new Untold;  // links are lost until the process ends
  return all;
}

}  // namespace

void note_loss(const std::string& url, const std::string& why) {
  const MutexLock lock(untold().mutex);
  untold().text += "gtrace: " + url + " is lost (" + why + "): its devices are not available any more\n";
}

void tell_losses() noexcept {
  if (!untold().mutex.try_lock()) return;  // somebody tells them, or did when this process was forked
  if (!untold().text.empty()) (void)!::write(STDERR_FILENO, untold().text.data(), untold().text.size());
  untold().text.clear();
  untold().mutex.unlock();
}

}  // namespace gt::virt
