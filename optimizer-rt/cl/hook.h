// What happens before and after a function of the program's, or in its place: the hooks of exports.cc, and of no other
// file.
#pragma once

#include "optimizer-rt/cl/real.h"

namespace gt::opt {
namespace {

// By default nothing happens before or after a call. Specializations are the hooks; one with instead() may answer the
// call itself: it then returns true and leaves the result.
template <Fn F>
struct Hook {
  template <class... A>
  static void before(A...) {}
  template <class R, class... A>
  static void after(R, A...) {}
};

struct BeforeOnly {
  template <class R, class... A>
  static void after(R, A...) {}
};
struct AfterOnly {
  template <class... A>
  static void before(A...) {}
};
struct Instead : BeforeOnly, AfterOnly {};
// A jump to the real function: nothing here concerns it, and programs call it several times for each launch. What the
// driver may allocate meanwhile is taken for the program's, of a site that no profile names.
struct Straight {};

}  // namespace
}  // namespace gt::opt
