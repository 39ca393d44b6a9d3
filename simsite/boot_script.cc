#include "simsite/boot_script.h"

#include <sstream>

namespace leasehold::simsite {
namespace {

Error malformed(const std::string& what) { return Error(Code::kMalformed, "boot script: " + what); }

// "initrd [--name NAME] URL"
Result<std::string> initrd_url(std::istringstream& words) {
  std::string word;
  while (words >> word) {
    if (word == "--name" || word == "-n") {
      words >> word;
    } else {
      return word;
    }
  }
  return malformed("an initrd line without a URL");
}

}  // namespace

Result<BootScript> parse_boot_script(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  if (!std::getline(lines, line) || line != "#!ipxe") return malformed("no #!ipxe line");
  BootScript script;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string command;
    if (!(words >> command) || command[0] == '#') continue;
    if (command == "kernel") {
      words >> script.kernel_url >> std::ws;
      std::getline(words, script.cmdline);
    } else if (command == "initrd") {
      std::string url = TRY(initrd_url(words));
      script.initrd_url = url;
    } else if (command == "boot") {
      if (script.kernel_url.empty()) return malformed("boot without a kernel");
      return script;
    } else {
      return malformed("unknown command " + command.substr(0, 32));
    }
  }
  return malformed("it ends without boot");
}

}  // namespace leasehold::simsite
