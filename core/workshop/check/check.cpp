// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/check/check.hpp"

#include <filesystem>

#include "core/base/file.hpp"

namespace koord::check {
namespace {

Result<Suspect> examine(const std::string& path, const CheckOptions& options) {
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error);
  const std::string content = TRY(read_file(absolute));
  ElfFacts facts = TRY(read_elf_facts(content));
  return Suspect{absolute, std::move(facts), load::read_manifest(absolute), options.floor, options.config_json};
}

}  // namespace

Result<void> check_plugin(const std::string& path, const CheckOptions& options,
                          const std::function<void(const Rule&, const Outcome&)>& report) {
  Result<Suspect> suspect = examine(path, options);
  if (!suspect) return std::move(suspect).error().context("'" + path + "'");
  std::string closed;  // name of the failed gate rule
  for (const Rule& rule : rules()) {
    const bool runs = rule.group == Rule::Group::session || rule.number > 10;
    Outcome outcome;
    if (runs && options.file_only)
      outcome = Outcome::not_applicable("nothing of the file is run");
    else if (runs && !closed.empty())
      outcome = Outcome::not_applicable(closed + " stands before it");
    else
      outcome = rule.check(*suspect);
    if (rule.group == Rule::Group::gate && outcome.kind == Outcome::Kind::failed && closed.empty())
      closed = rule.name();
    report(rule, outcome);
  }
  return {};
}

}  // namespace koord::check
