#include "coordinator/cli/table.h"

#include <algorithm>
#include <numeric>

#include "core/base/check.h"

namespace leasehold {
namespace {

constexpr size_t kGap = 2;

std::string padded(const std::string& cell, size_t width, bool right) {
  const size_t own = display_width(cell);
  const std::string blanks(width > own ? width - own : 0, ' ');
  return right ? blanks + cell : cell + blanks;
}

struct Layout {
  std::vector<size_t> shown;   // indexes of columns
  std::vector<size_t> widths;  // of each shown column

  size_t total() const {
    const size_t cells = std::accumulate(widths.begin(), widths.end(), size_t{0});
    return cells + (widths.empty() ? 0 : kGap * (widths.size() - 1));
  }
  void leave_out(size_t at) {
    shown.erase(shown.begin() + static_cast<ptrdiff_t>(at));
    widths.erase(widths.begin() + static_cast<ptrdiff_t>(at));
  }
};

// Narrower by one column of the terminal, at the widest column of the table that may be. False:
// none may. `optional` ones first, by themselves.
bool narrow(Layout& layout, const std::vector<Column>& columns, bool optional) {
  size_t widest = layout.shown.size();
  for (size_t i = 0; i < layout.shown.size(); ++i) {
    const Column& column = columns[layout.shown[i]];
    if (column.optional != optional || column.shorten == Shorten::kNever) continue;
    if (layout.widths[i] <= column.least) continue;
    if (widest == layout.shown.size() || layout.widths[i] > layout.widths[widest]) widest = i;
  }
  if (widest == layout.shown.size()) return false;
  layout.widths[widest]--;
  return true;
}

// The last column that may be left out; past the end if there is none.
size_t last_optional(const Layout& layout, const std::vector<Column>& columns) {
  for (size_t i = layout.shown.size(); i-- > 0;) {
    if (columns[layout.shown[i]].optional) return i;
  }
  return layout.shown.size();
}

// Nothing of what matters is shortened for the sake of what matters less.
void fit(Layout& layout, const std::vector<Column>& columns, size_t width) {
  while (last_optional(layout, columns) < layout.shown.size()) {
    Layout tried = layout;
    while (tried.total() > width && narrow(tried, columns, true)) {
    }
    if (tried.total() <= width) {
      layout = tried;
      return;
    }
    layout.leave_out(last_optional(layout, columns));
  }
  while (layout.total() > width && narrow(layout, columns, false)) {
  }
}

std::string table_line(const std::vector<std::string>& cells, const Layout& layout,
                       const std::vector<Column>& columns) {
  std::string line;
  for (size_t i = 0; i < layout.shown.size(); ++i) {
    const Column& column = columns[layout.shown[i]];
    const std::string cell = shortened(cells[layout.shown[i]], layout.widths[i], column.shorten);
    if (i > 0) line += std::string(kGap, ' ');
    line += padded(cell, layout.widths[i], column.right);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

// Broken at blanks; a word that is too long stays whole.
std::vector<std::string> wrapped(const std::string& text, size_t width) {
  std::vector<std::string> lines = {""};
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    std::string& line = lines.back();
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
      lines.push_back(word);
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
    begin = end + 1;
  }
  return lines;
}

}  // namespace

void Table::add(const std::vector<std::string>& cells) {
  LEASEHOLD_CHECK(cells.size() == columns_.size(), "a row has as many cells as columns");
  std::vector<std::string> row;
  for (const std::string& cell : cells) row.push_back(harmless(cell));
  rows_.push_back(std::move(row));
}

std::string Table::text(size_t width) const {
  Layout layout;
  std::vector<std::string> heads;
  for (size_t i = 0; i < columns_.size(); ++i) {
    heads.push_back(columns_[i].head);
    size_t widest = 0;
    for (const auto& row : rows_) widest = std::max(widest, display_width(row[i]));
    if (columns_[i].if_any && widest == 0) continue;
    layout.shown.push_back(i);
    layout.widths.push_back(std::max(widest, display_width(columns_[i].head)));
  }
  if (width > 0) fit(layout, columns_, width);
  std::string out = table_line(heads, layout, columns_);
  for (const auto& row : rows_) out += table_line(row, layout, columns_);
  return out;
}

std::string field_lines(const std::vector<Field>& fields, size_t width) {
  size_t names = 0;
  for (const Field& field : fields) names = std::max(names, display_width(field.name));
  const size_t indent = names + kGap;
  std::string out;
  for (const Field& field : fields) {
    const std::string value = harmless(field.value);
    std::vector<std::string> lines = {value};
    if (width > indent + 20) lines = wrapped(value, width - indent);
    for (size_t i = 0; i < lines.size(); ++i) {
      std::string line = padded(i == 0 ? field.name : "", indent, false) + lines[i];
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + "\n";
    }
  }
  return out;
}

}  // namespace leasehold
