// SPDX-License-Identifier: Apache-2.0
// koord.kv/1: the static part of the metric cache. A plugin can write only keys below its own id, and read all keys.
#include <cstddef>
#include <limits>
#include <span>

#include "core/service/arguments.hpp"
#include "core/service/serve.hpp"
#include "core/service/services.hpp"

namespace koord::service {
namespace {

std::string own_key(const PluginContext& context, std::string_view key) {
  const std::string prefix = context.id() + "/";
  return key.starts_with(prefix) ? std::string(key) : prefix + std::string(key);
}

koord_status get(const koord_host* host, koord_str key, void* buf, std::uint64_t cap, std::uint64_t* need) {
  return serve(host, [&](PluginContext& context) -> Result<koord_status> {
    TRY(buffer_argument(buf, cap, need));
    const std::string_view name = TRY(name_argument(key, "key"));
    const store::Store& store = context.shared().feed.store();
    std::optional<std::vector<std::byte>> value = store.get(own_key(context, name));
    if (!value) value = store.get(std::string(name));
    if (!value) return refuse(KOORD_E_NOT_FOUND, "there is no key '" + std::string(name) + "'");
    return answer(value->data(), value->size(), buf, cap, need);
  });
}

constexpr std::size_t kMaxKeys = 1000;             // per plugin
constexpr std::size_t kMaxStoredBytes = 1u << 20;  // per plugin, for all keys and values

// If a new value replaces an old one, counts only the new value.
Result<void> check_quota(PluginContext& context, const std::string& key, std::uint64_t n) {
  const store::Store& store = context.shared().feed.store();
  const store::KeyValueUse use = store.use_below(context.id() + "/");
  const std::optional<std::vector<std::byte>> old = store.get(key);
  if (!old && use.keys >= kMaxKeys)
    return context.over_quota("kv keys", "it has " + std::to_string(kMaxKeys) + " keys, as many as a plugin may have");
  const std::size_t others = use.bytes - (old ? key.size() + old->size() : 0);
  if (others + key.size() + n > kMaxStoredBytes)
    return context.over_quota("kv bytes", "its keys and values would have " + std::to_string(others + key.size() + n) +
                                              " bytes, expected at most " + std::to_string(kMaxStoredBytes));
  return {};
}

std::optional<Duration> time_to_live(std::uint64_t ttl_ns) {
  constexpr auto kLongest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (ttl_ns == 0 || ttl_ns > kLongest) return std::nullopt;
  return Duration(static_cast<std::int64_t>(ttl_ns));
}

koord_status set(const koord_host* host, koord_str key, const void* buf, std::uint64_t n, std::uint64_t ttl_ns) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    const std::string_view name = TRY(name_argument(key, "key"));
    TRY(kv_value_argument(buf, n));
    const std::span value(static_cast<const std::byte*>(buf), static_cast<std::size_t>(n));
    const std::string own = own_key(context, name);
    TRY(check_quota(context, own, n));
    return context.shared().feed.store().put(own, value, time_to_live(ttl_ns));
  });
}

koord_status remove_key(const koord_host* host, koord_str key) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    const std::string_view name = TRY(name_argument(key, "key"));
    context.shared().feed.store().erase(own_key(context, name));
    return {};
  });
}

}  // namespace

const koord_svc_kv kv_service = {sizeof kv_service, 0, get, set, remove_key};

}  // namespace koord::service
