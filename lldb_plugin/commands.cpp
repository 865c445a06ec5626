#include "commands.h"

#include <dlfcn.h>

#include <exception>
#include <regex>
#include <string>
#include <vector>

#include "lldb_debugger.h"
#include "options/options.h"
#include "session.h"
#include "typed_line.h"

namespace flamb {

namespace {

// LLDB 20 and newer know the line of a command; older ones keep those that were typed in their history.
std::string line_given(lldb::SBDebugger debugger, lldb::SBCommandReturnObject& result) {
  using GetCommand = const char* (*)(lldb::SBCommandReturnObject*);
  static const auto get_command =
      reinterpret_cast<GetCommand>(dlsym(RTLD_DEFAULT, "_ZN4lldb21SBCommandReturnObject10GetCommandEv"));
  if (get_command) {
    const char* line = get_command(&result);
    return line ? line : "";
  }
  lldb::SBCommandReturnObject history;
  debugger.GetCommandInterpreter().HandleCommand("session history -s end -c 1", history);
  std::string line = history.GetOutput() ? history.GetOutput() : "";
  const auto number_end = line.find(": ");  // "   3: flamb apply f(1)"
  if (number_end == line.npos) return {};
  line.erase(0, number_end + 2);
  while (line.ends_with('\n')) line.pop_back();
  return line;
}

// A breakpoint that is gone by now was ours: its number says nothing to the user.
std::string without_our_breakpoint(lldb::SBTarget target, const std::string& status) {
  static const std::regex kBreakpoint(
      "(stop reason = (\x1b\\[[0-9;]*m)?)breakpoint (\\d+)(\\.\\d+| which has been deleted\\.)");
  std::smatch found;
  if (!std::regex_search(status, found, kBreakpoint)) return status;
  if (target.FindBreakpointByID(std::stoi(found.str(3))).IsValid()) return status;
  return std::regex_replace(status, kBreakpoint, "$1flamb");
}

// Where the target is, as LLDB says after a stop. For the terminal: the command's result is for what it made.
void show_stop(lldb::SBDebugger debugger) {
  lldb::SBProcess process = debugger.GetSelectedTarget().GetProcess();
  lldb::SBStream text;
  if (process.GetState() == lldb::eStateExited) {
    text.Printf("Process %llu exited with status = %d\n", static_cast<unsigned long long>(process.GetProcessID()),
                process.GetExitStatus());
  } else {
    lldb::SBThread thread = process.GetSelectedThread();
    if (!thread.IsValid()) return;
    thread.GetStatus(text);
  }
  const std::string shown = without_our_breakpoint(debugger.GetSelectedTarget(), text.GetData());
  std::size_t written = 0;
  debugger.GetOutputFile().Write(reinterpret_cast<const std::uint8_t*>(shown.data()), shown.size(), &written);
}

class Subcommand : public lldb::SBCommandPluginInterface {
 public:
  explicit Subcommand(std::string name) : name_(std::move(name)) {}

  bool DoExecute(lldb::SBDebugger debugger, char** words, lldb::SBCommandReturnObject& result) override {
    try {
      return run(debugger, words, result);
    } catch (const std::exception& error) {
      result.SetError(fmt::format("flamb failed: {}", error.what()).c_str());
    } catch (...) {
      result.SetError("flamb failed for an unknown reason");
    }
    return false;
  }

 private:
  bool run(lldb::SBDebugger debugger, char** arguments, lldb::SBCommandReturnObject& result) {
    std::vector<std::string> words{name_};
    for (char** word = arguments; word && *word; ++word) words.emplace_back(*word);
    std::string line = line_as_typed(words, line_given(debugger, result));
    const bool is_as_typed = !line.empty();
    if (!is_as_typed) line = line_of_words(words);

    bool has_moved = false;
    auto report = [&] {
      LldbDebugger adapter(debugger, result);
      auto done = run_command(adapter, line);
      has_moved = adapter.has_moved();
      return done;
    }();
    if (has_moved) show_stop(debugger);
    if (!report) {
      if (!is_as_typed) explain_quotes(report.error());
      result.SetError(message(report.error()).c_str());
      return false;
    }
    result.SetStatus(lldb::eReturnStatusSuccessFinishResult);
    return true;
  }

  void explain_quotes(Error& error) const {
    if (name_ != "apply" || error.fault != Fault::user || !error.next_action.empty()) return;
    error.next_action =
        "if the expression has quotes: LLDB takes them off in a file or a script, so put it whole in quotes, with a "
        "backslash before each double one in it: flamb apply \"greet(\\\"two words\\\", 'c')\"";
  }

  static std::string message(const Error& error) {
    return error.next_action.empty() ? error.message : fmt::format("{}\n{}", error.message, error.next_action);
  }

  std::string name_;
};

}  // namespace

bool add_commands(lldb::SBDebugger debugger) {
  lldb::SBCommandInterpreter interpreter = debugger.GetCommandInterpreter();
  lldb::SBCommand flamb = interpreter.AddMultiwordCommand("flamb", "Flame graphs of one function.");
  if (!flamb.IsValid()) return false;
  flamb.SetHelpLong(('\n' + help("")).c_str());
  struct Entry {
    const char* name;
    const char* summary;
    const char* syntax;
  };
  static constexpr Entry kEntries[]{{"capture", "Makes a flame graph of the next invocations of a function.",
                                     "flamb capture FUNCTION [COUNT] [OPTIONS]"},
                                    {"apply", "Evaluates an expression and makes a flame graph of all that it calls.",
                                     "flamb apply [OPTIONS] [--] EXPRESSION"},
                                    {"help", "Says what flamb does.", "flamb help [capture|apply]"}};
  for (const Entry& entry : kEntries) {
    // The empty text at the end: an empty line does not run the command again.
    lldb::SBCommand command = flamb.AddCommand(entry.name, new Subcommand(entry.name), entry.summary, entry.syntax, "");
    if (!command.IsValid()) return false;
    command.SetHelpLong(('\n' + help(entry.name)).c_str());
  }
  return true;
}

}  // namespace flamb
