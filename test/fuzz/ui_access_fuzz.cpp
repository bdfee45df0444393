// SPDX-License-Identifier: Apache-2.0
// The headers that decide about a request to koordctl ui, one per line: no text is accepted as the cookie of a session.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/parse.hpp"
#include "core/ui/access.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static koord::ui::Access access = [] {
    koord::ui::Access made(9317);
    koord::http::Request link;
    link.path = "/";
    link.headers = {{"Host", "127.0.0.1:9317"}};
    link.query = koord::http::Query({{"token", *made.new_token()}});
    if (made.check(link)->status != 200) std::abort();
    return made;
  }();
  koord::http::Request request;
  request.path = "/api/v1/node";
  std::string_view text(reinterpret_cast<const char*>(data), size);
  while (const auto line = koord::next_field(text, '\n')) {
    const std::size_t colon = line->find(": ");
    if (colon == line->npos)
      request.query = koord::http::Query({{"token", std::string(*line)}});
    else
      request.headers.emplace_back(line->substr(0, colon), line->substr(colon + 2));
  }
  for (const char* path : {"/api/v1/node", "/"}) {
    request.path = path;
    const auto refusal = access.check(request);
    if (!refusal || (refusal->status != 401 && refusal->status != 403)) std::abort();
  }
  return 0;
}
