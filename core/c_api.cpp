#include "c_api.h"

#include <exception>

#include "c_session.h"
#include "options/options.h"

namespace {

std::string last_error;

std::string message_of(const flamb::Error& error) {
  return error.next_action.empty() ? error.message : error.message + "\n" + error.next_action;
}

const std::vector<std::string>* results(const flamb_session* session, int32_t kind) {
  switch (kind) {
    case FLAMB_RESULT_FILE: return &session->report.files;
    case FLAMB_RESULT_VALUE: return &session->report.values;
    case FLAMB_RESULT_DATA: return &session->report.data;
    default: return nullptr;
  }
}

}  // namespace

uint32_t flamb_abi_version() { return FLAMB_ABI_VERSION; }

const char* flamb_version() { return FLAMB_VERSION; }

flamb_session* flamb_open(const flamb_callbacks* callbacks) try {
  if (callbacks->version == FLAMB_ABI_VERSION && callbacks->size == sizeof(flamb_callbacks)) {
    return new flamb_session(*callbacks);
  }
  last_error = fmt::format(
      "libflamb.so and flamb's Python files do not belong together: the library speaks version {} of their interface "
      "({} bytes), the Python files version {} ({} bytes); install both from one build",
      FLAMB_ABI_VERSION, sizeof(flamb_callbacks), callbacks->version, callbacks->size);
  return nullptr;
} catch (const std::exception& exception) {
  last_error = exception.what();
  return nullptr;
}

void flamb_close(flamb_session* session) { delete session; }

const char* flamb_last_error() { return last_error.c_str(); }

int32_t flamb_run(flamb_session* session, const char* line) try {
  session->report = {};
  session->error.clear();
  flamb::Result<flamb::Report> report = flamb::run_command(session->debugger, line);
  if (!report) {
    session->error = message_of(report.error());
    return FLAMB_FAILED;
  }
  session->report = std::move(*report);
  return FLAMB_DONE;
} catch (const std::exception& exception) {
  session->error = fmt::format("flamb failed: {}", exception.what());
  return FLAMB_FAILED;
} catch (...) {
  session->error = "flamb failed for a reason it does not know";
  return FLAMB_FAILED;
}

const char* flamb_error(flamb_session* session) { return session->error.c_str(); }

uint64_t flamb_result_count(flamb_session* session, int32_t kind) {
  const auto* all = results(session, kind);
  return all == nullptr ? 0 : all->size();
}

const char* flamb_result(flamb_session* session, int32_t kind, uint64_t index, uint64_t* size) {
  const auto* all = results(session, kind);
  if (all == nullptr || index >= all->size()) return nullptr;
  *size = (*all)[index].size();
  return (*all)[index].c_str();
}

const char* flamb_help(const char* topic) try {
  static std::string text;
  text = flamb::help(topic);
  return text.c_str();
} catch (...) {
  return "";
}

int32_t flamb_complete(flamb_session* session, const char* line, uint64_t* count) try {
  constexpr std::size_t max_functions = 200;
  int32_t what = FLAMB_COMPLETE_WORDS;
  if (std::optional<std::string> typed = flamb::completes_function(line); !typed) {
    session->completions = flamb::complete(line);
  } else if (std::string_view(line).starts_with("apply")) {
    what = FLAMB_COMPLETE_EXPRESSION;
    session->completions = {std::move(*typed)};
  } else {
    session->completions = flamb::complete_function(session->debugger, *typed, max_functions);
  }
  *count = session->completions.size();
  return what;
} catch (...) {
  *count = 0;
  return FLAMB_COMPLETE_WORDS;
}

const char* flamb_completion(flamb_session* session, uint64_t index) {
  return index < session->completions.size() ? session->completions[index].c_str() : nullptr;
}

int32_t flamb_breakpoint_hit(flamb_session* session, uint64_t id, uint64_t thread) {
  return session->debugger.hit(id, thread) ? 1 : 0;
}

void flamb_calling(flamb_session* session, uint64_t thread, uint64_t address) {
  session->debugger.calling(thread, address);
}

void flamb_note_interrupt(flamb_session* session) { session->debugger.note_interrupt(); }

void flamb_reply_error(flamb_session* session, int32_t fault, const char* message, const char* next_action) {
  session->debugger.reply().error = flamb::Error{static_cast<flamb::Fault>(fault), message, next_action};
}

void flamb_reply_target(flamb_session* session, int32_t state, const char* program, int64_t pid, int32_t is_local) {
  session->debugger.reply().target =
      flamb::TargetInfo{static_cast<flamb::TargetState>(state), program, pid, is_local != 0};
}

void flamb_reply_number(flamb_session* session, uint64_t number) {
  session->debugger.reply().numbers.push_back(number);
}

void flamb_reply_text(flamb_session* session, const char* text) { session->debugger.reply().text = text; }

void flamb_reply_module(flamb_session* session, const char* path, uint64_t load_bias, int32_t is_program) {
  session->debugger.reply().modules.push_back({path, load_bias, is_program != 0});
}

void flamb_reply_stop(flamb_session* session, int32_t kind, uint64_t thread, int32_t code, const char* description) {
  session->debugger.reply().stop = flamb::Stop{static_cast<flamb::Stop::Kind>(kind), thread, code, description};
}
