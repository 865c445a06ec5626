# An expression with quotes reaches LLDB's evaluation whole, however the command was given.
file(WRITE ${DIRECTORY}/quoted.lldb "flamb apply \"greet(\\\"two words\\\")\"\n")
file(WRITE ${DIRECTORY}/bare.lldb "flamb apply greet(\"two words\")\n")

function(run_lldb result)
  set(commands)
  foreach(command ${ARGN})
    list(APPEND commands -o "${command}")
  endforeach()
  execute_process(
    COMMAND ${LLDB} --no-lldbinit --batch -o "plugin load ${PLUGIN}" -o "breakpoint set -n ready" -o "process launch" ${commands} ${TARGET}
    WORKING_DIRECTORY ${DIRECTORY} OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(${result} "${output}" PARENT_SCOPE)
endfunction()

function(expect output text)
  string(FIND "${output}" "${text}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "expected '${text}' in:\n${output}")
  endif()
endfunction()

set(value "= \"hello two words\"")
run_lldb(typed "flamb apply --return value greet(\"two words\")")
expect("${typed}" "${value}")
run_lldb(aliased "command alias fa flamb apply" "fa --return value greet(\"two words\")")
expect("${aliased}" "${value}")
run_lldb(sourced "command source ${DIRECTORY}/quoted.lldb")
expect("${sourced}" "${value}")
run_lldb(lost "command source ${DIRECTORY}/bare.lldb")
expect("${lost}" "LLDB takes them off in a file or a script")
