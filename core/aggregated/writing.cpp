// SPDX-License-Identifier: Apache-2.0
#include "core/aggregated/writing.hpp"

#include <boost/json.hpp>
#include <cstdio>
#include <string>
#include <utility>

#include "core/aggregated/patch.hpp"
#include "core/base/object_name.hpp"
#include "core/json/members.hpp"
#include "core/json/reader.hpp"

namespace koord::aggregated {
namespace {

namespace json = boost::json;

// Limit for attempts of an unconditional write that loses a race with other writes.
constexpr int kAttempts = 8;

constexpr const char* kNoVersions = "this server may give out no more versions until it has renewed its lease";
constexpr const char* kModified =
    "the object has been modified; please apply your changes to the latest version and try again";

std::uint64_t mixed(std::string_view text, std::uint64_t hash) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash ^ hash >> 29;
}

// Returns the uid of a new object. The first uid of a name depends only on the name, so it is the same after another
// replica takes over.
std::string uid_for(std::string_view name, Version deleted_before) {
  const std::string seed = std::string(name) + "/" + std::to_string(deleted_before);
  const std::uint64_t high = mixed(seed, 0xcbf29ce484222325), low = mixed(seed, high * 0x9e3779b97f4a7c15 + 1);
  char text[37];
  std::snprintf(text, sizeof text, "%08x-%04x-8%03x-%04x-%012llx", static_cast<unsigned>(high >> 32),
                static_cast<unsigned>(high >> 16 & 0xffff), static_cast<unsigned>(high & 0xfff),
                static_cast<unsigned>(0x8000 | (low >> 48 & 0x3fff)),
                static_cast<unsigned long long>(low & 0xffffffffffff));
  return text;
}

Outcome<SentObject> read_body(std::string_view body) {
  auto object = read_json_object(body, kMaxBodyBytes);
  if (!object) return bad_request("the body is not an object: " + object.error().text);
  return read_sent_object(*std::move(object));
}

std::optional<Failure> broken_precondition(const Object& current, std::string_view uid, std::string_view version) {
  if (!uid.empty() && uid != current.identifiers().uid)
    return conflict(current.name(), "Precondition failed: UID in precondition: " + std::string(uid) +
                                        ", UID in object meta: " + current.identifiers().uid);
  if (!version.empty() && version != std::to_string(current.version())) return conflict(current.name(), kModified);
  return std::nullopt;
}

Labels annotations_of(const Object& object) {
  Labels map;
  if (object.annotations().empty()) return map;
  if (const auto read = read_json_object(object.annotations()))
    for (const auto& [key, value] : *read)
      map.emplace(std::string(key.data(), key.size()), std::string(text_view(value.as_string())));
  return map;
}

Content with_status(const Object& current, std::string status) {
  return {current.labels(), annotations_of(current), std::string(current.owners()), std::string(current.spec()),
          std::move(status)};
}

bool is_same(const Object& current, const Object& next) {
  return current.labels() == next.labels() && current.annotations() == next.annotations() &&
         current.owners() == next.owners() && current.spec() == next.spec() &&
         current.kept_status() == next.kept_status();
}

Outcome<std::string> status_of(const Object& object) {
  auto status = object.status();
  if (!status) return internal_error(object.name(), status.error().message());
  return *std::move(status);
}

Outcome<SentObject> patched(const Object& current, std::string_view body, PatchType type) {
  const auto patch = read_json(body, kMaxBodyBytes);
  if (!patch) return bad_request("the patch is " + patch.error().text);
  const auto text = current.json();
  if (!text) return internal_error(current.name(), text.error().message());
  auto value = read_json(*text);
  if (!value) return internal_error(current.name(), value.error().text);
  if (type == PatchType::merge) {
    if (!patch->is_object()) return bad_request("a merge patch must be a mapping");
    apply_merge_patch(*value, *patch);
  } else if (auto applied = apply_json_patch(*value, *patch); !applied) {
    if (applied.error().is(std::errc::value_too_large)) return too_large(applied.error().text);
    return invalid_object(current.name(), {{"patch", "FieldValueInvalid", applied.error().text}});
  }
  if (!value->is_object()) return bad_request("the patch leaves no object");
  // A patch may enlarge the object by copies, so its size is limited like a body.
  SentObject sent = TRY(read_sent_object(std::move(value->get_object())));
  if (sent.name != current.name()) return bad_request("metadata.name cannot change");
  return sent;
}

}  // namespace

// Returns the completed status. `before`: the object with the replaced status, or null. A status that was damaged in
// memory counts as empty.
std::string Writing::completed(const SentObject& sent, const Object* before) const {
  if (!complete_) return sent.status;
  return complete_(sent.status, before ? before->status().value_or("") : std::string());
}

Store::Put Writing::put_status(const ObjectPtr& current, std::string status) {
  return store_.put(Object::make(current->identifiers(), with_status(*current, std::move(status)), current->cells()),
                    current);
}

