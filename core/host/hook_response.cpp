// SPDX-License-Identifier: Apache-2.0
#include "core/host/hook_response.hpp"

#include <algorithm>

#include "core/host/hook_fields.hpp"
#include "core/host/hook_paths.hpp"
#include "core/host/hook_text.hpp"
#include "core/service/arguments.hpp"

namespace koord::host {
namespace {

// Runs `body`. No exception reaches the plugin.
template <class Body>
koord_status with(const koord_hook_response* response, Body&& body) noexcept {
  if (!response || !response->impl) return KOORD_E_INVALID;
  try {
    return body(*static_cast<HookResponse*>(response->impl));
  } catch (...) {
    return KOORD_E_NOMEM;
  }
}

}  // namespace

HookResponse::HookResponse(const koord_host* host, HookReach reach)
    : host_(host),
      reach_(reach),
      table_{sizeof(koord_hook_response),
             0,
             this,
             [](const koord_hook_response* response, koord_str field, koord_str value) {
               return with(response, [&](HookResponse& self) { return self.set(field, value); });
             },
             [](const koord_hook_response* response, koord_str why) {
               return with(response, [&](HookResponse& self) { return self.reject(why); });
             },
             [](const koord_hook_response* response, koord_str field, double factor) {
               return with(response, [&](HookResponse& self) { return self.scale(field, factor); });
             }} {}

koord_status HookResponse::fail(koord_status status, const std::string& why) const {
  if (host_) host_->set_error(host_, status, {why.data(), why.size()});
  return status;
}

koord_status HookResponse::refused_late() const {
  return fail(KOORD_E_DEADLINE, "the request has been answered without this hook");
}

koord_status HookResponse::set(koord_str field, koord_str value) {
  Result<std::string_view> name = service::name_argument(field, "field");
  if (!name) return refuse(KOORD_E_INVALID, name.error().message());
  Result<std::string_view> text = service::text_argument(value, "value");
  if (!text) return refuse(KOORD_E_INVALID, text.error().message());
  if (Result<void> sound = check_hook_field(*name, *text); !sound)
    return refuse(KOORD_E_INVALID, sound.error().message());
  if (Result<void> granted = check_reach(*name); !granted) return refuse(KOORD_E_DENIED, granted.error().message());
  std::lock_guard lock(mutex_);
  if (closed_) return refused_late();
  auto& fields = settings_.fields;
  auto before = std::find_if(fields.begin(), fields.end(), [&](const auto& known) { return known.first == *name; });
  if (before == fields.end() && fields.size() == kMostFields)
    return fail(KOORD_E_AGAIN, "a hook sets at most " + std::to_string(kMostFields) + " fields");
  if (!take_room(name->size() + text->size(), before == fields.end() ? 0 : name->size() + before->second.size()))
    return fail(KOORD_E_AGAIN, "the fields of a hook have at most " + std::to_string(kMostBytes) + " bytes");
  if (before != fields.end()) return before->second = *text, KOORD_OK;
  fields.emplace_back(*name, *text);
  return KOORD_OK;
}

Result<void> HookResponse::check_reach(std::string_view field) const {
  const bool is_device = field.starts_with(kDeviceField), is_mount = field.starts_with(kMountField);
  if ((!is_device || reach_.devices) && (!is_mount || reach_.mounts)) return {};
  const std::string grant = is_device ? "device" : "mount";
  return invalid("the fields " + grant + ": need " + grant + " in plugins.settings.ID.hookFields");
}

// Logs one line for each answer. The operator must see that a part of the answer is missing, and which grant it needs,
// even if the hook does not report it.
koord_status HookResponse::refuse(koord_status status, const std::string& why) {
  bool is_first = false;
  {
    std::lock_guard lock(mutex_);
    is_first = !std::exchange(has_refused_, true);
  }
  const std::string line = "a field of its answer is refused: " + clean_hook_text(why);
  if (is_first && host_) host_->log(host_, KOORD_LOG_WARN, service::to_abi(line));
  return fail(status, why);
}

bool HookResponse::take_room(std::size_t bytes, std::size_t before) {
  if (bytes_ - before + bytes > kMostBytes) return false;
  bytes_ += bytes - before;
  return true;
}

koord_status HookResponse::scale(koord_str field, double factor) {
  Result<std::string_view> name = service::name_argument(field, "field");
  if (!name) return refuse(KOORD_E_INVALID, name.error().message());
  if (Result<void> sound = check_hook_scale(*name, factor); !sound)
    return refuse(KOORD_E_INVALID, sound.error().message());
  std::lock_guard lock(mutex_);
  if (closed_) return refused_late();
  auto& scales = settings_.scales;
  const auto before =
      std::find_if(scales.begin(), scales.end(), [&](const auto& known) { return known.first == *name; });
  if (before != scales.end()) return before->second = factor, KOORD_OK;
  scales.emplace_back(*name, factor);
  return KOORD_OK;
}

koord_status HookResponse::reject(koord_str why) {
  Result<std::string_view> text = service::text_argument(why, "why");
  if (!text) return refuse(KOORD_E_INVALID, text.error().message());
  std::lock_guard lock(mutex_);
  if (closed_) return refused_late();
  settings_.rejection = clean_hook_text(*text);
  return KOORD_OK;
}

HookSettings HookResponse::close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  return std::exchange(settings_, {});
}

}  // namespace koord::host
