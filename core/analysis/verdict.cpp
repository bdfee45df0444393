// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/verdict.hpp"

#include <algorithm>

namespace koord::analysis {

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::none:
      return "none";
    case Kind::interfered:
      return "interfered";
    case Kind::self_quota:
      return "self-quota";
    case Kind::self_threads:
      return "self-threads";
    case Kind::shared_parent:
      return "shared-parent";
    case Kind::self_memory_limit:
      return "self-memory-limit";
  }
  return "none";
}

std::string_view name_of(Method method) {
  switch (method) {
    case Method::exact:
      return "exact";
    case Method::estimated:
      return "estimated";
    case Method::suspected:
      return "suspected";
  }
  return "suspected";
}

Suspect& suspect_in(std::vector<Suspect>& suspects, SuspectKind kind, Subject subject) {
  const auto known = std::find_if(suspects.begin(), suspects.end(), [&](const Suspect& suspect) {
    return suspect.kind == kind && suspect.subject == subject;
  });
  return known != suspects.end() ? *known : suspects.emplace_back(Suspect{kind, subject, 0, 0});
}

void sort_by_wait(std::vector<Suspect>& suspects) {
  std::stable_sort(suspects.begin(), suspects.end(),
                   [](const Suspect& a, const Suspect& b) { return a.waited > b.waited; });
}

}  // namespace koord::analysis
