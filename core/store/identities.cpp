// SPDX-License-Identifier: Apache-2.0
#include "core/store/identities.hpp"

namespace koord::store {

Identity* Identities::find(SeriesId id) {
  const auto page = pages_.find(id / kPageSeries);
  if (page == pages_.end()) return nullptr;
  Identity& identity = page->second->identities[id % kPageSeries];
  return identity.metric == 0 ? nullptr : &identity;
}

void Identities::add(SeriesId id, const Identity& identity) {
  std::unique_ptr<Page>& page = pages_[id / kPageSeries];
  if (!page) page = std::make_unique<Page>();
  page->identities[id % kPageSeries] = identity;
  ++page->used;
  ++size_;
}

void Identities::erase(SeriesId id) {
  const auto page = pages_.find(id / kPageSeries);
  page->second->identities[id % kPageSeries] = {};
  --size_;
  if (--page->second->used == 0) pages_.erase(page);
}

}  // namespace koord::store
