#include "optimizer-rt/client/calls/shared_use.h"

#include <algorithm>
#include <utility>

namespace gt::virt {

// The use of a command that is behind gates.
class SharedUse::Held : public std::enable_shared_from_this<Held> {
 public:
  Held(std::vector<Part> parts, Ref<_cl_event> event, Gates gates)
      : parts_(std::move(parts)), event_(std::move(event)), gates_(std::move(gates)) {}
  ~Held() { release(parts_); }

  // At the first gate that is closed.
  void wait() {
    for (const std::shared_ptr<Gate>& gate : gates_)
      if (gate->at_opening([self = shared_from_this()](Gate::Why why) {
            why == Gate::Why::Opens ? self->wait() : self->begin();
          }))
        return;
    send();
    begin();
  }
  // The command has been.
  void note_sent() {
    {
      const MutexLock lock(mutex_);
      is_sent_ = true;
      if (!has_begun_) return;
    }
    note_written();
  }

 private:
  // What the program wrote meanwhile is there when the last event's status is.
  void send() {
    std::vector<Ref<_cl_event>> sent;
    hold(parts_);
    try {
      for (const Part& part : parts_) part.block->pages->send(part.block, part.offset, part.bytes, sent);
      for (const Ref<_cl_event>& event : sent) event->wait();
    } catch (const Failure&) {  // the link is closed
    }
  }
  // An event that nobody has sent yet may not be waited for.
  void begin() {
    {
      const MutexLock lock(mutex_);
      has_begun_ = true;
      if (!is_sent_) return;
    }
    note_written();
  }
  void note_written() {
    for (const Part& part : parts_)
      if (part.writes) part.block->pages->written_by(event_, part.offset, part.bytes);
    release(parts_);
  }

  std::vector<Part> parts_;
  const Ref<_cl_event> event_;
  const Gates gates_;
  Mutex mutex_;
  bool is_sent_ GT_GUARDED_BY(mutex_) = false, has_begun_ GT_GUARDED_BY(mutex_) = false;
};

void SharedUse::add(const Block& block, const void* p, size_t bytes, bool writes) {
  if (!block || !block->pages || !block->pages->is_used() || bytes == 0) return;
  const auto offset = static_cast<size_t>(static_cast<const uint8_t*>(p) - block->base);
  const auto same = std::find_if(parts_.begin(), parts_.end(), [&](const Part& part) {
    return part.block == block && part.offset == offset && part.bytes == bytes;
  });
  if (same != parts_.end())
    same->writes = same->writes || writes;
  else
    parts_.push_back({block, offset, bytes, writes});
}

void SharedUse::add(_cl_mem& mem, bool writes) {
  _cl_mem& part = mem.is_image() ? mem.root() : mem;
  add(mem.root().svm, part.host_ptr, part.size, writes);
}

void SharedUse::hold(std::vector<Part>& parts) {
  for (Part& part : parts)
    if (part.writes && part.held == NotHeld) part.held = part.block->pages->hold();
}

void SharedUse::release(std::vector<Part>& parts) {
  for (Part& part : parts)
    if (const int held = std::exchange(part.held, NotHeld); held != NotHeld) part.block->pages->release(held);
}

bool SharedUse::will_write(const SubContext& at) {
  std::erase_if(parts_, [&](const Part& part) { return &part.block->sub_context != &at; });
  return std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.writes; });
}

void SharedUse::begin(Ref<_cl_event> event, const Gates& gates, std::vector<Ref<_cl_event>>& after) {
  event_ = std::move(event);
  if (gates.empty()) hold(parts_);
  for (const Part& part : parts_) part.block->pages->send(part.block, part.offset, part.bytes, after);
  if (parts_.empty() || gates.empty()) return;
  held_ = std::make_shared<Held>(parts_, event_, gates);
  held_->wait();
}

void SharedUse::end() {
  if (held_) return held_->note_sent();
  for (const Part& part : parts_)
    if (part.writes) part.block->pages->written_by(event_, part.offset, part.bytes);
  release(parts_);
}

}  // namespace gt::virt
