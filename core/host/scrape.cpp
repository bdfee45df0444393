// SPDX-License-Identifier: Apache-2.0
#include "core/host/scrape.hpp"

#include <string>
#include <utility>

#include "core/http/client.hpp"

namespace koord::host {
namespace {

// Units are told in OpenMetrics alone, so that is what we would like best.
constexpr const char* kAccept =
    "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";

}  // namespace

Result<exposition::Document> scrape(const http::Location& location, const ScrapeLimits& limits) {
  http::ClientOptions options{.timeout = limits.timeout,
                              .headers = {{"Host", location.host}, {"Accept", kAccept}, {"User-Agent", "koordetector"}},
                              .max_body = limits.max_body,
                              .cancel_fd = limits.stop_fd};
  http::ClientResponse response = TRY(http::get(location.endpoint, location.target, options));
  const std::string what = "'" + location.endpoint + "': '" + location.target + "'";
  if (response.status != 200) return invalid(what + ": found status " + std::to_string(response.status) + ", expected 200");
  exposition::Syntax syntax = exposition::syntax_of(response.header("Content-Type").value_or(""));
  auto document = exposition::Document::read(std::move(response.body), syntax);
  if (!document) return std::move(document).error().context(what);
  return document;
}

}  // namespace koord::host
