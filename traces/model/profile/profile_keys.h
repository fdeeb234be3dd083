// The keys of a profile: one table for each section says how each key is read, written and explained.
//
// A key of a later version has `since`; files of earlier versions may not use it. Adding one: a member in profile.h,
// a row here, a line in docs/PROFILE_FORMAT.md.
#pragma once

#include <array>

#include "traces/model/profile/profile_values.h"

namespace gt::model {

template <class T>
struct ProfileKey {
  std::string_view name, help;
  int since = 1;
  void (*write)(const T&, std::string_view name, std::string& out) = nullptr;  // whole lines, or none
  const char* (*read)(T&, ValueScan&) = nullptr;
  bool repeated = false;  // may stand there several times
};

template <class Codec, class V>
const char* read_value(V& v, ValueScan& in) {
  if constexpr (requires { Codec::read(v, in); }) {
    return Codec::read(v, in);
  } else {
    return Codec::read(v, in.item());
  }
}

template <class Codec, class V>
void write_line(std::string_view name, const V& v, std::string& out) {
  out.append(name).append(" = ");
  Codec::write(v, out);
  out += '\n';
}

// A key that always stands there.
template <auto Member, class Codec, class T>
constexpr ProfileKey<T> key(std::string_view name, std::string_view help, int since = 1) {
  return {name, help, since,
          [](const T& t, std::string_view n, std::string& out) { write_line<Codec>(n, t.*Member, out); },
          [](T& t, ValueScan& in) { return read_value<Codec>(t.*Member, in); }};
}

// A key that is left out when it says nothing.
template <auto Member, class Codec, class T>
constexpr ProfileKey<T> optional_key(std::string_view name, std::string_view help, int since) {
  ProfileKey<T> k = key<Member, Codec, T>(name, help, since);
  k.write = [](const T& t, std::string_view n, std::string& out) {
    if (t.*Member != std::remove_cvref_t<decltype(t.*Member)>()) write_line<Codec>(n, t.*Member, out);
  };
  return k;
}

// One line for each element.
template <auto Member, class Codec, class T>
constexpr ProfileKey<T> repeated_key(std::string_view name, std::string_view help, int since) {
  return {name,
          help,
          since,
          [](const T& t, std::string_view n, std::string& out) {
            for (const auto& v : t.*Member) write_line<Codec>(n, v, out);
          },
          [](T& t, ValueScan& in) { return read_value<Codec>((t.*Member).emplace_back(), in); },
          true};
}

inline constexpr std::array ProgramKeys = {
    key<&Profile::program, QuotedText, Profile>("path", "the executable that was traced"),
    key<&Profile::build_id, BuildId, Profile>("build_id", "its build-id; in another program only shared modules match"),
    key<&Profile::trace_digest, QuotedText, Profile>("trace_digest", "which trace this was made from, or traces"),
    key<&Profile::traces, Whole, Profile>("traces", "how many traces this was made from", 2),
    key<&Profile::dispatch_ratio, Real, Profile>("dispatch_ratio",
                                                 "time in transfers / time in kernels, on the devices"),
    key<&Profile::eligible, Bool, Profile>("eligible", "false: the optimizer leaves the program alone"),
};

inline constexpr std::array PlatformKeys = {
    key<&ProfilePlatform::fingerprint, BuildId, ProfilePlatform>("fingerprint",
                                                                 "of the machine whose costs were measured", 2),
    key<&ProfilePlatform::cpu, QuotedText, ProfilePlatform>("cpu", "its processor, for people", 2),
    key<&ProfilePlatform::device, QuotedText, ProfilePlatform>("device",
                                                               "the OpenCL device that the predictions are for", 2),
    key<&ProfilePlatform::driver, QuotedText, ProfilePlatform>("driver", "its driver", 2),
};

inline constexpr std::array RouteKeys = {
    optional_key<&ProfileRoute::queue, Place, ProfileRoute>(
        "queue", "where queues are made: build-id, module, offset; without it: the whole program", 2),
    optional_key<&ProfileRoute::where, QuotedText, ProfileRoute>("where", "function and source line, for people", 2),
    key<&ProfileRoute::remote, Bool, ProfileRoute>("remote", "may its commands run on remote devices?", 2),
    repeated_key<&ProfileRoute::reasons, QuotedText, ProfileRoute>("reason", "what stands against it; repeatable", 2),
};

inline constexpr std::array SiteKeys = {
    key<&ProfileSite::build_id, BuildId, ProfileSite>("build_id", "of the module that allocates; empty: it has none"),
    key<&ProfileSite::module, FileName, ProfileSite>("module", "file name of that module"),
    key<&ProfileSite::offset, Offset, ProfileSite>("offset", "return address of the allocating call, in the module"),
    repeated_key<&ProfileSite::around, Place, ProfileSite>(
        "around", "a call around it: build-id, module, offset; repeatable, innermost first", 2),
    key<&ProfileSite::where, QuotedText, ProfileSite>("where", "function and source line, for people"),
    key<&ProfileSite::call, QuotedText, ProfileSite>("call", "the allocation function, for people"),
    key<&ProfileSite::min_bytes, Whole, ProfileSite>("min_bytes", "smaller allocations are left alone"),
    key<&ProfileSite::max_bytes, Whole, ProfileSite>("max_bytes", "larger allocations are left alone"),
    key<&ProfileSite::typical_bytes, Whole, ProfileSite>("typical_bytes",
                                                         "mean size in the trace: costs are predicted for it"),
    optional_key<&ProfileSite::sizes, Sizes, ProfileSite>(
        "sizes", "SIZE:COUNT ...: so many allocations of SIZE to 2 x SIZE - 1 bytes", 2),
    key<&ProfileSite::allocations, Whole, ProfileSite>("allocations", "how many the trace has"),
    optional_key<&ProfileSite::seen_in, Whole, ProfileSite>("seen_in", "how many of the traces have it", 2),
    key<&ProfileSite::transfers_each, FiniteReal, ProfileSite>("transfers_each",
                                                               "transfers for one allocation, on average"),
    key<&ProfileSite::h2d_bytes, Whole, ProfileSite>("h2d_bytes", "sent to devices from here, in all"),
    key<&ProfileSite::d2h_bytes, Whole, ProfileSite>("d2h_bytes", "received from devices here, in all"),
    key<&ProfileSite::transfer_ns, Whole, ProfileSite>("transfer_ns", "time of those transfers, in all"),
    key<&ProfileSite::policy, PolicyWord, ProfileSite>(
        "policy", "auto (the cost model decides), standard, opencl, locked, hybrid, pin, staged"),
    optional_key<&ProfileSite::predicted_policy, PolicyWord, ProfileSite>("predicted_policy",
                                                                          "what the costs of [platform] speak for", 2),
    optional_key<&ProfileSite::predicted_s, FiniteReal, ProfileSite>("predicted_s", "seconds in all with that policy",
                                                                     2),
    optional_key<&ProfileSite::standard_s, FiniteReal, ProfileSite>("standard_s", "seconds in all with ordinary memory",
                                                                    2),
};

inline constexpr std::array StagingKeys = {
    key<&ProfileStaging::kind, MemoryWord, ProfileStaging>("kind", "stack, static, file or unknown", 2),
    key<&ProfileStaging::module, FileName, ProfileStaging>("module", "file name: of the module, or of the mapped file",
                                                           2),
    key<&ProfileStaging::transfers, Whole, ProfileStaging>("transfers", "from and to such memory, in all", 2),
    key<&ProfileStaging::h2d_bytes, Whole, ProfileStaging>("h2d_bytes", "sent to devices from there, in all", 2),
    key<&ProfileStaging::d2h_bytes, Whole, ProfileStaging>("d2h_bytes", "received from devices there, in all", 2),
    key<&ProfileStaging::transfer_ns, Whole, ProfileStaging>("transfer_ns", "time of those transfers, in all", 2),
    key<&ProfileStaging::smallest_bytes, Whole, ProfileStaging>("smallest_bytes", "the smallest of them", 2),
    key<&ProfileStaging::largest_bytes, Whole, ProfileStaging>("largest_bytes", "the largest", 2),
    key<&ProfileStaging::stage, Bool, ProfileStaging>("stage", "may it pay to send them through pinned chunks?", 2),
    key<&ProfileStaging::stage_from, Whole, ProfileStaging>("stage_from", "for transfers of at least so many bytes", 2),
};

}  // namespace gt::model
