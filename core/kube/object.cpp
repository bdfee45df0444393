// SPDX-License-Identifier: Apache-2.0
#include "core/kube/object.hpp"

#include <algorithm>

#include "core/base/utf8.hpp"
#include "core/json/scanner.hpp"

namespace koord::kube {
namespace {

constexpr std::int64_t kMaxRetrySeconds = 24 * 3600;

Result<void> skip(JsonScanner& text) {
  TRY(text.value());
  return {};
}

Result<void> read_metadata(JsonScanner& text, ObjectView& object) {
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

// Accepts an object without a name, because a bookmark has no name.
Result<ObjectView> read_object(std::string_view json) {
  ObjectView object;
  object.json = json;
  JsonScanner text(json);
  TRY(text.object([&](std::string_view key) { return key == "metadata" ? read_metadata(text, object) : skip(text); }));
  TRY(text.end());
  return object;
}

// Reads as much as the text contains, because the text may be cut off.
Result<void> read_identity(JsonScanner& text, LargeObject& object, std::string& resource_version) {
  ObjectView view;
  Result<void> read = text.object([&](std::string_view key) -> Result<void> {
    if (key == "metadata") return read_metadata(text, view);
    if (key != "kind") return skip(text);
    object.kind = TRY(text.string());
    return {};
  });
  object.name = std::move(view.name);
  object.name_space = std::move(view.name_space);
  object.uid = std::move(view.uid);
  resource_version = std::move(view.resource_version);
  return read;
}

Result<LargeObject> read_large_object(std::string_view json) {
  LargeObject object;
  object.bytes = json.size();
  JsonScanner text(json);
  std::string resource_version;
  TRY(read_identity(text, object, resource_version));
  if (object.name.empty()) return invalid("an object without metadata.name");
  return object;
}

Result<void> read_list_metadata(JsonScanner& text, ListPage& page) {
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

Result<void> read_cause(JsonScanner& text, Status& status) {
  Status::Cause& cause = status.causes.emplace_back();
  return text.object([&](std::string_view key) -> Result<void> {
    if (key != "reason" && key != "message" && key != "field") return skip(text);
    (key == "reason" ? cause.reason : key == "message" ? cause.message : cause.field) = TRY(text.string());
    return {};
  });
}

Result<void> read_details(JsonScanner& text, Status& status) {
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
  const auto found =
      std::find_if(causes.begin(), causes.end(), [&](const Cause& cause) { return cause.reason == reason_of_cause; });
  return found == causes.end() ? nullptr : &*found;
}

Result<ObjectView> parse_object(std::string_view text) {
  ObjectView object = TRY(read_object(text));
  if (object.name.empty()) return invalid("an object without metadata.name");
  return object;
}

std::string describe(const LargeObject& object) {
  constexpr std::size_t kLongestName = 320;  // a namespace has up to 63 bytes, a name up to 253
  std::string name = object.name_space.empty() ? object.name : object.name_space + '/' + object.name;
  cut_utf8(name, kLongestName);
  return (object.kind.empty() ? "object" : object.kind.substr(0, 64)) + " '" + name + "': found " +
         std::to_string(object.bytes) + " bytes, expected at most " + std::to_string(kMaxObjectBytes) + ", left out";
}

Result<ListPage> parse_list(std::string_view body, std::size_t max_objects) {
  ListPage page;
  std::string kind;  // "NodeList"
  bool has_items = false;
  JsonScanner text(body);
  auto read_item = [&]() -> Result<void> {
    if (page.objects.size() == max_objects)
      return Error{std::make_error_code(std::errc::value_too_large),
                   "more than " + std::to_string(max_objects) + " objects"};
    std::string_view item = TRY(text.value());
    if (item.size() > kMaxObjectBytes) {
      page.too_large.push_back(TRY(read_large_object(item)));
      return {};
    }
    ObjectView object = TRY(parse_object(item));
    page.objects.push_back(std::move(object));
    return {};
  };
  auto read = [&](std::string_view key) -> Result<void> {
    if (key == "metadata") return read_list_metadata(text, page);
    if (key == "kind") {
      std::string_view value = TRY(text.value());
      if (value.starts_with('"')) kind = TRY(JsonScanner(value).string());
      return {};
    }
    if (key != "items") return skip(text);
    has_items = true;
    return text.array(read_item);
  };
  TRY(text.object(read));
  TRY(text.end());
  if (!has_items) return invalid("a list without items");
  if (page.resource_version.empty()) return invalid("a list without metadata.resourceVersion");
  constexpr std::string_view kList = "List";
  if (kind.ends_with(kList)) kind.resize(kind.size() - kList.size());
  for (LargeObject& object : page.too_large)
    if (object.kind.empty()) object.kind = kind;
  return page;
}

Result<Status> parse_status(std::string_view body) {
  Status status;
  std::string kind;
  JsonScanner text(body);
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
  JsonScanner text(line);
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

Result<LargeEvent> parse_large_event(std::string_view head, std::size_t bytes) {
  LargeEvent event;
  event.object.bytes = bytes;
  std::string type;
  JsonScanner text(head);
  // This fails at the end of the cut text.
  static_cast<void>(text.object([&](std::string_view key) -> Result<void> {
    if (key == "object") return read_identity(text, event.object, event.resource_version);
    if (key != "type") return skip(text);
    type = TRY(text.string());
    return {};
  }));
  event.kind = TRY(kind_of(type));
  const bool has_object = event.kind != WatchEvent::Kind::error && event.kind != WatchEvent::Kind::bookmark;
  if (!has_object || event.object.name.empty())
    return invalid("a watch's event of type " + type + " has " + std::to_string(bytes) +
                   " bytes and names no object at its beginning");
  return event;
}

}  // namespace koord::kube
