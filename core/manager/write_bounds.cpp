// SPDX-License-Identifier: Apache-2.0
#include "core/manager/write_bounds.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "core/json/members.hpp"
#include "core/json/reader.hpp"

namespace koord::manager {

void WriteBounds::overwritten(const std::string& name, const std::string& by, Time now) {
  ++total_;
  if (!by.empty()) last_writer_ = by;
  Object& object = objects_[name];
  if (object.overwrites > 0 && now - object.since >= limits_.window) object = {};
  if (object.overwrites++ == 0) object.since = now;
}

Time WriteBounds::may_write_at(const std::string& name, Time now) {
  const auto object = objects_.find(name);
  if (object == objects_.end()) return now;
  const Time end = later(object->second.since, limits_.window);
  if (now >= end) {
    objects_.erase(object);
    return now;
  }
  return object->second.overwrites < limits_.overwrites ? now : end;
}

std::size_t WriteBounds::contested(Time now) const {
  return static_cast<std::size_t>(std::count_if(objects_.begin(), objects_.end(), [&](const auto& object) {
    return object.second.overwrites >= limits_.overwrites && now < later(object.second.since, limits_.window);
  }));
}

std::string last_manager_of(std::string_view object, std::string_view own) {
  const Result<boost::json::value> document = read_json(object);
  if (!document) return {};
  std::string manager, newest;
  for (const boost::json::value& entry : json_list(json_mapping(*document, "metadata"), "managedFields")) {
    const std::string name = json_text(entry, "manager"), time = json_text(entry, "time");
    if (name.empty() || name == own || time < newest) continue;  // RFC 3339 times in UTC can be compared as text
    manager = name;
    newest = time;
  }
  return manager;
}

}  // namespace koord::manager
