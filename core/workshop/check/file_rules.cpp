// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/check/file_rules.hpp"

#include <algorithm>
#include <vector>

#include "core/base/parse.hpp"
#include "core/workshop/check/library_symbols.hpp"

namespace koord::check {
namespace {

constexpr std::string_view kEntry = "koord_entry_v1";
constexpr std::size_t kMostNamed = 3;

// Returns "a, b, c and 4 more".
std::string name_some(const std::vector<std::string>& names) {
  std::vector<std::string> first(names.begin(),
                                 names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMostNamed)));
  std::string text = join(first, ", ");
  if (names.size() > kMostNamed) text += " and " + std::to_string(names.size() - kMostNamed) + " more";
  return text;
}

Outcome fails_if_any(const std::vector<std::string>& found, const std::string& what) {
  return found.empty() ? Outcome{} : Outcome::failed(what + name_some(found));
}

bool is_unique(const ElfFacts& facts, const std::string& symbol) {
  return std::find(facts.unique.begin(), facts.unique.end(), symbol) != facts.unique.end();
}

std::vector<std::uint64_t> numbers_of(std::string_view version) {
  std::vector<std::uint64_t> numbers;
  while (auto part = next_field(version, '.')) numbers.push_back(parse_uint(*part).value_or(UINT64_MAX));
  return numbers;
}

// Returns the floor for a version such as "GLIBC_2.34"; "" if the version is not compared.
std::string_view floor_for(std::string_view prefix, const Floor& floor) {
  if (prefix == "GLIBC") return floor.glibc;
  if (prefix == "GLIBCXX") return floor.glibcxx;
  if (prefix == "CXXABI") return floor.cxxabi;
  return {};
}

// Returns the number of the release that added a version. It is part of the version, except for packed
// relocations.
std::string_view release_of(std::string_view version, std::size_t line) {
  return version == "GLIBC_ABI_DT_RELR" ? "2.36" : version.substr(line + 1);
}

bool is_above(const std::string& version, const Floor& floor) {
  const std::size_t line = version.find('_');
  if (line == std::string::npos) return false;
  const std::string_view highest = floor_for(std::string_view(version).substr(0, line), floor);
  // Versions such as "PRIVATE" are above every number, so no plugin may use them.
  return !highest.empty() && numbers_of(highest) < numbers_of(release_of(version, line));
}

}  // namespace

Outcome exports_its_entry_alone(Suspect& suspect) {
  std::vector<std::string> others;
  bool has_entry = false;
  for (const DefinedSymbol& symbol : suspect.facts.exports) {
    if (symbol.name == kEntry && symbol.is_function)
      has_entry = true;
    else if (!is_unique(suspect.facts, symbol.name))  // a separate rule checks this
      others.push_back(symbol.name);
  }
  if (!has_entry) return Outcome::failed("it does not export the function koord_entry_v1");
  return fails_if_any(others, "it exports besides koord_entry_v1: ");
}

Outcome has_no_unique_symbols(Suspect& suspect) { return fails_if_any(suspect.facts.unique, "GNU_UNIQUE: "); }

Outcome finds_every_symbol(Suspect& suspect) {
  const LibrarySymbols libraries(suspect.facts.needed);
  if (!libraries.missing().empty()) return fails_if_any(libraries.missing(), "needed and not on this machine: ");
  std::vector<std::string> nowhere;
  for (const WantedSymbol& symbol : suspect.facts.wanted)
    if (!symbol.weak && !libraries.has(symbol.name)) nowhere.push_back(symbol.name);
  const std::string in = suspect.facts.needed.empty() ? "no library" : join(suspect.facts.needed, ", ");
  return fails_if_any(nowhere, "it needs " + in + "; not found there: ");
}

Outcome runs_on_the_oldest_system(Suspect& suspect) {
  std::vector<std::string> above;
  for (const WantedVersion& wanted : suspect.facts.versions) {
    if (!is_above(wanted.version, suspect.floor)) continue;
    auto symbol = std::find_if(suspect.facts.wanted.begin(), suspect.facts.wanted.end(),
                               [&](const WantedSymbol& one) { return one.version == wanted.version; });
    above.push_back(wanted.version + (symbol == suspect.facts.wanted.end() ? "" : " (" + symbol->name + ")"));
  }
  return fails_if_any(above, "expected at most GLIBC_" + suspect.floor.glibc + ", GLIBCXX_" + suspect.floor.glibcxx +
                                 " and CXXABI_" + suspect.floor.cxxabi + ", found ");
}

Outcome has_no_text_relocations(Suspect& suspect) {
  return suspect.facts.text_relocations ? Outcome::failed("its code is changed when it is loaded (TEXTREL)")
                                        : Outcome{};
}

Outcome has_no_executable_stack(Suspect& suspect) {
  return suspect.facts.executable_stack
             ? Outcome::failed("it asks for an executable stack, or does not say that it needs none")
             : Outcome{};
}

Outcome is_bound_at_load(Suspect& suspect) {
  if (!suspect.facts.bound_at_load) return Outcome::failed("it is bound lazily: link with -z now");
  if (!suspect.facts.read_only_relocations) return Outcome::failed("it has no GNU_RELRO segment: link with -z relro");
  return {};
}

Outcome brings_no_search_path(Suspect& suspect) {
  return suspect.facts.run_path.empty() ? Outcome{}
                                        : Outcome::failed("its run path is '" + suspect.facts.run_path + "'");
}

Outcome has_a_manifest(Suspect& suspect) {
  if (!suspect.manifest) return Outcome::failed(suspect.manifest.error().message());
  if (auto compatible = load::check_compatible(*suspect.manifest); !compatible)
    return Outcome::failed(compatible.error().message());
  return {};
}

Outcome unwinds_its_panics(Suspect& suspect) {
  const ElfFacts& facts = suspect.facts;
  if (facts.comment.find("rustc version") == std::string::npos)
    return Outcome::not_applicable("nothing of it was compiled by rustc");
  const bool can_raise = std::any_of(facts.wanted.begin(), facts.wanted.end(), [](const WantedSymbol& symbol) {
    return symbol.name == "_Unwind_RaiseException";
  });
  return can_raise ? Outcome{} : Outcome::failed("compiled by rustc, and nothing in it raises: built with panic=abort");
}

}  // namespace koord::check
