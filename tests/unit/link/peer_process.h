// link_peer as a child process.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "transport/link/transports.h"

extern char** environ;

namespace gt::wire {

class PeerProcess {
 public:
  explicit PeerProcess(const std::string& url) {
    int pipe[2];
    REQUIRE(::pipe2(pipe, O_CLOEXEC) == 0);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, pipe[1], 1);
    char* const arguments[] = {const_cast<char*>(GT_LINK_PEER), const_cast<char*>(url.c_str()), nullptr};
    REQUIRE(::posix_spawn(&pid_, GT_LINK_PEER, &actions, nullptr, arguments, environ) == 0);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(pipe[1]);
    std::string line;
    for (char c; ::read(pipe[0], &c, 1) == 1 && c != '\n';) line += c;
    ::close(pipe[0]);
    const auto parsed = parse_url(line);
    REQUIRE_MESSAGE(parsed, line);
    url_ = *parsed;
  }
  ~PeerProcess() {
    kill(SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  const Url& url() const { return url_; }
  void kill(int signal) { ::kill(pid_, signal); }

 private:
  pid_t pid_ = 0;
  Url url_;
};

}  // namespace gt::wire
