// SPDX-License-Identifier: Apache-2.0
#include "core/scrape/scrape_target.hpp"

#include <algorithm>
#include <limits>

#include "core/http/location.hpp"
#include "core/metric/labels.hpp"
#include "core/service/arguments.hpp"
#include "core/service/record.hpp"

namespace koord::scrape {
namespace {

constexpr std::size_t kMaxText = 4096;

// Calls `body`. No exception may reach a plugin.
template <class Self, class Table, class Body>
koord_status with(const Table* table, Body&& body) noexcept {
  if (!table || !table->impl) return KOORD_E_INVALID;
  try {
    return body(*static_cast<Self*>(table->impl));
  } catch (...) {
    return KOORD_E_NOMEM;
  }
}

koord_status fail(const koord_host* host, koord_status status, const std::string& why) {
  if (host) host->set_error(host, status, {why.data(), why.size()});
  return status;
}

Result<std::string> short_text(koord_str text, const char* what) {
  const std::string_view view = TRY(service::text_argument(text, what));
  if (view.size() > kMaxText)
    return invalid(std::string(what) + ": found " + std::to_string(view.size()) + " bytes, expected at most " +
                   std::to_string(kMaxText));
  return std::string(view);
}

Duration duration_of(std::uint64_t ns) {
  return Duration(static_cast<std::int64_t>(std::min<std::uint64_t>(ns, std::numeric_limits<std::int64_t>::max())));
}

Result<ScrapeTarget> target_of(const koord_scrape_target* in) {
  const auto record = TRY(service::take_record<koord_scrape_target>(in, "target"));
  const std::string_view name = TRY(service::name_argument(record.name, "name"));
  const std::string_view url = TRY(service::name_argument(record.url, "url"));
  TRY(check_scrape_url(url));
  ScrapeTarget target{.name = std::string(name.substr(0, kMaxText)), .url = std::string(url)};
  target.ca_file = TRY(short_text(record.ca_file, "ca_file"));
  target.certificate_file = TRY(short_text(record.certificate_file, "certificate_file"));
  target.key_file = TRY(short_text(record.key_file, "key_file"));
  target.server_name = TRY(short_text(record.server_name, "server_name"));
  target.token_file = TRY(short_text(record.token_file, "token_file"));
  target.period = duration_of(record.period_ns);
  target.timeout = duration_of(record.timeout_ns);
  target.max_body_bytes = record.max_body_bytes;
  target.max_samples = record.max_samples;
  target.max_series = record.max_series;
  return target;
}

}  // namespace

bool ScrapeTarget::reads_files() const {
  return url.starts_with(kFileScheme) || !ca_file.empty() || !certificate_file.empty() || !key_file.empty() ||
         !token_file.empty();
}

std::size_t ScrapeTarget::bytes() const {
  return sizeof *this + name.size() + url.size() + ca_file.size() + certificate_file.size() + key_file.size() +
         server_name.size() + token_file.size();
}

Result<void> check_scrape_url(std::string_view url) {
  if (url.starts_with(kFileScheme)) {
    if (url.substr(kFileScheme.size()).starts_with('/') && url.size() <= kMaxText) return {};
    return invalid("'" + std::string(url.substr(0, 200)) + "': found no absolute path, expected 'file:/dir/x.prom'");
  }
  TRY(http::parse_location(url));
  return {};
}

TargetList::TargetList(const koord_host* host)
    : host_(host),
      table_{sizeof(koord_scrape_targets), 0, this,
             [](const koord_scrape_targets* table, const koord_scrape_target* target) {
               return with<TargetList>(table, [&](TargetList& self) { return self.add(target); });
             }} {}

koord_status TargetList::add(const koord_scrape_target* target) {
  Result<ScrapeTarget> taken = target_of(target);
  if (!taken) return fail(host_, KOORD_E_INVALID, taken.error().message());
  if (std::any_of(targets_.begin(), targets_.end(),
                  [&](const ScrapeTarget& other) { return other.name == taken->name; }))
    return fail(host_, KOORD_E_INVALID, "found a second target '" + taken->name + "', expected each name once");
  if (targets_.size() == kMaxTargets)
    return fail(host_, KOORD_E_AGAIN,
                "found more than " + std::to_string(kMaxTargets) + " targets, expected at most those");
  targets_.push_back(*std::move(taken));
  return KOORD_OK;
}

SeriesMap::SeriesMap(const koord_host* host)
    : host_(host),
      table_{sizeof(koord_series_map), 0, this,
             [](const koord_series_map* table, std::uint64_t handle) {
               return with<SeriesMap>(table, [&](SeriesMap& self) { return self.change_.subject = handle, KOORD_OK; });
             },
             [](const koord_series_map* table, koord_str name, koord_str value) {
               return with<SeriesMap>(table, [&](SeriesMap& self) { return self.label(name, value); });
             }} {}

koord_status SeriesMap::label(koord_str name, koord_str value) {
  Result<std::string_view> key = service::name_argument(name, "name");
  if (!key) return fail(host_, KOORD_E_INVALID, key.error().message());
  if (!metric::is_valid_name(*key))
    return fail(host_, KOORD_E_INVALID, "'" + std::string(key->substr(0, 100)) + "' is not a label name");
  Result<std::string> text = short_text(value, "value");
  if (!text) return fail(host_, KOORD_E_INVALID, text.error().message());
  if (change_.labels.size() == 2 * metric::kMaxOwnLabels)
    return fail(host_, KOORD_E_AGAIN, "found too many changes of labels of one series");
  change_.labels.emplace_back(*key, *std::move(text));
  return KOORD_OK;
}

}  // namespace koord::scrape
