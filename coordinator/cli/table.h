// A plain table: columns as wide as their widest cell, two spaces between, no lines. Towards a
// terminal it is fitted to the width: what matters less is shortened, then left out, before what
// matters is shortened; elsewhere everything is written whole. Values only.
#pragma once

#include <string>
#include <vector>

#include "coordinator/cli/text.h"

namespace leasehold {

struct Column {
  std::string head;
  Shorten shorten = Shorten::kNever;
  size_t least = 8;       // columns below which it is not shortened
  bool optional = false;  // left out if the table does not fit; the last such column goes first
  bool if_any = false;    // left out if every cell is empty
  bool right = false;     // numbers
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // As many cells as columns; made harmless here.
  void add(const std::vector<std::string>& cells);
  bool empty() const { return rows_.empty(); }
  // `width` in columns, 0: any. Ends with a newline; no line ends with blanks.
  std::string text(size_t width) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// "name  value" lines with one column of names; a value that goes over its line is continued
// beneath itself. An empty name continues the former. Values are made harmless here.
struct Field {
  std::string name;
  std::string value;
};
std::string field_lines(const std::vector<Field>& fields, size_t width);

}  // namespace leasehold