Outcome<Written> Writing::publish(const Call& call, const ObjectPtr& current, const std::shared_ptr<Object>& object) {
  if (object->bytes() > kMaxObjectBytes)
    return too_large("the object has " + std::to_string(object->bytes()) + " bytes, at most " +
                     std::to_string(kMaxObjectBytes) + " are kept");
  if (current && is_same(*current, *object)) return Written{current};
  if (call.is_dry_run) {
    object->set_version(current ? current->version() : store_.newest());
    return Written{object, current == nullptr};
  }
  switch (store_.put(object, current)) {
    case Store::Put::done:
      return Written{object, current == nullptr};
    case Store::Put::full:
      return Failure{
          .code = 507, .reason = "InsufficientStorage", .message = "too many objects", .name = object->name()};
    case Store::Put::out_of_versions:
      return not_serving(kNoVersions);
    case Store::Put::raced:
      break;
  }
  if (store_.is_closed()) return not_serving("this server is no longer the leader");
  return conflict(object->name(), kModified);
}

Outcome<Written> Writing::add(const Call& call, const SentObject& sent, std::string_view status) {
  Identifiers identifiers{sent.name, uid_for(sent.name, store_.deleted_at(sent.name)),
                          clock_.wall_ns() / 1'000'000'000};
  const Content content{sent.labels, sent.annotations, sent.owners, sent.spec, std::string(status)};
  return publish(call, nullptr, Object::make(std::move(identifiers), content, status.empty() ? Cells() : sent.cells));
}

Outcome<Written> Writing::create(const Call& call, std::string_view body) {
  const SentObject sent = TRY(read_body(body));
  if (!call.only_name.empty() && sent.name != call.only_name)
    return forbidden(sent.name, "the client may write only '" + call.only_name + "'");
  if (sent.name.empty())
    return invalid_object("", {{"metadata.name", "FieldValueRequired", "Required value: name is required"}});
  if (!is_dns_subdomain(sent.name))
    return invalid_object(sent.name,
                          {{"metadata.name", "FieldValueInvalid", "Invalid value: must be a DNS subdomain"}});
  if (!sent.version.empty()) return bad_request("resourceVersion should not be set on objects to be created");
  if (store_.find(sent.name)) return already_exists(sent.name);
  auto written = add(call, sent, {});
  if (!written && written.error().code == 409) return already_exists(sent.name);
  return written;
}

Outcome<Written> Writing::replace(const Call& call, const ObjectPtr& current, const SentObject& sent) {
  if (auto broken = broken_precondition(*current, sent.uid, sent.version)) return *std::move(broken);
  // An update of the status changes only the status; any other update changes everything else.
  Content content{sent.labels, sent.annotations, sent.owners, sent.spec};
  if (call.is_status)
    content = with_status(*current, completed(sent, current.get()));
  else
    content.status = TRY(status_of(*current));
  Identifiers identifiers = current->identifiers();
  if (content.spec != current->spec()) ++identifiers.generation;
  return publish(call, current,
                 Object::make(std::move(identifiers), content, call.is_status ? sent.cells : current->cells()));
}

Outcome<Written> Writing::update(const Call& call, std::string_view body) {
  SentObject sent = TRY(read_body(body));
  if (sent.name.empty()) sent.name = call.name;
  if (sent.name != call.name)
    return bad_request("the name of the object (" + sent.name + ") does not match the name on the URL (" + call.name +
                       ")");
  for (int attempt = 0;; ++attempt) {
    const ObjectPtr current = store_.find(call.name);
    const bool may_create = call.is_status && sent.version.empty() && sent.uid.empty() && is_dns_subdomain(call.name);
    if (!current && !may_create) return no_such_object(call.name);
    auto written = current ? replace(call, current, sent) : add(call, sent, completed(sent, nullptr));
    const bool is_overtaken = !written && written.error().code == 409 && sent.version.empty() && sent.uid.empty();
    if (!is_overtaken || attempt == kAttempts) return written;
  }
}

Outcome<Written> Writing::patch(const Call& call, std::string_view body, PatchType type) {
  for (int attempt = 0;; ++attempt) {
    const ObjectPtr current = store_.find(call.name);
    if (!current) return no_such_object(call.name);
    const SentObject sent = TRY(patched(*current, body, type));
    auto written = replace(call, current, sent);
    // A patch that sets a wrong resourceVersion also fails with 409, but in that case the object has not changed. So
    // the patch is not retried.
    const bool is_overtaken = !written && written.error().code == 409 && store_.find(call.name) != current;
    if (!is_overtaken || attempt == kAttempts) return written;
  }
}

Outcome<ObjectPtr> Writing::remove(const Call& call, std::string_view body) {
  json::value options = json::object();
  if (!body.empty()) {
    auto read = read_json_object(body, kMaxBodyBytes);
    if (!read) return bad_request("the body is no DeleteOptions: " + read.error().text);
    options = *std::move(read);
  }
  const json::value& preconditions = json_mapping(options, "preconditions");
  for (int attempt = 0;; ++attempt) {
    const ObjectPtr current = store_.find(call.name);
    if (!current) return no_such_object(call.name);
    const std::string uid = json_text(preconditions, "uid"), version = json_text(preconditions, "resourceVersion");
    if (auto broken = broken_precondition(*current, uid, version)) return *std::move(broken);
    if (call.is_dry_run || !json_list(options, "dryRun").empty()) return current;
    if (const ObjectPtr last = store_.remove(current)) return last;
    if (store_.is_closed()) return not_serving("this server is no longer the leader");
    if (!store_.has_versions()) return not_serving(kNoVersions);
    if (attempt == kAttempts) return conflict(call.name, kModified);
  }
}

}  // namespace koord::aggregated
