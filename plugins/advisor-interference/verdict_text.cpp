// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/verdict_text.hpp"

#include "plugins/advisor-interference/resource_text.hpp"

#include <array>
#include <cstdio>
#include <numeric>

namespace koord::interference {
namespace {

using analysis::Statistic;
using analysis::Suspect;
using analysis::SuspectKind;
using analysis::Verdict;

constexpr std::size_t kSuspectsInText = 3;

std::string number(double value, const char* unit) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), value < 10 ? "%.1f %s" : "%.0f %s", value, unit);
  return text.data();
}

std::string percent(double share) { return number(100 * share, "%"); }
std::string milliseconds(double share) { return number(1000 * share, "ms/s"); }

std::string figure(const Statistic& statistic) {
  if (std::string text = figure_of_resource(statistic); !text.empty()) return text;
  if (statistic.name == "throttled")
    return "its CPU quota takes " + milliseconds(statistic.value) + " from it (limit " +
           milliseconds(statistic.threshold) + ")";
  if (statistic.name == "throttled_by_others")
    return "a CPU quota above it, which others use up, takes " + milliseconds(statistic.value) + " from it (limit " +
           milliseconds(statistic.threshold) + ")";
  const std::string limit = "limit " + percent(statistic.threshold) + ")";
  if (statistic.name == "lost_throughput")
    return "others take " + percent(statistic.value) + " of its throughput (" + limit;
  const std::string share =
      "a request finds it held up for more than 1 ms during " + percent(statistic.value) + " of the time";
  if (statistic.name == "held_up") return share + ", behind its own threads (" + limit;
  return share + " (quiet " + percent(statistic.baseline) + ", " + limit;
}

// Threads do not wait for a cache. A suspect of this statistic is a container with usage that correlates with the
// victim's CPI.
constexpr std::string_view kCpi = "cycles_per_instruction";

std::string part_of(const Suspect& suspect, const Statistic& statistic, const std::string& share) {
  if (statistic.name == kCpi) return " (" + share + " of the change, uses " + number(suspect.usage, "CPUs") + ")";
  return " " + milliseconds(suspect.waited) + " (" + share + ", +" + milliseconds(suspect.over_quiet()) +
         " over quiet)";
}

std::string name_of_suspect(const Suspect& suspect, const NameOf& name_of) {
  if (suspect.kind == SuspectKind::kernel) return "kernel threads";
  if (suspect.kind == SuspectKind::outside) return "outside pods";
  const std::string name = name_of(suspect.subject);
  return name.empty() ? "a container that has ended" : name;
}

}  // namespace

std::string describe(const Verdict& verdict, const NameOf& name_of) {
  double all = verdict.self + verdict.unexplained;
  for (const Suspect& suspect : verdict.suspects) all += suspect.waited;
  std::string text = figure(verdict.statistic);
  const std::string relation = verdict.statistic.name == kCpi ? "; rises with " : "; waited for ";
  const std::size_t n = std::min(verdict.suspects.size(), kSuspectsInText);
  for (std::size_t i = 0; i < n; ++i) {
    const Suspect& suspect = verdict.suspects[i];
    text += (i == 0 ? relation : ", ") + name_of_suspect(suspect, name_of) +
            part_of(suspect, verdict.statistic, percent(suspect.waited / all));
  }
  if (verdict.suspects.size() > n) text += ", …";
  text += "; " + std::to_string(verdict.windows_over) + " of " + std::to_string(verdict.windows_seen) + " windows; ";
  return text + std::string(analysis::name_of(verdict.method));
}

}  // namespace koord::interference
