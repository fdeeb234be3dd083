// Memory whose pages the program makes present itself, when they are touched: by its handlers of SIGSEGV and SIGBUS, or
// by a thread that serves a userfaultfd.
//
//   lazy_pages SHAPE
//
// Handlers are written for one fault at a time, as they may be where one thread copies. Each shape transfers such
// memory in every way and prints what came of it.
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/optimizer/link.h"

namespace {

constexpr size_t Page = 4096, Bytes = 6 * MiB;

char* area = nullptr;
size_t granule = Page;        // what one fault makes present
bool fills = true;            // with contents; else what is there is only watched
std::atomic<int> serving{0}, faults{0}, together{0};

char content(size_t at) { return static_cast<char>(at / Page * 7 + at % Page); }

void fill_pages(char* from, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) from[i] = content(static_cast<size_t>(from - area) + i);
}

// Opens first and fills then: whoever touches the pages meanwhile sees nothing of the contents.
void serve(char* at) {
  if (serving.fetch_add(1) != 0) ++together;
  ++faults;
  char* const first = area + static_cast<size_t>(at - area) / granule * granule;
  ::mprotect(first, granule, PROT_READ | PROT_WRITE);
  if (fills) fill_pages(first, granule);
  serving.fetch_sub(1);
}

// The last pages that were opened stay, as in a cache of few.
constexpr size_t Kept = 64;
char* kept[Kept];
void serve_few(char* at) {
  static size_t next = 0;
  char* const first = area + static_cast<size_t>(at - area) / Page * Page;
  char*& oldest = kept[next++ % Kept];
  if (oldest) ::madvise(oldest, Page, MADV_DONTNEED), ::mprotect(oldest, Page, PROT_NONE);
  oldest = first;
  ++faults;
  ::mprotect(first, Page, PROT_READ | PROT_WRITE);
  fill_pages(first, Page);
}

