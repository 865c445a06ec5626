#pragma once

#include <optional>
#include <string>

namespace flamb {

// The address at which an installed speedscope shows a file: what its own command hands to the desktop's opener, which
// goes by $BROWSER only where it finds nothing else, and may drop the part that names the file. `command` is the path
// of that command. Writes a script beside the system's other temporary files, as the command does. Nothing where
// speedscope is not laid out as npm installs it, or the script cannot be written.
std::optional<std::string> speedscope_page(const std::string& command, const std::string& file);

}  // namespace flamb
