#include "transport/link/node/shm_transport.h"

#include "transport/link/hello/sockets.h"
#include "transport/link/node/shm_link.h"

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

}  // namespace

bool takes_shm(int connection, const Hello&) { return is_unix(connection); }

Result<std::unique_ptr<Link>> begin_shm(const Opening& opening, Agreed control) {
  ShmResume resume = resume_by_connecting(opening, control.grace_ms);
  return make_shm_client(std::move(control), std::move(resume));
}

Result<std::unique_ptr<Link>> accept_shm(Arrival arrival, Agreed control) {
  ShmResume resume{{}, {}, arrival.hello.session, arrival.how.credentials, arrival.how.options, control.grace_ms};
  if (arrival.hello.purpose == Hello::Purpose::Session) resume.handover = std::move(arrival.handover);
  return make_shm_server(std::move(control), std::move(resume));
}

}  // namespace gt::wire
