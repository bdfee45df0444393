// SPDX-License-Identifier: Apache-2.0
// The origin of a NodeSLO's value: the values of a field in the built-in default, cluster, entry for this node, the
// NodeSLO itself and a pod's annotation, which of them counts, and why another does not. Pure. [any thread]
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/state/slo_field.hpp"
#include "core/state/snapshot.hpp"

namespace koord::state {

enum class SloOrigin : std::uint8_t { none, fallback, cluster, node, object, off, pod };
std::string_view name_of(SloOrigin origin);  // "default", "cluster", "node", "NodeSLO", "off", "pod", "" for none

struct SloLayer {
  SloOrigin origin = SloOrigin::none;
  std::string title;  // "nodeStrategies[1] 'gpu' of resource-threshold-config"
  std::string value;  // JSON; empty: it says nothing
  std::string note;   // why it says nothing or does not count
};

struct SloExplanation {
  const SloLeaf* leaf = nullptr;
  std::vector<SloLayer> layers;        // the later goes before the earlier
  SloOrigin winner = SloOrigin::none;  // none: the field has no value
  std::string value;                   // JSON of what holds; empty: none
};

// Explains fields of one snapshot, which it keeps.
class SloExplainer {
 public:
  // An error: the received text is not a NodeSLO.
  static Result<SloExplainer> make(SnapshotPtr snapshot);
  ~SloExplainer();
  SloExplainer(SloExplainer&&) noexcept;

  // `pod`: its annotations count as well; nullptr: none.
  SloExplanation explain(const SloLeaf& leaf, const Pod* pod = nullptr) const;

 private:
  struct Documents;
  explicit SloExplainer(std::unique_ptr<Documents> documents);
  std::unique_ptr<Documents> documents_;
};

}  // namespace koord::state
