// What our help texts call what CLI11 calls a subcommand. For programs with verbs: called on the
// app before its first command is added, since those inherit it.
#pragma once

#include <CLI/CLI.hpp>

namespace leasehold {

inline void use_our_words(CLI::App& app) {
  app.group("Commands");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
}

}  // namespace leasehold
