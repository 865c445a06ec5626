// LLDB's own primitives, as bare as they come, timed. A plugin with the commands
//
//   benchmark breakpoints FUNCTION...   runs to done() over breakpoints whose callback returns false
//   benchmark steps COUNT               that many SBThread::StepInstruction
//   benchmark time COMMAND...           any other command
//
// Each prints "RESULT {...}" for run.py: seconds, events (hits or steps) and how often the target stopped.
#include <lldb/API/LLDB.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

namespace lldb {
__attribute__((visibility("default"))) bool PluginInitialize(SBDebugger debugger);
}

namespace {

// A traced task gives up its CPU once a ptrace stop.
std::uint64_t voluntary_switches(lldb::SBProcess process) {
  std::ifstream status("/proc/" + std::to_string(process.GetProcessID()) + "/status");
  const std::string key = "voluntary_ctxt_switches:";
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return std::strtoull(line.c_str() + key.size(), nullptr, 10);
  }
  return 0;
}

// `run` returns the number of events.
void report(lldb::SBDebugger debugger, lldb::SBCommandReturnObject& result, const std::function<std::uint64_t()>& run) {
  lldb::SBProcess process = debugger.GetSelectedTarget().GetProcess();
  const std::uint64_t switches = voluntary_switches(process);
  const auto started = std::chrono::steady_clock::now();
  const std::uint64_t events = run();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - started;
  result.Printf("RESULT {\"seconds\": %f, \"events\": %llu, \"stops\": %llu}\n", seconds.count(),
                static_cast<unsigned long long>(events),
                static_cast<unsigned long long>(voluntary_switches(process) - switches));
}

lldb::SBBreakpoint break_at_entry(lldb::SBTarget target, const char* function) {
  lldb::SBAddress entry = target.FindFunctions(function).GetContextAtIndex(0).GetSymbol().GetStartAddress();
  return target.BreakpointCreateBySBAddress(entry);
}

bool count_hit(void* baton, lldb::SBProcess&, lldb::SBThread&, lldb::SBBreakpointLocation&) {
  ++*static_cast<std::uint64_t*>(baton);
  return false;
}

class Breakpoints final : public lldb::SBCommandPluginInterface {
 public:
  bool DoExecute(lldb::SBDebugger debugger, char** functions, lldb::SBCommandReturnObject& result) override {
    lldb::SBTarget target = debugger.GetSelectedTarget();
    std::uint64_t hits = 0;
    report(debugger, result, [&] {
      for (char** function = functions; function != nullptr && *function != nullptr; ++function) {
        break_at_entry(target, *function).SetCallback(count_hit, &hits);
      }
      break_at_entry(target, "done");
      target.GetProcess().Continue();
      return hits;
    });
    target.DeleteAllBreakpoints();
    return true;
  }
};

class Steps final : public lldb::SBCommandPluginInterface {
 public:
  bool DoExecute(lldb::SBDebugger debugger, char** words, lldb::SBCommandReturnObject& result) override {
    const std::uint64_t count = std::strtoull(words[0], nullptr, 10);
    lldb::SBThread thread = debugger.GetSelectedTarget().GetProcess().GetSelectedThread();
    report(debugger, result, [&] {
      for (std::uint64_t step = 0; step < count; ++step) thread.StepInstruction(false);
      return count;
    });
    return true;
  }
};

class Time final : public lldb::SBCommandPluginInterface {
 public:
  bool DoExecute(lldb::SBDebugger debugger, char** words, lldb::SBCommandReturnObject& result) override {
    std::string command;
    for (; *words != nullptr; ++words) command.append(*words).append(" ");
    report(debugger, result, [&]() -> std::uint64_t {
      lldb::SBCommandReturnObject inner;
      debugger.GetCommandInterpreter().HandleCommand(command.c_str(), inner);
      result.PutCString(inner.GetOutput());
      if (!inner.Succeeded()) result.SetError(inner.GetError());
      return 0;
    });
    return result.Succeeded();
  }
};

}  // namespace

bool lldb::PluginInitialize(SBDebugger debugger) {
  SBCommand benchmark = debugger.GetCommandInterpreter().AddMultiwordCommand("benchmark", "Times LLDB's primitives");
  benchmark.AddCommand("breakpoints", new Breakpoints, "benchmark breakpoints FUNCTION...");
  benchmark.AddCommand("steps", new Steps, "benchmark steps COUNT");
  benchmark.AddCommand("time", new Time, "benchmark time COMMAND...");
  return benchmark.IsValid();
}
