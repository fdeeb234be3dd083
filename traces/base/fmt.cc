// fmt, compiled once into the programs that carry their libraries with them: header-only it would be compiled into each
// of their files, which takes three seconds a file.
#include <fmt/format-inl.h>

// What the headers leave to the library (fmt 9; cmake/Dependencies.cmake asks for the version).
FMT_BEGIN_NAMESPACE
namespace detail {
template thousands_sep_result<char> thousands_sep_impl<char>(locale_ref);
template char decimal_point_impl<char>(locale_ref);
template dragonbox::decimal_fp<float> dragonbox::to_decimal(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double) noexcept;
template void vformat_to(buffer<char>&, string_view, basic_format_args<FMT_BUFFER_CONTEXT(char)>, locale_ref);
}  // namespace detail
FMT_END_NAMESPACE
