// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/object.hpp"

#include <cassert>
#include <cstdio>
#include <utility>

#include "core/aggregated/names.hpp"
#include "core/base/timestamp.hpp"
#include "core/json/writer.hpp"

namespace koord::aggregated {
namespace {

std::string text_map_json(const Labels& map) {
  JsonWriter json;
  json.begin_object();
  for (const auto& [key, value] : map) json.member(key, value);
  return json.end_object().text();
}

}  // namespace

// Builds the head. Its final size is reserved first.
class Object::Encoder {
 public:
  explicit Encoder(Object& object) : object_(object) {}

  void encode(const Content& content) {
    const std::string labels = content.labels.empty() ? "" : text_map_json(content.labels);
    const std::string annotations = content.annotations.empty() ? "" : text_map_json(content.annotations);
    std::string begin =
        "{\"kind\":\"" + std::string(kKind) + "\",\"apiVersion\":\"" + std::string(kApiVersion) + "\",\"metadata\":";
    const std::string metadata = fixed_metadata();
    object_.head_.reserve(begin.size() + metadata.size() + labels.size() + annotations.size() + content.owners.size() +
                          content.spec.size() + kMemberNames);
    append(begin);
    const std::size_t start = object_.head_.size();
    object_.version_at_ = static_cast<std::uint32_t>(start + metadata.find(kNoVersion));
    append(metadata);
    member("labels", labels);
    object_.annotations_ = member("annotations", annotations);
    object_.owners_ = member("ownerReferences", content.owners);
    append("}");
    object_.metadata_ = {static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(object_.head_.size() - start)};
    object_.spec_ = member("spec", content.spec);
    if (!content.status.empty()) append(",\"status\":");
    object_.status_ = CompressedText(content.status);
    object_.plain_status_ = content.status;
  }

 private:
  static constexpr std::string_view kNoVersion = "0000000000000000";
  static constexpr std::size_t kMemberNames = 80;

  // Returns the constant part of the metadata, without the closing brace.
  std::string fixed_metadata() const {
    const Identifiers& is = object_.identifiers_;
    return "{\"name\":" + json_quote(is.name) + ",\"uid\":" + json_quote(is.uid) + ",\"resourceVersion\":\"" +
           std::string(kNoVersion) + "\",\"generation\":" + std::to_string(is.generation) +
           ",\"creationTimestamp\":\"" + format_timestamp(is.created_seconds) + "\"";
  }

  void append(std::string_view text) { object_.head_ += text; }

  Part member(std::string_view name, std::string_view value) {
    if (value.empty()) return {};
    append(",\"");
    append(name);
    append("\":");
    const auto at = static_cast<std::uint32_t>(object_.head_.size());
    append(value);
    return {at, static_cast<std::uint32_t>(value.size())};
  }

  Object& object_;
};

std::shared_ptr<Object> Object::make(Identifiers identifiers, const Content& content, Cells cells) {
  auto object = std::make_shared<Object>();
  object->identifiers_ = std::move(identifiers);
  object->labels_ = content.labels;
  object->cells_ = std::move(cells);
  Encoder(*object).encode(content);
  return object;
}

std::shared_ptr<Object> Object::copy() const { return std::make_shared<Object>(*this); }

void Object::set_version(Version version) {
  char digits[kVersionDigits + 1];
  std::snprintf(digits, sizeof digits, "%016llu", static_cast<unsigned long long>(version));
  head_.replace(version_at_, kVersionDigits, digits, kVersionDigits);
  version_ = version;
}

Result<std::string> Object::status() const {
  Result<std::string> text = status_.text();
  if (!text) return std::move(text).error().context("status of NodeMetric '" + name() + "'");
  return text;
}

std::string Object::event_text_with(std::string_view status) const {
  std::string text;
  text.reserve(bytes());
  text += head_;
  text += status;
  text += kEnd;
  text += kEventEnd;
  return text;
}

std::string Object::take_event_text() { return event_text_with(std::exchange(plain_status_, {})); }

Result<std::string> Object::event_text() const { return event_text_with(TRY(status())); }

Result<std::string> Object::json() const {
  std::string text = TRY(event_text());
  text.resize(text.size() - kEventEnd.size());
  return text;
}

std::string_view PlainObject::json() const {
  return std::string_view(*event_text).substr(0, event_text->size() - Object::kEventEnd.size());
}

std::string_view PlainObject::status() const {
  return std::string_view(*event_text).substr(object->head_.size(), object->status_.size());
}

}  // namespace koord::aggregated
