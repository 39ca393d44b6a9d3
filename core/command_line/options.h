// The command line of a program that has options and no verbs: texts, whole numbers, and --help.
// One place, because the library behind it is slow to compile. Called by main() before anything
// else; prints what is wrong with the usage to stderr, help to stdout.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace leasehold {

struct TextOption {
  std::string name;  // "--config"
  std::string help;
  std::string* value = nullptr;
  bool required = false;
};

// Never required: `value` keeps what it holds if the option is not given.
struct NumberOption {
  std::string name;
  std::string help;
  int* value = nullptr;
  int least = 0;
  int most = 0;
};

// An exit code if the program must end now: after --help, or because the usage is wrong.
std::optional<int> parse_options(int argc, char** argv, const std::string& about,
                                 const std::vector<TextOption>& texts,
                                 const std::vector<NumberOption>& numbers = {});

}  // namespace leasehold
