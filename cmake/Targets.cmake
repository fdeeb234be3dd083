# The four kinds of target that the project has. Includes are root-relative everywhere.

add_library(gt_flags INTERFACE)
target_include_directories(gt_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(gt_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow -Wno-sign-conversion
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}/= $<$<BOOL:${GT_WERROR}>:-Werror>)
target_compile_definitions(gt_flags INTERFACE GT_VERSION="${PROJECT_VERSION}")
# Lines and functions for backtraces; a debugger's variables are for the dev preset. A quarter less to compile.
target_compile_options(gt_flags INTERFACE $<$<CONFIG:RelWithDebInfo>:-g1>)
if(GT_FUZZ)  # coverage for libFuzzer in every library; tests/fuzz links its main
  target_compile_options(gt_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(GT_SANITIZE)
  target_compile_options(gt_flags INTERFACE -fsanitize=${GT_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(gt_flags INTERFACE -fsanitize=${GT_SANITIZE})
endif()

# gt_library(NAME SOURCES ... LINKS ...): a static library with hidden symbols.
function(gt_library name)
  cmake_parse_arguments(A "" "" "SOURCES;LINKS" ${ARGN})
  add_library(${name} STATIC ${A_SOURCES})
  target_link_libraries(${name} PUBLIC gt_flags ${A_LINKS})
endfunction()

# gt_portable(NAME FOLDER): with GT_PORTABLE it needs the C library alone, and finds what else it loads in FOLDER (as seen
# from where it lies), where packages put it. Programs that load OpenCL drivers must not bring a C++ library of their own
# that others would see.
function(gt_portable name folder)
  if(GT_PORTABLE)
    target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
    set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN/${folder}")
  endif()
endfunction()

# gt_program(NAME SOURCES ... LINKS ...): an installed program in bin/.
function(gt_program name)
  cmake_parse_arguments(A "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE gt_flags ${A_LINKS})
  gt_portable(${name} ../lib/gtrace/private)
  install(TARGETS ${name} RUNTIME)
endfunction()

# gt_injected(NAME OUTPUT dir MAP version-script SOURCES ... LINKS ...): a preloaded library shaped like libOpenCL.so.1.
# Static C++ runtime, one version script, nothing exported that the script does not name.
function(gt_injected name)
  cmake_parse_arguments(A "" "OUTPUT;MAP" "SOURCES;LINKS" ${ARGN})
  add_library(${name} SHARED ${A_SOURCES})
  target_link_libraries(${name} PRIVATE gt_flags ${A_LINKS})
  set(dir ${CMAKE_BINARY_DIR}/lib/gtrace/${A_OUTPUT})
  set_target_properties(${name} PROPERTIES OUTPUT_NAME OpenCL PREFIX lib SUFFIX .so.1 NO_SONAME ON
    LIBRARY_OUTPUT_DIRECTORY ${dir} LINK_DEPENDS ${A_MAP})
  target_link_options(${name} PRIVATE -Wl,-soname,libOpenCL.so.1 -Wl,-Bsymbolic -Wl,--exclude-libs,ALL
    -Wl,--version-script=${A_MAP} -Wl,-z,defs -static-libgcc -static-libstdc++)
  target_compile_options(${name} PRIVATE -ftls-model=initial-exec)
  add_custom_command(TARGET ${name} POST_BUILD COMMAND ${CMAKE_COMMAND} -E create_symlink libOpenCL.so.1 ${dir}/libOpenCL.so)
  install(DIRECTORY ${dir} DESTINATION ${CMAKE_INSTALL_LIBDIR}/gtrace)
endfunction()

# Tests are compiled once and run once: less optimized they are there in half the time.
function(gt_compile_quickly name)
  target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
endfunction()

# gt_add_test(NAME COMMAND...): a test, run once more if it fails when RetriedTests.cmake names it.
include(RetriedTests)
function(gt_add_test name)
  set(command ${ARGN})
  if(name IN_LIST GT_RETRIED)
    list(GET command 0 program)
    if(TARGET ${program})
      list(POP_FRONT command)
      list(PREPEND command $<TARGET_FILE:${program}>)
    endif()
    list(PREPEND command ${GT_PYTHON} ${CMAKE_SOURCE_DIR}/tests/once_more.py
      ${CMAKE_BINARY_DIR}/once_more.txt ${name})
  endif()
  add_test(NAME ${name} COMMAND ${command})
endfunction()

# gt_unit_test(NAME [SLOW] SOURCES ... LINKS ... [ENV ...]): a doctest executable, one ctest entry. Labels "unit" and,
# unless it takes more than some 12 s, "quick".
function(gt_unit_test name)
  cmake_parse_arguments(A "SLOW" "" "SOURCES;LINKS;ENV" ${ARGN})
  if(NOT TARGET gt_unit_test_main)  # compiled once: it holds all of doctest
    add_library(gt_unit_test_main OBJECT ${CMAKE_SOURCE_DIR}/tests/unit/main.cc)
    target_link_libraries(gt_unit_test_main PRIVATE gt_flags doctest::doctest)
    gt_compile_quickly(gt_unit_test_main)
  endif()
  add_executable(${name} ${A_SOURCES} $<TARGET_OBJECTS:gt_unit_test_main>)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE gt_flags doctest::doctest ${A_LINKS})
  gt_compile_quickly(${name})
  gt_add_test(unit.${name} ${name})
  set(labels unit)
  if(NOT A_SLOW)
    list(APPEND labels quick)
  endif()
  set_tests_properties(unit.${name} PROPERTIES LABELS "${labels}" TIMEOUT 120 ENVIRONMENT "${A_ENV}")
endfunction()
