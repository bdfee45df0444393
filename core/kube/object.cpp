// SPDX-License-Identifier: Apache-2.0
#include "core/kube/object.hpp"

#include <algorithm>

#include "core/kube/json_text.hpp"

namespace koord::kube {
namespace {

constexpr std::int64_t kMaxRetrySeconds = 24 * 3600;

Result<void> skip(JsonText& text) {
  TRY(text.value());
  return {};
}

Result<void> read_metadata(JsonText& text, ObjectView& object) {
  return text.object([&](std::string_view key) -> Result<void> {
    if (key == "name") {
      object.name = TRY(text.string());
    } else if (key == "namespace") {
      object.name_space = TRY(text.string());
    } else if (key == "uid") {
      object.uid = TRY(text.string());
    } else if (key == "resourceVersion") {
      object.resource_version = TRY(text.string());
    } else {
      return skip(text);
    }
    return {};
  });
}

// Accepts an object without a name: a bookmark has no name.
Result<ObjectView> read_object(std::string_view json) {
  ObjectView object;
  object.json = json;
  JsonText text(json);
  TRY(text.object([&](std::string_view key) { return key == "metadata" ? read_metadata(text, object) : skip(text); }));
  TRY(text.end());
  return object;
}

Result<void> read_list_metadata(JsonText& text, ListPage& page) {
  return text.object([&](std::string_view key) -> Result<void> {
    if (key == "resourceVersion") {
      page.resource_version = TRY(text.string());
    } else if (key == "continue") {
      page.continuation = TRY(text.string());
    } else {
      return skip(text);
    }
    return {};
  });
}

Result<void> read_cause(JsonText& text, Status& status) {
  Status::Cause& cause = status.causes.emplace_back();
  return text.object([&](std::string_view key) -> Result<void> {
    if (key != "reason" && key != "message" && key != "field") return skip(text);
    (key == "reason" ? cause.reason : key == "message" ? cause.message : cause.field) = TRY(text.string());
    return {};
  });
}

Result<void> read_details(JsonText& text, Status& status) {
  return text.object([&](std::string_view key) -> Result<void> {
    if (key == "causes") return text.array([&] { return read_cause(text, status); });
    if (key == "name") {
      status.name = TRY(text.string());
      return {};
    }
    if (key != "retryAfterSeconds") return skip(text);
    std::optional<std::int64_t> seconds = TRY(text.integer());
    if (seconds && *seconds > 0) status.retry_after = std::chrono::seconds(std::min(*seconds, kMaxRetrySeconds));
    return {};
  });
}

Result<WatchEvent::Kind> kind_of(std::string_view type) {
  if (type == "ADDED") return WatchEvent::Kind::added;
  if (type == "MODIFIED") return WatchEvent::Kind::modified;
  if (type == "DELETED") return WatchEvent::Kind::deleted;
  if (type == "BOOKMARK") return WatchEvent::Kind::bookmark;
  if (type == "ERROR") return WatchEvent::Kind::error;
  return invalid("a watch's event of type '" + std::string(type.substr(0, 64)) +
                 "', expected ADDED, MODIFIED, DELETED, BOOKMARK or ERROR");
}

}  // namespace

const Status::Cause* Status::find_cause(std::string_view reason_of_cause) const {
  const auto found = std::find_if(causes.begin(), causes.end(), [&](const Cause& cause) { return cause.reason == reason_of_cause; });
  return found == causes.end() ? nullptr : &*found;
}

Result<ObjectView> parse_object(std::string_view text) {
  ObjectView object = TRY(read_object(text));
  if (object.name.empty()) return invalid("an object without metadata.name");
  return object;
}

Result<ListPage> parse_list(std::string_view body, std::size_t max_objects) {
  ListPage page;
  bool has_items = false;
  JsonText text(body);
  auto read_item = [&]() -> Result<void> {
    if (page.objects.size() == max_objects)
      return Error{std::make_error_code(std::errc::value_too_large), "more than " + std::to_string(max_objects) + " objects"};
    std::string_view item = TRY(text.value());
    ObjectView object = TRY(parse_object(item));
    page.objects.push_back(std::move(object));
    return {};
  };
  auto read = [&](std::string_view key) -> Result<void> {
    if (key == "metadata") return read_list_metadata(text, page);
    if (key != "items") return skip(text);
    has_items = true;
    return text.array(read_item);
  };
  TRY(text.object(read));
  TRY(text.end());
  if (!has_items) return invalid("a list without items");
  if (page.resource_version.empty()) return invalid("a list without metadata.resourceVersion");
  return page;
}

Result<Status> parse_status(std::string_view body) {
  Status status;
  std::string kind;
  JsonText text(body);
  auto read = [&](std::string_view key) -> Result<void> {
    if (key == "kind") {
      kind = TRY(text.string());
    } else if (key == "message") {
      status.message = TRY(text.string());
    } else if (key == "status") {
      status.status = TRY(text.string());
    } else if (key == "reason") {
      status.reason = TRY(text.string());
    } else if (key == "code") {
      status.code = TRY(text.integer()).value_or(0);
    } else if (key == "details") {
      return read_details(text, status);
    } else {
      return skip(text);
    }
    return {};
  };
  TRY(text.object(read));
  TRY(text.end());
  if (kind != "Status") return invalid("an object of kind '" + kind.substr(0, 64) + "', expected Status");
  return status;
}

Result<WatchEvent> parse_watch_event(std::string_view line) {
  std::string type;
  std::optional<std::string_view> object;
  JsonText text(line);
  auto read = [&](std::string_view key) -> Result<void> {
    if (key == "type") {
      type = TRY(text.string());
    } else {
      std::string_view value = TRY(text.value());
      if (key == "object") object = value;
    }
    return {};
  };
  TRY(text.object(read));
  TRY(text.end());
  WatchEvent event;
  event.kind = TRY(kind_of(type));
  if (!object) return invalid("a watch's event of type " + type + " without an object");
  if (event.kind == WatchEvent::Kind::error) {
    event.status = TRY(parse_status(*object));
    return event;
  }
  event.object = TRY(read_object(*object));
  if (event.object.resource_version.empty())
    return invalid("a watch's event of type " + type + " with an object without resourceVersion");
  if (event.kind != WatchEvent::Kind::bookmark && event.object.name.empty())
    return invalid("a watch's event of type " + type + " with an object without a name");
  return event;
}

}  // namespace koord::kube
