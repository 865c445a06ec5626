# The contract suite: what core/debugger.h asks of an adapter, run inside each host debugger.
add_executable(contract_target contract_target.cpp)
target_compile_options(contract_target PRIVATE -O0 -g -fno-omit-frame-pointer)
target_link_libraries(contract_target PRIVATE flamb_warnings)
find_package(Threads REQUIRED)
target_link_libraries(contract_target PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
add_library(contract_library SHARED contract_library.cpp)
target_compile_options(contract_library PRIVATE -O0 -g)
add_dependencies(contract_target contract_library)

add_library(flamb_contract STATIC contract.cpp contract_run.cpp contract_stop.cpp contract_call.cpp contract_step.cpp)
target_include_directories(flamb_contract PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(flamb_contract PUBLIC flamb_core PRIVATE flamb_warnings)

# LLDB's host of it: a plugin of its own around the adapter's sources.
file(GLOB adapter_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lldb_plugin/lldb_*.cpp)
add_library(lldb_contract MODULE lldb_contract.cpp ${adapter_sources})
target_include_directories(lldb_contract PRIVATE ${PROJECT_SOURCE_DIR}/lldb_plugin)
target_include_directories(lldb_contract SYSTEM PRIVATE ${FLAMB_LLDB_INCLUDE_DIR})
target_link_libraries(lldb_contract PRIVATE flamb_contract flamb_warnings)
target_link_options(lldb_contract PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,lazy)
set_target_properties(lldb_contract PROPERTIES PREFIX "")

# One test a check, in a process of its own; the checks and the target's arguments are read off the sources.
find_program(FLAMB_LLDB NAMES lldb-19 lldb)
if(FLAMB_LLDB AND NOT FLAMB_SANITIZE)
  foreach(part run stop call step)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS contract_${part}.cpp)
    file(STRINGS contract_${part}.cpp checks REGEX "^    {\"[a-z_]+\", \"[a-z]+\", [a-z_]+},$")
    foreach(check ${checks})
      string(REGEX MATCH "{\"([a-z_]+)\", \"([a-z]+)\"" matched "${check}")
      add_test(NAME contract.lldb.${CMAKE_MATCH_1}
        COMMAND ${FLAMB_LLDB} --no-lldbinit --batch
          -o "plugin load $<TARGET_FILE:lldb_contract>"
          -o "settings set target.run-args ${CMAKE_MATCH_2}"
          -o "flamb-contract ${CMAKE_MATCH_1}"
          $<TARGET_FILE:contract_target>)
      set_tests_properties(contract.lldb.${CMAKE_MATCH_1} PROPERTIES
        PASS_REGULAR_EXPRESSION "contract holds" TIMEOUT 60)
    endforeach()
  endforeach()
endif()
