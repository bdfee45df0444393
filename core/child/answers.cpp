// SPDX-License-Identifier: Apache-2.0
#include "core/child/answers.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/metric/labels.hpp"

namespace koord::child {
namespace {

constexpr std::size_t kMaxText = 4096;

// Returns whether this status shows a forged answer, because the host's code in the child checks each field by the same
// rules.
bool is_forged(koord_status status) { return status == KOORD_E_INVALID || status == KOORD_E_AGAIN; }

}  // namespace

service::CallResult take_result(Unpacker& answer) {
  service::CallResult result{.status = answer.number<koord_status>()};
  result.text = take_text(answer);
  result.cpu = Duration(answer.number<std::int64_t>());
  return result;
}

std::string take_text(Unpacker& given) { return std::string(given.text().substr(0, kMaxText)); }

void take_metric(Unpacker& given, scrape::ScrapedMetric& metric) {
  metric.status = given.number<koord_status>();
  metric.mapped = take_text(given);
}

// Visits the texts and numbers of a target in the order in which a message has them.
template <class Target, class Visit>
void visit_target(Target& target, Visit visit) {
  for (auto* text : {&target.name, &target.url, &target.ca_file, &target.certificate_file, &target.key_file,
                     &target.server_name, &target.token_file})
    visit(*text);
  for (auto* number : {&target.max_body_bytes, &target.max_samples, &target.max_series}) visit(*number);
  for (auto* duration : {&target.period, &target.timeout}) visit(*duration);
}

void add_target(Packer& out, const scrape::ScrapeTarget& target) {
  visit_target(target, [&](const auto& member) {
    using Member = std::decay_t<decltype(member)>;
    if constexpr (std::is_same_v<Member, std::string>)
      out.add(std::string_view(member));
    else if constexpr (std::is_same_v<Member, Duration>)
      out.add(std::int64_t{member.count()});
    else
      out.add(member);
  });
}

scrape::ScrapeTarget take_target(Unpacker& given) {
  scrape::ScrapeTarget target;
  visit_target(target, [&](auto& member) {
    using Member = std::decay_t<decltype(member)>;
    if constexpr (std::is_same_v<Member, std::string>)
      member = take_text(given);
    else if constexpr (std::is_same_v<Member, Duration>)
      member = std::max(Duration(), Duration(given.number<std::int64_t>()));
    else
      member = given.number<Member>();
  });
  return target;
}

// Reads the targets and leaves out duplicates and targets without a name. The child has checked them, but it is
// untrusted.
std::vector<scrape::ScrapeTarget> take_targets(Unpacker& given) {
  std::vector<scrape::ScrapeTarget> targets;
  for (std::uint32_t n = given.count(7 * sizeof(std::uint64_t)); n > 0; --n) {
    scrape::ScrapeTarget target = take_target(given);
    const bool known =
        std::any_of(targets.begin(), targets.end(), [&](const auto& other) { return other.name == target.name; });
    if (given.ok() && !known && !target.name.empty() && targets.size() < scrape::kMaxTargets)
      targets.push_back(std::move(target));
  }
  return targets;
}

void take_series(Unpacker& given, scrape::ScrapedSeries& series) {
  series.status = given.number<koord_status>();
  series.change.subject = given.number<std::uint64_t>();
  for (std::uint32_t n = given.count(2 * sizeof(std::uint64_t)); n > 0; --n) {
    std::string name = take_text(given);
    std::string value = take_text(given);
    if (given.ok() && series.change.labels.size() < 2 * metric::kMaxOwnLabels)
      series.change.labels.emplace_back(std::move(name), std::move(value));
  }
}

void take_sample(Unpacker& given, scrape::ScrapedSample& sample) {
  sample.status = given.number<koord_status>();
  sample.value = given.number<double>();
}

void take_adjustments(Unpacker& given, const koord_hook_response& response) {
  for (std::uint32_t n = given.count(2 * sizeof(std::uint64_t)); n > 0; --n) {
    koord_str field = given.str();
    koord_str value = given.str();
    if (given.ok() && is_forged(response.set(&response, field, value))) return given.refuse();
  }
  for (std::uint32_t n = given.count(sizeof(std::uint64_t) + sizeof(double)); n > 0; --n) {
    koord_str field = given.str();
    const double factor = given.number<double>();
    if (given.ok() && is_forged(response.scale(&response, field, factor))) return given.refuse();
  }
  bool rejects = given.number<std::uint32_t>() != 0;
  koord_str why = given.str();
  if (rejects && given.ok() && is_forged(response.reject(&response, why))) given.refuse();
}

}  // namespace koord::child
