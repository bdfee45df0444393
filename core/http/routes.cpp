// SPDX-License-Identifier: Apache-2.0
#include "core/http/routes.hpp"

#include <utility>

namespace koord::http {

std::optional<std::string_view> part_of_path(std::string_view pattern, std::string_view path) {
  const std::size_t open = pattern.find('{'), close = pattern.find('}');
  if (open == pattern.npos || close == pattern.npos) return std::nullopt;
  const std::string_view before = pattern.substr(0, open), behind = pattern.substr(close + 1);
  if (path.size() <= before.size() + behind.size() || !path.starts_with(before) || !path.ends_with(behind))
    return std::nullopt;
  const std::string_view part = path.substr(before.size(), path.size() - before.size() - behind.size());
  return part.find('/') == part.npos ? std::optional(part) : std::nullopt;
}

void Routes::get(std::string path, Handler handler) {
  entries_[std::move(path)].get = Route{.handler = std::move(handler)};
}

void Routes::get_slow(std::string path, SlowHandler handler) {
  entries_[std::move(path)].get = Route{.slow = std::move(handler)};
}

void Routes::get_now(std::string path, SlowHandler handler) {
  entries_[std::move(path)].get = Route{.slow = std::move(handler), .on_loop = true};
}

void Routes::post(std::string path, Handler handler, std::size_t max_body) {
  entries_[std::move(path)].post = Route{.handler = std::move(handler), .max_body = max_body};
}

void Routes::post_slow(std::string pattern, SlowHandler handler, std::size_t max_body) {
  entries_[std::move(pattern)].post = Route{.max_body = max_body, .slow = std::move(handler)};
}

void Routes::all_below(std::string prefix, SlowHandler handler, std::size_t max_body, Guard guard) {
  below_.emplace_back(std::move(prefix),
                      Route{.max_body = max_body, .slow = std::move(handler), .guard = std::move(guard)});
}

void Routes::all_below_now(std::string prefix, SlowHandler handler) {
  below_.emplace_back(std::move(prefix), Route{.slow = std::move(handler), .on_loop = true});
}

const Route* Routes::route_below(std::string_view path) const {
  for (const auto& [prefix, route] : below_)
    if (path.starts_with(prefix)) return &route;
  return nullptr;
}

const Routes::Entry* Routes::entry_of(std::string_view path) const {
  if (auto exact = entries_.find(path); exact != entries_.end()) return &exact->second;
  for (const auto& [pattern, entry] : entries_)
    if (part_of_path(pattern, path)) return &entry;
  return nullptr;
}

bool Routes::has_path(std::string_view path) const { return entry_of(path) != nullptr; }

const Route* Routes::find(Method method, std::string_view path) const {
  const Entry* entry = entry_of(path);
  if (entry == nullptr) return route_below(path);
  if (!is_read(method) && method != Method::post) return nullptr;
  const Route& route = is_read(method) ? entry->get : entry->post;
  return route.served() ? &route : nullptr;
}

std::string Routes::allowed(std::string_view path) const {
  const Entry* entry = entry_of(path);
  if (entry == nullptr) return {};
  if (!entry->get.served()) return "POST";
  return entry->post.served() ? "GET, HEAD, POST" : "GET, HEAD";
}

std::vector<std::string> Routes::paths() const {
  std::vector<std::string> paths;
  for (const auto& [path, entry] : entries_) paths.push_back(path);
  return paths;
}

}  // namespace koord::http