// Behind the end of a file.
void serve_mapped(char* at) {
  char* const first = area + static_cast<size_t>(at - area) / Page * Page;
  ++faults;
  if (::mmap(first, Page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == first)
    fill_pages(first, Page);
}

void (*how)(char*) = serve;

void on_fault(int signal, siginfo_t* info, void*) {
  auto* const at = static_cast<char*>(info->si_addr);
  if (at >= area && at < area + Bytes) return how(at);
  ::signal(signal, SIG_DFL);
}

void handle(int signal) {
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  check(::sigaction(signal, &action, nullptr) == 0, "sigaction");
}

void make_area() {
  area = static_cast<char*>(::mmap(nullptr, Bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  check(area != MAP_FAILED, "mmap");
}

void hide() { check(::mprotect(area, Bytes, PROT_NONE) == 0, "mprotect"); }

// --- Every way in which bytes are taken from memory ---

struct Way {
  const char* name;
  void (*send)(Link& link);
};

template <size_t Piece, bool Blocking>
void in_pieces(Link& link) {
  for (size_t at = 0; at < Bytes; at += Piece) {
    const size_t n = Piece < Bytes - at ? Piece : Bytes - at;
    must(clEnqueueWriteBuffer(link.queue, link.mem, Blocking, at, n, area + at, 0, nullptr, nullptr), "write");
  }
}

// Two columns of rows, so that all is sent but nothing is dense.
template <bool Blocking>
void by_rect(Link& link) {
  constexpr size_t Row = 12288, Half = 5000;
  for (const size_t column : {size_t{0}, Half}) {
    const size_t origin[3] = {column, 0, 0}, region[3] = {column ? Row - Half : Half, Bytes / Row, 1};
    must(clEnqueueWriteBufferRect(link.queue, link.mem, Blocking, origin, origin, region, Row, 0, Row, 0, area, 0,
                                  nullptr, nullptr),
         "rect");
  }
}

void by_contents(Link& link) {
  cl_int err = CL_SUCCESS;
  cl_mem made = clCreateBuffer(link.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, Bytes, area, &err);
  must(err, "COPY_HOST_PTR");
  must(clEnqueueCopyBuffer(link.queue, made, link.mem, 0, 0, Bytes, 0, nullptr, nullptr), "copy");
  must(clFinish(link.queue), "clFinish");
  clReleaseMemObject(made);
}

void by_image(Link& link) {
  constexpr size_t Width = 1024, Height = Bytes / 4 / Width;
  const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc desc = {};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = Width;
  desc.image_height = Height;
  cl_int err = CL_SUCCESS;
  cl_mem image = clCreateImage(link.context, CL_MEM_READ_WRITE, &format, &desc, nullptr, &err);
  must(err, "clCreateImage");
  const size_t origin[3] = {}, region[3] = {Width, Height, 1};
  must(clEnqueueWriteImage(link.queue, image, CL_FALSE, origin, region, 0, 0, area, 0, nullptr, nullptr), "image");
  must(clEnqueueCopyImageToBuffer(link.queue, image, link.mem, origin, region, 0, 0, nullptr, nullptr), "copy");
  must(clFinish(link.queue), "clFinish");
  clReleaseMemObject(image);
}

const Way ways[] = {{"whole, waiting", in_pieces<Bytes, true>},    {"whole", in_pieces<Bytes, false>},
                    {"1 MB", in_pieces<1000000, false>},           {"64 KiB", in_pieces<65536, false>},
                    {"64 KiB, waiting", in_pieces<65536, true>},   {"9 KB", in_pieces<9000, false>},
                    {"rows", by_rect<false>},                      {"rows, waiting", by_rect<true>},
                    {"contents", by_contents},                     {"image", by_image}};

void print(const char* what, size_t wrong) {
  std::printf("%s: %zu wrong, %s, %d together\n", what, wrong, faults.exchange(0) ? "faults" : "no fault",
              together.exchange(0));
}

size_t wrong_in(const char* bytes) {
  size_t wrong = 0;
  for (size_t i = 0; i < Bytes; ++i) wrong += bytes[i] != content(i);
  return wrong;
}

void send_all(void (*prepare)()) {
  Link link;
  std::vector<char> back(Bytes);
  for (const Way& way : ways) {
    prepare();
    way.send(link);
    must(clFinish(link.queue), "clFinish");
    link.read(back.data(), Bytes);
    print(way.name, wrong_in(back.data()));
    const char nothing = 0;
    must(clEnqueueFillBuffer(link.queue, link.mem, &nothing, 1, 0, Bytes, 0, nullptr, nullptr), "fill");
  }
}

// --- The shapes ---

void pages() {
  make_area();
  handle(SIGSEGV);
  send_all(hide);
}

void granules() {
  make_area();
  handle(SIGSEGV);
  granule = size_t{64} << 10;
  send_all(hide);
}

void few() {
  make_area();
  handle(SIGSEGV);
  how = serve_few;
  send_all([] {
    hide();
    for (char*& page : kept) page = nullptr;
  });
}

void truncated() {
  const int file = ::memfd_create("short", 0);
  check(file >= 0, "memfd_create");
  make_area();
  handle(SIGBUS);
  how = serve_mapped;
  static int mapped;
  mapped = file;
  send_all([] {
    check(::mmap(area, Bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, mapped, 0) == area, "mmap");
  });
}

// Destinations whose pages are only watched for writes.
void watched() {
  make_area();
  handle(SIGSEGV);
  fills = false;
  Link link;
  std::vector<char> contents(Bytes);
  for (size_t i = 0; i < Bytes; ++i) contents[i] = content(i);
  link.write(contents.data(), Bytes);
  for (const size_t piece : {Bytes, size_t{1000000}, size_t{65536}, size_t{9000}}) {
    for (const cl_bool blocking : {CL_TRUE, CL_FALSE}) {
      check(::mprotect(area, Bytes, PROT_READ | PROT_WRITE) == 0, "mprotect");
      std::memset(area, 0, Bytes);
      check(::mprotect(area, Bytes, PROT_READ) == 0, "mprotect");
      for (size_t at = 0; at < Bytes; at += piece)
        must(clEnqueueReadBuffer(link.queue, link.mem, blocking, at, piece < Bytes - at ? piece : Bytes - at, area + at,
                                 0, nullptr, nullptr),
             "read");
      must(clFinish(link.queue), "clFinish");
      print((std::to_string(piece) + (blocking ? " waiting" : "")).c_str(), wrong_in(area));
    }
  }
}

// Pages that a thread of the program's brings, which fails when it is asked twice for one.
int userfault = -1;
void bring() {
  std::vector<char> page(Page);
  for (;;) {
    uffd_msg message;
    if (::read(userfault, &message, sizeof message) != sizeof message) return;
    const auto at = static_cast<uintptr_t>(message.arg.pagefault.address) & ~(Page - 1);
    for (size_t i = 0; i < Page; ++i) page[i] = content(at - reinterpret_cast<uintptr_t>(area) + i);
    uffdio_copy copy = {};
    copy.dst = at;
    copy.src = reinterpret_cast<uintptr_t>(page.data());
    copy.len = Page;
    ++faults;
    if (::ioctl(userfault, UFFDIO_COPY, &copy) != 0) ++together;
  }
}

void served() {
  userfault = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
  uffdio_api api = {};
  api.api = UFFD_API;
  if (userfault < 0 || ::ioctl(userfault, UFFDIO_API, &api) != 0) {
    std::printf("no userfaultfd here\n");
    return;
  }
  make_area();
  std::thread(bring).detach();
  send_all([] {
    area = static_cast<char*>(::mmap(nullptr, Bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    uffdio_register all = {};
    all.range = {reinterpret_cast<uintptr_t>(area), Bytes};
    all.mode = UFFDIO_REGISTER_MODE_MISSING;
    check(area != MAP_FAILED && ::ioctl(userfault, UFFDIO_REGISTER, &all) == 0, "UFFDIO_REGISTER");
  });
  std::fflush(stdout);
  std::_Exit(0);  // the thread is in its read
}

}  // namespace

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)();
  } shapes[] = {{"pages", pages}, {"granules", granules}, {"few", few}, {"truncated", truncated}, {"watched", watched},
                {"served", served}};
  for (const auto& shape : shapes)
    if (argc > 1 && std::string(argv[1]) == shape.name) return shape.run(), 0;
  std::printf("no such shape\n");
  return 1;
}
