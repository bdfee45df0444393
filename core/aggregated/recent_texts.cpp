// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/recent_texts.hpp"

#include <utility>

namespace koord::aggregated {

void RecentTexts::add(Object& object) {
  keep(object.version(), std::make_shared<const std::string>(object.take_event_text()));
}

Result<PlainObject> RecentTexts::plain(const ObjectPtr& object) {
  const Version version = object->version();
  {
    const std::scoped_lock lock(mutex_);
    const Recent& place = recent_[version % kObjects];
    if (place.version == version) return PlainObject{object, place.text};
  }
  const auto text = std::make_shared<const std::string>(TRY(object->event_text()));
  keep(version, text);
  return PlainObject{object, text};
}

// Keeps a text, unless its slot has a newer one.
void RecentTexts::keep(Version version, std::shared_ptr<const std::string> text) {
  if (text->size() > kMostBytes) return;
  const std::scoped_lock lock(mutex_);
  Recent& place = recent_[version % kObjects];
  if (place.version >= version) return;
  place.version = version;
  std::swap(place.text, text);  // the older text is freed after the lock is released
}

}  // namespace koord::aggregated
