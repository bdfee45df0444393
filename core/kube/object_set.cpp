// SPDX-License-Identifier: Apache-2.0
#include "core/kube/object_set.hpp"

#include <utility>

namespace koord::kube {
namespace {

std::size_t size_of(const KeptObject& object) {
  return object.name.size() + object.name_space.size() + object.uid.size() + object.resource_version.size() +
         object.text.size();
}

bool same(const KeptObjectPtr& a, const KeptObjectPtr& b) { return a->uid == b->uid && a->text == b->text; }

Difference difference(const Objects& before, const Objects& after) {
  Difference found;
  for (const auto& [key, object] : after) {
    auto old = before.find(key);
    if (old == before.end() || !same(old->second, object)) found.changed.push_back(key);
  }
  for (const auto& [key, object] : before)
    if (!after.contains(key)) found.removed.push_back(key);
  return found;
}

}  // namespace

std::string key_of(const std::string& name_space, const std::string& name) {
  return name_space.empty() ? name : name_space + '/' + name;
}

std::string key_of(const KeptObject& object) { return key_of(object.name_space, object.name); }

KeptObjectPtr keep(const ObjectView& object, const Keep& what) {
  return std::make_shared<const KeptObject>(KeptObject{object.name, object.name_space, object.uid,
                                                       object.resource_version,
                                                       what ? what(object) : std::string(object.json)});
}

Result<void> ObjectSet::check(std::size_t objects, std::size_t bytes) const {
  const bool fits = objects <= limits_.objects && bytes <= limits_.bytes;
  if (fits) return {};
  return Error{std::make_error_code(std::errc::value_too_large), "more than " + std::to_string(limits_.objects) +
                                                                     " objects or " + std::to_string(limits_.bytes) +
                                                                     " bytes of them, which is what is kept at most"};
}

Result<Difference> ObjectSet::page(std::vector<KeptObjectPtr> objects, bool first, bool last) {
  if (first) {
    coming_.clear();
    coming_bytes_ = 0;
  }
  for (KeptObjectPtr& object : objects) {
    coming_bytes_ += size_of(*object);
    coming_.insert_or_assign(key_of(*object), std::move(object));
    if (Result<void> fits = check(coming_.size(), coming_bytes_); !fits) {
      coming_.clear();
      return std::move(fits).error();
    }
  }
  if (!last) return Difference();
  Difference found = difference(objects_, coming_);
  objects_ = std::exchange(coming_, {});
  bytes_ = coming_bytes_;
  return found;
}

Result<Difference> ObjectSet::put(KeptObjectPtr object) {
  std::string key = key_of(*object);
  auto old = objects_.find(key);
  const bool is_new = old == objects_.end();
  const std::size_t bytes = bytes_ + size_of(*object) - (is_new ? 0 : size_of(*old->second));
  TRY(check(objects_.size() + (is_new ? 1 : 0), bytes));
  const bool differs = is_new || !same(old->second, object);
  bytes_ = bytes;
  objects_.insert_or_assign(key, std::move(object));
  Difference found;
  if (differs) found.changed.push_back(std::move(key));
  return found;
}

Difference ObjectSet::remove(const std::string& key) {
  auto old = objects_.find(key);
  if (old == objects_.end()) return {};
  bytes_ -= size_of(*old->second);
  objects_.erase(old);
  return {{}, {key}};
}

Difference ObjectSet::clear() {
  Difference found = difference(objects_, {});
  objects_.clear();
  coming_.clear();
  bytes_ = coming_bytes_ = 0;
  return found;
}

}  // namespace koord::kube
