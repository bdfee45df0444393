// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "core/store/sql.hpp"
#include "core/ui/source.hpp"
#include "core/ui/sql_json.hpp"

namespace koord::ui {
namespace {

class LocalSource : public Source {
 public:
  LocalSource(std::string socket, std::string database) : socket_(std::move(socket)), database_(std::move(database)) {}

  Result<http::ClientResponse> get(const std::string& target) override {
    http::ClientOptions options;
    options.timeout = kAgentPatience;
    options.cancel_fd = closed_fd();
    return http::get(socket_, target, options);
  }

  Result<http::ClientResponse> sql(const std::string& statement, std::size_t max_rows) override {
    const Result<store::SqlResult> result =
        store::run_sql(database_, statement, {.max_rows = max_rows, .timeout = kSqlPatience});
    if (!result) return http::ClientResponse{.status = 400, .headers = {}, .body = result.error().message()};
    return http::ClientResponse{.status = 200, .headers = {}, .body = sql_json(*result)};
  }

 private:
  const std::string socket_, database_;
};

}  // namespace

std::unique_ptr<Source> local_source(std::string socket, std::string database) {
  return std::make_unique<LocalSource>(std::move(socket), std::move(database));
}

}  // namespace koord::ui
