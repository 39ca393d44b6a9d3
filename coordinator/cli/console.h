// Where a command prints and asks, and how its errors look. Made by main() for the one command of
// the process; tests give it streams of their own. An answer goes to `out`, everything that is not
// the answer (errors, "waiting for the coordinator") to `err`.
#pragma once

#include <iosfwd>
#include <string>

#include "coordinator/cli/table.h"
#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/result.h"

namespace leasehold {

inline constexpr int kExitDone = 0;
inline constexpr int kExitRefused = 1;  // refused, or failed
inline constexpr int kExitUsage = 2;

struct Console {
  std::ostream& out;
  std::ostream& err;
  std::istream* answers = nullptr;  // somebody at a terminal, or null: nobody can be asked
  size_t width = 0;                 // of the terminal behind `out`; 0: none, nothing is shortened
  bool json = false;
  Clock& clock;

  void print(const std::string& text) const;
  // One document, indented; print_json_line: on a line of its own, at once.
  void print_json(const Json& document) const;
  void print_json_line(const Json& document) const;
  // The table, or `none` if it has no row.
  void print_table(const Table& table, const std::string& none) const;
  void print_fields(const std::vector<Field>& fields) const;
  // One line on stderr that is no error.
  void note(const std::string& text) const;
  std::string time(const std::string& rfc3339) const;       // short, for tables
  std::string time_long(const std::string& rfc3339) const;  // with its zone
};

// An error that somebody else answered, with what its code tells an operator to do next. Our own
// messages say that themselves.
Error advised(Error error);
// "leasehold: <what> (<CODE>, field <field>)" and beneath it what is advised; with `json` one
// object
// {"code","message","field","next"}. Ends with a newline.
std::string error_text(const Error& error, bool json);
// 2 for INVALID_INPUT: what was typed, or the file that was named, is wrong. Else 1.
int exit_code_of(const Error& error);

// Goes on only if somebody types `word`, unless `yes` was given. INVALID_INPUT if nobody can be
// asked, STOPPED if another word came.
Status confirm(const Console& console, bool yes, const std::string& what, const std::string& word);

}  // namespace leasehold
