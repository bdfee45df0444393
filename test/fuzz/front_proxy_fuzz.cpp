// SPDX-License-Identifier: Apache-2.0
// The ConfigMap extension-apiserver-authentication and the headers, with any content: the headers authenticate a user
// only with the front proxy's certificate.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/parse.hpp"
#include "core/kubeauth/front_proxy.hpp"
#include "core/kubeauth/guard.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;
using namespace koord::kubeauth;

namespace {

// Reads headers from lines "name: value".
http::Headers headers_in(std::string_view text) {
  http::Headers headers;
  while (const auto line = next_field(text, '\n')) {
    const std::size_t colon = line->find(':');
    if (colon != line->npos) headers.emplace_back(line->substr(0, colon), line->substr(colon + 1));
  }
  return headers;
}

std::shared_ptr<const http::TlsPeer> peer_of(const char* authorities) {
  http::TlsPeer::Certificate certificate{.common_name = "proxy", .verified_by = {authorities}};
  return std::make_shared<const http::TlsPeer>(http::TlsPeer{"TLSv1.3", std::move(certificate)});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<FrontProxy> read = parse_front_proxy(text);
  if (!read) check(!read.error().message().empty());
  const FrontProxy usual{.proxy_ca = "ca",
                         .user_headers = {"X-Remote-User"},
                         .uid_headers = {"X-Remote-Uid"},
                         .group_headers = {"X-Remote-Group"},
                         .extra_prefixes = {"X-Remote-Extra-"}};
  http::Request request;
  request.headers = headers_in(text);
  for (const FrontProxy& proxy : {read ? *read : FrontProxy(), usual}) {
    request.tls = nullptr;
    check(!front_proxy_user(request, proxy));
    request.tls = peer_of(kClientAuthorities);
    check(!front_proxy_user(request, proxy));
    request.tls = peer_of(kProxyAuthorities);
    const std::optional<Identity> user = front_proxy_user(request, proxy);
    if (!user) continue;
    check(!user->user.empty() && (!user->groups.empty() || user->user == "system:anonymous"));
    for (const auto& [key, values] : user->extra) check(!key.empty() && !values.empty());
  }
  return 0;
}
