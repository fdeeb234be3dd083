# End-to-end tests again on other drivers than PoCL: label "drivers", tests drivers.DRIVER.NAME. Only those drivers that
# GT_TEST_DRIVERS names are registered, so the default is none: `scripts/test.sh --drivers` sets it (docs/HACKING.md). A
# driver that is not there then is a test that is skipped, with the reason (driver.py).

set(GT_TEST_DRIVERS "" CACHE STRING "Drivers on which end-to-end tests run, too: intel;rusticl;oclgrind")
set(GT_DRIVERS_FOLDER ${CMAKE_SOURCE_DIR}/build/drivers CACHE PATH "Where scripts/deps.sh --drivers has put them")

function(gt_on_driver driver)
  if(NOT driver IN_LIST GT_TEST_DRIVERS)
    return()
  endif()
  foreach(name ${ARGN})
    get_property(command GLOBAL PROPERTY gt_e2e_${name})
    gt_add_test(drivers.${driver}.${name} ${GT_PYTHON} ${command})
    set_tests_properties(drivers.${driver}.${name} PROPERTIES LABELS drivers TIMEOUT 900 SKIP_RETURN_CODE 77
      ENVIRONMENT "GT_TEST_DRIVER=${driver};GT_TEST_DRIVERS=${GT_DRIVERS_FOLDER}")
  endforeach()
endfunction()

set(apps main_job.vadd main_job.vadd_dl main_job.sgemm main_job.transpose main_job.nbody)
foreach(program nn nw bfs histogram spmv stencil kmeans backprop pathfinder transpose sad hotspot sgemm dgemm nbody sw lbm)
  list(APPEND apps apps.${program})
endforeach()
set(traced arguments capture capture_full replay kernel_origins call_sites timing endings)

gt_on_driver(intel first_run ${apps} apps_command every_mode ${traced} capture_part replay_addresses memory looking comparing
  real.clinfo real.clpeak real.pyopencl real.clblast real.blas
  endings.processes endings.gtrace waiting_for_us children callbacks run_parts
  constant_size.plain constant_size.ping_pong constant_size.allocations constant_size.blocking constant_size.threads
  optimizer optimizer_allocations optimizer_report wrong_profile memory_pressure huge_pages beside_a_profile
  microbench microbench.remote proxy.serving proxy.sessions proxy.endings proxy.devices
  remote.programs guests command_buffers codes)
gt_on_driver(rusticl main_job.vadd main_job.vadd_dl apps.nn apps.bfs ${traced} memory real.clinfo)
gt_on_driver(oclgrind apps.nn kernel_origins real.clinfo)  # a simulator: little ends in time
