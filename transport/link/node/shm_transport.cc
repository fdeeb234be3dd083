#include "transport/link/node/shm_transport.h"

#include "transport/link/hello/sockets.h"
#include "transport/link/node/shm_link.h"
#include "transport/link/node/shm_word.h"

namespace gt::wire {
namespace {

// Between two executors nobody closes what he does not know.
ShmResume resume_by_connecting(const Opening& opening, uint32_t grace_ms) {
  ShmResume resume;
  resume.options = opening.how.options;
  resume.grace_ms = grace_ms;
  if (opening.purpose != Hello::Purpose::Session) return resume;
  resume.connect = [url = opening.url, id = opening.session, credentials = opening.how.credentials,
                    options = opening.how.options]() mutable {
    const Handshake how{credentials, options, Deadline::in_ms(options.connect_ms)};
    return make_connection(url, url, id, Hello::Purpose::Resume, how);
  };
  return resume;
}

// The handshake is done and the memory is there.
Result<std::unique_ptr<Link>> make_link(ShmSession session) {
  auto process = exchange_processes(session.socket.get(), Deadline::in_ms(session.resume.options.connect_ms));
  if (!process) return process.status();
  session.process = std::move(*process);
  auto link = std::make_unique<ShmLink>(std::move(session));
  GT_TRY(link->start_watch());
  return std::unique_ptr<Link>(std::move(link));
}

}  // namespace

bool takes_shm(int connection, const Hello&) { return is_unix(connection); }

Result<std::unique_ptr<Link>> begin_shm(const Opening& opening, Agreed control) {
  ShmSession session;
  session.side = ClientSide;
  session.dead_ns = control.dead_ms * Ms;
  session.resume = resume_by_connecting(opening, control.grace_ms);
  session.socket = control.socket.release();
  const Deadline deadline = Deadline::in_ms(session.resume.options.connect_ms);
  const auto memory = await_word(session.socket.get(), Word::Kind::Region, deadline);
  if (!memory) return memory.status();
  auto region = ShmRegion::map(memory->get());
  if (!region) return region.status();
  session.region = std::move(*region);
  return make_link(std::move(session));
}

Result<std::unique_ptr<Link>> accept_shm(Arrival arrival, Agreed control) {
  ShmSession session;
  session.side = ServerSide;
  session.dead_ns = control.dead_ms * Ms;
  session.resume = {{}, {}, arrival.hello.session, arrival.how.credentials, arrival.how.options, control.grace_ms};
  if (arrival.hello.purpose == Hello::Purpose::Session) session.resume.handover = std::move(arrival.handover);
  session.socket = control.socket.release();
  Fd memory;
  auto region = ShmRegion::make(memory);
  if (!region) return region.status();
  const Deadline deadline = Deadline::in_ms(session.resume.options.connect_ms);
  GT_TRY(send_word(session.socket.get(), Word{}, memory.get(), deadline));
  session.region = std::move(*region);
  return make_link(std::move(session));
}

}  // namespace gt::wire
