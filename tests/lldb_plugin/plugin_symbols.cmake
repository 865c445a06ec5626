# A stripped plugin still exports what LLDB looks for, and nothing of flamb is missing from it: it is linked with lazy binding, so
# that the linker would not have said so.
execute_process(COMMAND ${STRIP} -o ${STRIPPED} ${PLUGIN} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${NM} -D --defined-only ${STRIPPED} OUTPUT_VARIABLE exported COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${NM} -D --undefined-only ${STRIPPED} OUTPUT_VARIABLE imported COMMAND_ERROR_IS_FATAL ANY)

set(initialize "_ZN4lldb16PluginInitializeENS_10SBDebuggerE")
if(NOT exported MATCHES "${initialize}")
  message(FATAL_ERROR "expected the stripped plugin to export ${initialize}; it exports:\n${exported}")
endif()
string(REGEX MATCHALL "[^\n ]+flamb[^\n]*" others "${exported}")
if(others)
  message(FATAL_ERROR "expected the plugin to export nothing of flamb; it exports:\n${others}")
endif()
string(REGEX MATCHALL "[^\n ]*5flamb[^\n]*" missing "${imported}")
if(missing)
  message(FATAL_ERROR "expected nothing of flamb to be undefined in the plugin; there are:\n${missing}")
endif()
