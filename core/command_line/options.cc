#include "core/command_line/options.h"

#include <CLI/CLI.hpp>

namespace leasehold {

std::optional<int> parse_options(int argc, char** argv, const std::string& about,
                                 const std::vector<TextOption>& texts,
                                 const std::vector<NumberOption>& numbers) {
  CLI::App app(about);
  for (const TextOption& option : texts) {
    CLI::Option* added = app.add_option(option.name, *option.value, option.help);
    if (option.required) added->required();
  }
  for (const NumberOption& option : numbers) {
    app.add_option(option.name, *option.value, option.help)
        ->check(CLI::Range(option.least, option.most));
  }
  // The library tells of --help and of wrong usage by exceptions; they end here.
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& ended) {
    return app.exit(ended);
  }
  return std::nullopt;
}

}  // namespace leasehold
