// SPDX-License-Identifier: Apache-2.0
#include "core/http/routes.hpp"

#include <utility>

namespace koord::http {

void Routes::get(std::string path, Handler handler) {
  entries_[std::move(path)].get = Route{std::move(handler), kDefaultMaxBody};
}

void Routes::post(std::string path, Handler handler, std::size_t max_body) {
  entries_[std::move(path)].post = Route{std::move(handler), max_body};
}

bool Routes::has_path(std::string_view path) const {
  return entries_.find(path) != entries_.end();
}

const Route* Routes::find(Method method, std::string_view path) const {
  auto entry = entries_.find(path);
  if (entry == entries_.end()) return nullptr;
  const Route& route = method == Method::post ? entry->second.post : entry->second.get;
  return route.handler ? &route : nullptr;
}

std::string Routes::allowed(std::string_view path) const {
  auto entry = entries_.find(path);
  if (entry == entries_.end()) return {};
  if (!entry->second.get.handler) return "POST";
  return entry->second.post.handler ? "GET, HEAD, POST" : "GET, HEAD";
}

std::vector<std::string> Routes::paths() const {
  std::vector<std::string> paths;
  for (const auto& [path, entry] : entries_) paths.push_back(path);
  return paths;
}

}  // namespace koord::http
