# Every library the project stands on. A missing one stops the configuration with the Debian package's name.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

# gt_static(TARGET LIBRARY...): an interface target of static archives; what belongs to the C library stays shared.
function(gt_static target)
  add_library(${target} INTERFACE)
  foreach(name ${ARGN})
    if(NOT name MATCHES "^(c|m|dl|pthread|rt)$")
      find_library(GT_STATIC_${name} NAMES lib${name}.a)
      if(NOT GT_STATIC_${name})
        message(FATAL_ERROR "GT_PORTABLE needs lib${name}.a, which is part of the library's -dev package in Debian")
      endif()
      set(name ${GT_STATIC_${name}})
    endif()
    target_link_libraries(${target} INTERFACE ${name})
  endforeach()
endfunction()

# gt_require(TARGET pkg-config-module debian-package): an imported target, or a clear error.
function(gt_require target module package)
  pkg_check_modules(${target} QUIET IMPORTED_TARGET GLOBAL ${module})
  if(NOT ${target}_FOUND)
    message(FATAL_ERROR "gtrace needs ${module}: apt-get install ${package} (or scripts/deps.sh installs everything)")
  endif()
  if(GT_PORTABLE)
    gt_static(gt_static_${target} ${${target}_STATIC_LIBRARIES})
    target_include_directories(gt_static_${target} SYSTEM INTERFACE ${${target}_INCLUDE_DIRS})
    add_library(gt::${target} ALIAS gt_static_${target})
  else()
    add_library(gt::${target} ALIAS PkgConfig::${target})
  endif()
endfunction()

gt_require(sqlite sqlite3 libsqlite3-dev)
gt_require(capstone capstone libcapstone-dev)
gt_require(ffi libffi libffi-dev)
gt_require(zstd libzstd libzstd-dev)
gt_require(dw libdw libdw-dev)
gt_require(elf libelf libelf-dev)

function(gt_require_package name target package)
  find_package(${name} QUIET)
  if(NOT TARGET ${target})
    message(FATAL_ERROR "gtrace needs ${name}: apt-get install ${package} (or scripts/deps.sh installs everything)")
  endif()
  set(${name}_VERSION ${${name}_VERSION} PARENT_SCOPE)
endfunction()

gt_require_package(fmt fmt::fmt libfmt-dev)
gt_require_package(doctest doctest::doctest doctest-dev)
gt_require_package(CLI11 CLI11::CLI11 libcli11-dev)
gt_require_package(nlohmann_json nlohmann_json::nlohmann_json nlohmann-json3-dev)
gt_require_package(benchmark benchmark::benchmark libbenchmark-dev)

add_library(gt_fmt_library INTERFACE)
if(GT_PORTABLE)  # compiled in (traces/base/fmt.cc), with the library's own definitions: the same objects fit both
  target_link_libraries(gt_fmt_library INTERFACE gt_fmt)
  target_compile_definitions(gt_fmt_library INTERFACE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
else()
  target_link_libraries(gt_fmt_library INTERFACE fmt::fmt)
endif()
add_library(gt::fmt ALIAS gt_fmt_library)

find_path(GT_XXHASH_INCLUDE xxhash.h)
if(NOT GT_XXHASH_INCLUDE)
  message(FATAL_ERROR "gtrace needs xxhash.h: apt-get install libxxhash-dev (or scripts/deps.sh installs everything)")
endif()
add_library(gt_xxhash INTERFACE)  # its header alone, compiled in
target_include_directories(gt_xxhash SYSTEM INTERFACE ${GT_XXHASH_INCLUDE})
add_library(gt::xxhash ALIAS gt_xxhash)

find_path(GT_OPENCL_INCLUDE CL/cl.h)
find_library(GT_OPENCL_LOADER OpenCL)
if(NOT GT_OPENCL_INCLUDE OR NOT GT_OPENCL_LOADER)
  message(FATAL_ERROR "gtrace needs the OpenCL headers and ICD loader: apt-get install opencl-headers ocl-icd-opencl-dev")
endif()
add_library(gt_opencl_headers INTERFACE)
target_include_directories(gt_opencl_headers SYSTEM INTERFACE ${GT_OPENCL_INCLUDE})
file(STRINGS ${GT_OPENCL_INCLUDE}/CL/cl_version.h version_31 REGEX "define CL_VERSION_3_1")
target_compile_definitions(gt_opencl_headers INTERFACE CL_TARGET_OPENCL_VERSION=$<IF:$<BOOL:${version_31}>,310,300>
  CL_USE_DEPRECATED_OPENCL_1_0_APIS CL_USE_DEPRECATED_OPENCL_1_1_APIS CL_USE_DEPRECATED_OPENCL_1_2_APIS
  CL_USE_DEPRECATED_OPENCL_2_0_APIS CL_USE_DEPRECATED_OPENCL_2_1_APIS CL_USE_DEPRECATED_OPENCL_2_2_APIS)
add_library(gt::opencl_headers ALIAS gt_opencl_headers)
add_library(gt_opencl INTERFACE)
target_link_libraries(gt_opencl INTERFACE gt_opencl_headers ${GT_OPENCL_LOADER})
add_library(gt::opencl ALIAS gt_opencl)

# libclang (the C API): any version from 14 on.
find_path(GT_CLANG_INCLUDE clang-c/Index.h
  PATHS /usr/lib/llvm-20/include /usr/lib/llvm-19/include /usr/lib/llvm-18/include /usr/lib/llvm-17/include
        /usr/lib/llvm-16/include /usr/lib/llvm-15/include /usr/lib/llvm-14/include)
find_library(GT_CLANG_LIBRARY NAMES clang
  PATHS /usr/lib/llvm-20/lib /usr/lib/llvm-19/lib /usr/lib/llvm-18/lib /usr/lib/llvm-17/lib
        /usr/lib/llvm-16/lib /usr/lib/llvm-15/lib /usr/lib/llvm-14/lib)
if(NOT GT_CLANG_INCLUDE OR NOT GT_CLANG_LIBRARY)
  message(FATAL_ERROR "gtrace needs libclang 14 or later: apt-get install libclang-14-dev (Ubuntu: libclang-dev)")
endif()
add_library(gt_clang INTERFACE)
target_include_directories(gt_clang SYSTEM INTERFACE ${GT_CLANG_INCLUDE})
target_link_libraries(gt_clang INTERFACE ${GT_CLANG_LIBRARY})
add_library(gt::clang ALIAS gt_clang)

# Static, position-independent libffi for the injected libraries (Debian ships it as libffi_pic.a).
find_library(GT_FFI_STATIC NAMES libffi_pic.a libffi.a)
