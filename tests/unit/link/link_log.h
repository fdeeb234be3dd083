// A handler that writes down what it is told, and waits for it.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "transport/link/base/link.h"

namespace gt::wire {

class LinkLog : public LinkHandler {
 public:
  using FrameHook = std::function<void(ByteView)>;
  using PutHook = std::function<void(Notice, size_t)>;
  using WithdrawnHook = std::function<void(SegmentId)>;

  void on_each_frame(FrameHook hook) {
    const std::lock_guard lock(mutex_);
    frame_hook_ = std::move(hook);
  }
  void on_each_put(PutHook hook) {
    const std::lock_guard lock(mutex_);
    put_hook_ = std::move(hook);
  }

  void on_each_withdrawal(WithdrawnHook hook) {
    const std::lock_guard lock(mutex_);
    withdrawn_hook_ = std::move(hook);
  }

  void on_frame(ByteView frame) override {
    begin();
    if (const FrameHook hook = copy(frame_hook_)) hook(frame);
    add(frames_, std::string(as_text(frame)));
  }
  void on_put(Notice notice, size_t bytes) override {
    begin();
    if (const PutHook hook = copy(put_hook_)) hook(notice, bytes);
    add(puts_, std::pair<Notice, size_t>(notice, bytes));
  }
  void on_withdrawn(SegmentId segment) override {
    begin();
    if (const WithdrawnHook hook = copy(withdrawn_hook_)) hook(segment);
  }
  void on_closed(const Status& why) override { add(ends_, why.text()); }

  bool wait_frames(size_t n, int seconds = 20) { return wait(seconds, [&] { return frames_.size() >= n; }); }
  bool wait_puts(size_t n, int seconds = 20) { return wait(seconds, [&] { return puts_.size() >= n; }); }
  bool wait_closed(int seconds = 20) { return wait(seconds, [&] { return !ends_.empty(); }); }
  size_t received() {
    const std::lock_guard lock(mutex_);
    return frames_.size() + puts_.size();
  }
  std::vector<std::string> frames() { return copy(frames_); }
  std::vector<std::pair<Notice, size_t>> puts() { return copy(puts_); }
  std::vector<std::string> ends() { return copy(ends_); }

 private:
  void begin() {
    const std::lock_guard lock(mutex_);
    late_ = late_ || !ends_.empty();
  }
  template <class List, class Item>
  void add(List& list, Item item) {
    const std::lock_guard lock(mutex_);
    list.push_back(std::move(item));
    changed_.notify_all();
  }
  template <class List>
  List copy(const List& list) {
    const std::lock_guard lock(mutex_);
    return list;
  }
  bool wait(int seconds, const std::function<bool()>& until) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(seconds), until);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  FrameHook frame_hook_;
  PutHook put_hook_;
  WithdrawnHook withdrawn_hook_;
  std::vector<std::string> frames_, ends_;
  std::vector<std::pair<Notice, size_t>> puts_;
  bool late_ = false;

 public:
  bool called_after_closed() {
    const std::lock_guard lock(mutex_);
    return late_;
  }
};

inline Status say(Link& link, std::string_view text, bool more = false) {
  const ByteView parts[] = {as_bytes(text)};
  return link.send(parts, more);
}

}  // namespace gt::wire
