// Closes descriptors, has closed ones, looks at the numbers that it gets, and uses a device all the while.
//
// Usage: descriptors numbers|standard|all|ranges|replaced|select|limited|lists [FILE]. Prints what it sees, on one it
// keeps. numbers: opens files between calls. standard: 0 to 2 are closed, and written to. all: closes everything that
// it does not know, again and again. ranges: the same by the system's own ways. replaced: has files of its own there.
// select: with many descriptors, by select(). limited: after it has lowered its limit. lists: which are open before and
// after it has used a device, into FILE.
#include <CL/cl.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/e2e/virtual/check.h"

namespace {

constexpr size_t Bytes = size_t{1} << 20;
constexpr int Highest = 8192;  // of the descriptors that it closes
int g_out = STDOUT_FILENO;

struct Device {
  cl_device_id id = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_mem buffer = nullptr;
  std::vector<char> host = std::vector<char>(Bytes), back = std::vector<char>(Bytes);

  void open() {
    cl_int code = 0;
    open_first_device(id, context, queue);
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, Bytes, nullptr, &code);
    CHECK(code);
  }
  bool works(int seed) {
    std::memset(host.data(), seed, Bytes);
    cl_int code = clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, Bytes, host.data(), 0, nullptr, nullptr);
    code |= clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, Bytes, back.data(), 0, nullptr, nullptr);
    return code == CL_SUCCESS && clFinish(queue) == CL_SUCCESS && host == back;
  }
};

void say(const char* what, long value) { ::dprintf(g_out, "%s %ld\n", what, value); }

void numbers(Device& d) {
  for (int round = 0; round < 3; ++round) {
    int files[4], pipe[2];
    for (int& file : files) say("file", file = ::open("/dev/null", O_RDWR));
    if (::pipe(pipe) == 0) say("pipe", pipe[0] * 100 + pipe[1]);
    say("works", d.works(round + 1));
    say("next", ::dup(0));
    for (const int file : files) ::close(file);
    for (const int end : pipe) ::close(end);
  }
}

void standard(Device& d) {
  for (int round = 0; round < 3; ++round) {
    for (int fd = 0; fd <= 2; ++fd) {
      errno = 0;
      const long written = ::write(fd, "a line of the program's\n", 24);
      say("written", written == -1 && errno == EBADF ? -1 : written);
    }
    say("works", d.works(round + 1));
  }
  say("first", ::open("/dev/null", O_RDWR));
}

void close_from(int first) {
  for (int fd = first; fd < Highest; ++fd)
    if (fd != g_out) ::close(fd);
}

void close_listed() {
  std::vector<int> open;
  DIR* const folder = ::opendir("/proc/self/fd");
  while (const dirent* const entry = ::readdir(folder)) open.push_back(std::atoi(entry->d_name));
  ::closedir(folder);
  for (const int fd : open)
    if (fd > 2 && fd != g_out) ::close(fd);
}

void all(Device& d, bool ranges) {
  for (int round = 0; round < 6; ++round) {
    if (!ranges)
      close_from(3);
    else if (round % 2)
      close_listed();
    else
      ::close_range(3, ~0u, 0);
    say("works", d.works(round + 1));
    say("next", ::dup(0));
  }
}

// What the program opens in the places of ours stays as it is.
void replaced(Device& d) {
  std::vector<int> theirs;
  DIR* const folder = ::opendir("/proc/self/fd");
  while (const dirent* const entry = ::readdir(folder))
    if (const int fd = std::atoi(entry->d_name); fd > 2 && fd != ::dirfd(folder) && fd != g_out) theirs.push_back(fd);
  ::closedir(folder);
  char name[] = "replaced.XXXXXX";
  const int file = ::mkstemp(name);
  (void)!::write(file, "x", 1);
  for (const int fd : theirs)
    if (fd != file) ::dup2(file, fd);
  say("works", d.works(1));
  ::sleep(1);
  say("works", d.works(2));
  struct stat about {};
  ::fstat(file, &about);
  say("size", about.st_size);
  long kept = 0;
  for (const int fd : theirs) kept += ::fcntl(fd, F_GETFD) >= 0;
  say("kept", kept == static_cast<long>(theirs.size()));
}

void with_select(Device& d) {
  int last = 0;
  for (int fd = 0; fd >= 0 && fd < 300; fd = ::open("/dev/null", O_RDWR)) last = fd;
  fd_set set;
  FD_ZERO(&set);
  FD_SET(last, &set);
  timeval none{};
  say("last", last);
  say("selected", ::select(last + 1, &set, nullptr, nullptr, &none));
  say("works", d.works(1));
}

void limited(Device& d) {
  const rlimit few{64, 64};
  say("limited", ::setrlimit(RLIMIT_NOFILE, &few));
  say("works", d.works(1));
  int last = 0;
  while (const int fd = ::open("/dev/null", O_RDWR)) {
    if (fd < 0) break;
    last = fd;
  }
  say("last", last);
  say("works", d.works(2));
  for (int fd = 3; fd < 64; ++fd)
    if (fd != g_out) ::close(fd);
  say("works", d.works(3));
}

std::string low_descriptors() {
  std::string open;
  for (int fd = 0; fd < 100; ++fd)
    if (::fcntl(fd, F_GETFD) >= 0) open += std::to_string(fd) + " ";
  return open;
}

int lists(const char* path) {
  const std::string before = low_descriptors();
  Device d;
  d.open();
  const bool works = d.works(1);
  const std::string after = low_descriptors();
  g_out = ::open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  ::dprintf(g_out, "before %s\nafter %s\nworks %d\nfirst %d\n", before.c_str(), after.c_str(), works, g_out);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) return lists(argv[2]);
  const std::string mode = argc == 2 ? argv[1] : "";
  Device d;
  if (mode == "standard") {
    g_out = ::fcntl(STDOUT_FILENO, F_DUPFD, 100);
    for (int fd = 0; fd <= 2; ++fd) ::close(fd);
  }
  d.open();
  say("works", d.works(9));
  if (mode == "numbers") numbers(d);
  if (mode == "standard") standard(d);
  if (mode == "all" || mode == "ranges") all(d, mode == "ranges");
  if (mode == "replaced") replaced(d);
  if (mode == "select") with_select(d);
  if (mode == "limited") limited(d);
  say("works", d.works(10));
  return 0;
}
