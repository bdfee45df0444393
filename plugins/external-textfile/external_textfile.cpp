// SPDX-License-Identifier: Apache-2.0
#include "plugins/external-textfile/external_textfile.hpp"

#include <algorithm>

namespace koord::external_textfile {

bool is_ours(std::string_view name) { return name.ends_with(".prom") && !name.starts_with('.') && name.size() <= 255; }

Choice choose(const std::vector<File>& files, std::int64_t now_ns, std::int64_t max_age_ns) {
  Choice choice;
  for (const File& file : files) {
    if (!is_ours(file.name)) continue;
    if (!file.is_regular)
      ++choice.not_regular;
    else if (max_age_ns > 0 && now_ns - file.modified_ns > max_age_ns)
      choice.stale.push_back(file);
    else
      choice.read.push_back(file);
  }
  std::sort(choice.read.begin(), choice.read.end(), [](const File& a, const File& b) { return a.name < b.name; });
  if (choice.read.size() <= kMaxFiles) return choice;
  choice.too_many = choice.read.size() - kMaxFiles;
  choice.read.resize(kMaxFiles);
  return choice;
}

}  // namespace koord::external_textfile
