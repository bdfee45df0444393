// SPDX-License-Identifier: Apache-2.0
// The rules for plugins: their names, reasons and checks. One table. [any thread]
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/load/manifest.hpp"
#include "core/workshop/check/elf_facts.hpp"

namespace koord::check {

// Up to which version of the C and C++ libraries a plugin may need them: those of the oldest system it is to run on.
struct Floor {
  std::string glibc = "2.36";      // Debian 12
  std::string glibcxx = "3.4.30";  // gcc 12
  std::string cxxabi = "1.3.13";   // gcc 12
};

// The file being checked, and the findings of earlier rules.
struct Suspect {
  std::string path;  // absolute
  ElfFacts facts;
  Result<load::Manifest> manifest;
  Floor floor = {};
  std::string config_json = "{}";
  std::size_t classes = 1;
  bool sessions = false;  // it did on a host that does only what the ABI requires
  bool run_ends = false;  // a trial may start run() and will get it back

  bool has_foreign_runtime() const { return manifest && manifest->runtime != load::Runtime::native; }
};

struct Outcome {
  enum class Kind : std::uint8_t { passed, failed, not_applicable };
  Kind kind = Kind::passed;
  std::string detail;

  static Outcome failed(std::string detail) { return {Kind::failed, std::move(detail)}; }
  static Outcome not_applicable(std::string detail) { return {Kind::not_applicable, std::move(detail)}; }
  bool operator==(const Outcome&) const = default;
};

std::string_view to_string(Outcome::Kind kind);

enum class Severity : std::uint8_t {
  refused,  // an agent will not load or start it
  error,    // it can take its process along, or harm others in it
  warning,  // it works here and now
};

std::string_view to_string(Severity severity);

struct Rule {
  unsigned number;
  Severity severity;
  // file: nothing is run. gate: a file that fails it cannot be tried further.
  enum class Group : std::uint8_t { file, gate, session } group;
  std::string_view title;
  std::string_view text;  // the problem, its reason, its fix
  Outcome (*check)(Suspect&);

  std::string name() const;  // "K012"
};

std::span<const Rule> rules();

// By "K012"; nullptr: unknown.
const Rule* find_rule(std::string_view name);

}  // namespace koord::check
