// SPDX-License-Identifier: Apache-2.0
#include "core/metric/own_labels.hpp"

#include <utility>

#include "core/metric/text_writer.hpp"

namespace koord::metric {

const OwnLabels* OwnLabelsPool::take(Labels labels, bool first) {
  if (labels.empty()) return nullptr;
  auto [set, is_new] = sets_.try_emplace(render_labels(labels, first));
  if (is_new) {
    set->second.labels = std::move(labels);
    set->second.text = set->first;
  }
  ++set->second.users;
  return &set->second;
}

const OwnLabels* OwnLabelsPool::share(const OwnLabels* own) {
  if (own) ++sets_.find(std::string(own->text))->second.users;
  return own;
}

void OwnLabelsPool::release(const OwnLabels* own) {
  if (!own) return;
  auto set = sets_.find(std::string(own->text));
  if (--set->second.users == 0) sets_.erase(set);
}

}  // namespace koord::metric
