# The contract suite: what core/debugger.h asks of an adapter, run inside each host debugger.
add_executable(contract_target contract_target.cpp)
target_compile_options(contract_target PRIVATE -O0 -g -fno-omit-frame-pointer)
target_link_libraries(contract_target PRIVATE flamb_warnings)
find_package(Threads REQUIRED)
target_link_libraries(contract_target PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
add_library(contract_library SHARED contract_library.cpp)
target_compile_options(contract_library PRIVATE -O0 -g)
add_dependencies(contract_target contract_library)

add_library(flamb_contract STATIC contract.cpp contract_run.cpp contract_stop.cpp contract_call.cpp)
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
