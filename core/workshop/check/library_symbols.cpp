// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/check/library_symbols.hpp"

#include <link.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>

#include "core/base/file.hpp"
#include "core/workshop/check/elf_facts.hpp"

namespace koord::check {
namespace {

// Returns the directories of our own libraries, because a plugin's libraries are loaded from the same directories.
std::vector<std::string> directories() {
  std::vector<std::string> found;
  auto add = [](dl_phdr_info* object, std::size_t, void* into) {
    const std::string folder = std::filesystem::path(object->dlpi_name).parent_path();
    auto& all = *static_cast<std::vector<std::string>*>(into);
    if (folder.starts_with('/') && std::find(all.begin(), all.end(), folder) == all.end()) all.push_back(folder);
    return 0;
  };
  ::dl_iterate_phdr(add, &found);
  for (const char* usual : {"/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"}) found.emplace_back(usual);
  return found;
}

std::optional<ElfFacts> facts_of_library(const std::string& name) {
  static const std::vector<std::string> folders = directories();
  for (const std::string& folder : folders) {
    const std::string path = name.find('/') == std::string::npos ? folder + "/" + name : name;
    if (auto content = read_file(path))
      if (auto facts = read_elf_facts(*content)) return *std::move(facts);
  }
  return std::nullopt;
}

}  // namespace

LibrarySymbols::LibrarySymbols(const std::vector<std::string>& needed) {
  std::deque<std::string> waiting(needed.begin(), needed.end());
  std::set<std::string> seen(needed.begin(), needed.end());
  for (; !waiting.empty(); waiting.pop_front()) {
    std::optional<ElfFacts> facts = facts_of_library(waiting.front());
    if (!facts) {
      missing_.push_back(waiting.front());
      continue;
    }
    for (DefinedSymbol& symbol : facts->exports) symbols_.insert(std::move(symbol.name));
    for (std::string& library : facts->needed)
      if (seen.insert(library).second) waiting.push_back(std::move(library));
  }
}

}  // namespace koord::check
