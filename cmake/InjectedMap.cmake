# The version script of the injected libraries: OpenCL's versioned symbols from the table, and everything else that our
# own objects export on purpose (allocator, dlopen, pthread_create) with the base version, which alone satisfies a
# program that asks for malloc@GLIBC_2.2.5. `local: *` would hide those; so what must stay local is named: the C++
# library's template instances, which its headers give default visibility.
set(GT_EXPORTS_MAP ${CMAKE_SOURCE_DIR}/traces/api/gen/exports.map)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${GT_EXPORTS_MAP})
file(READ ${GT_EXPORTS_MAP} map)
string(REGEX REPLACE "local:[ \t\r\n]*\\*;" "local: _ZN*; _ZS*; _ZT*; _ZG*; _ZK*; _ZL*;" map "${map}")
set(GT_INJECTED_MAP ${CMAKE_BINARY_DIR}/injected.map)
file(CONFIGURE OUTPUT ${GT_INJECTED_MAP} CONTENT "${map}" @ONLY)
