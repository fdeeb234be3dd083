#include "optimizer-rt/client/session/peering.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "optimizer-rt/client/session/session.h"
#include "traces/base/mutex.h"

namespace gt::virt {
namespace {

using Pair = std::pair<Session*, Session*>;
using Then = std::function<void(uint32_t)>;

struct Acquaintance {
  enum class State : uint8_t { Unknown, UnderWay, Known } state = State::Unknown;
  uint32_t peer = 0;  // Known: 0: they have no link
  std::vector<Then> waiting;
};

struct Register {
  Mutex mutex;
  std::map<Pair, Acquaintance> pairs GT_GUARDED_BY(mutex);
  uint32_t last_peer GT_GUARDED_BY(mutex) = 0;
};
Register& all() {
  static auto* const pairs = new Register;
  return *pairs;
}

Pair in_order(Session& a, Session& b) { return std::less<Session*>()(&a, &b) ? Pair(&a, &b) : Pair(&b, &a); }

// One attempt: `host` waits, `guest` comes.
struct Peering : std::enable_shared_from_this<Peering> {
  Session *host, *guest;
  Pair pair;
  uint32_t peer = 0;
  bool turned = false;  // the other way round has been tried

  void start() {
    wire::Invite invite;
    invite.peer = peer;
    ask([&] { host->invite(invite, [self = shared_from_this()](const wire::Invited& m) { self->invited(m); }); });
  }
  void invited(const wire::Invited& m) {
    if (m.code != CL_SUCCESS) return failed();
    wire::Join join;
    join.peer = peer;
    join.name = m.name;
    join.secret = m.secret;
    join.urls = m.urls;
    const auto encrypted = [](const Session& s) { return s.url().starts_with("tls:"); };
    const bool private_link = encrypted(*host) || !encrypted(*guest);
    if (!host->url().starts_with("shm:") && private_link) join.urls.push_back(host->url());
    ask([&] { guest->join(join, [self = shared_from_this()](const wire::Joined& j) { self->joined(j); }); });
  }
  void joined(const wire::Joined& m) { m.code == CL_SUCCESS ? done(peer) : failed(); }

  void failed() {
    if (turned) return done(0);
    turned = true;
    std::swap(host, guest);
    {
      const MutexLock lock(all().mutex);
      peer = ++all().last_peer;
    }
    start();
  }
  void done(uint32_t result) {
    std::vector<Then> waiting;
    {
      const MutexLock lock(all().mutex);
      Acquaintance& a = all().pairs[pair];
      a.state = Acquaintance::State::Known;
      a.peer = result;
      waiting.swap(a.waiting);
    }
    for (const Then& then : waiting) then(result);
  }
  template <class Ask>
  void ask(Ask question) {
    try {
      question();
    } catch (const Failure&) {  // it is lost
      done(0);
    }
  }
};

}  // namespace

void begin_peering(Session& a, Session& b) {
  when_peered(a, b, [](uint32_t) {});
}

void when_peered(Session& a, Session& b, Then then) {
  if (&a == &b || a.in_process() || b.in_process()) return then(0);
  std::shared_ptr<Peering> begun;
  uint32_t known = 0;
  {
    const MutexLock lock(all().mutex);
    Acquaintance& pair = all().pairs[in_order(a, b)];
    if (pair.state == Acquaintance::State::Unknown) {
      pair.state = Acquaintance::State::UnderWay;
      begun = std::make_shared<Peering>();
      begun->host = &b;
      begun->guest = &a;
      begun->pair = in_order(a, b);
      begun->peer = ++all().last_peer;
    }
    if (pair.state == Acquaintance::State::UnderWay) pair.waiting.push_back(std::exchange(then, nullptr));
    known = pair.peer;
  }
  if (begun) begun->start();
  if (then) then(known);
}

bool may_be_peers(Session& a, Session& b) {
  const MutexLock lock(all().mutex);
  const auto pair = all().pairs.find(in_order(a, b));
  return pair == all().pairs.end() || pair->second.state != Acquaintance::State::Known || pair->second.peer != 0;
}

void part(Session& a, Session& b) {
  const MutexLock lock(all().mutex);
  all().pairs[in_order(a, b)].peer = 0;
}

}  // namespace gt::virt
