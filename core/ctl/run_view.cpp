// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/run_view.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <map>

#include "core/base/parse.hpp"
#include "core/base/to_seconds.hpp"
#include "core/ctl/format.hpp"
#include "core/ctl/table.hpp"
#include "core/hook/field_intents.hpp"
#include "core/service/status.hpp"

namespace koord::ctl {
namespace json = boost::json;
namespace {

using workshop::RunCall;
using workshop::RunReport;

double microseconds(Duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

std::string words_of(const metric::Labels& labels) {
  std::vector<std::string> words;
  for (const auto& [key, value] : labels) words.push_back(key + "=" + value);
  return words.empty() ? "-" : join(words, ",");
}

// Returns the tables that have rows, separated by an empty line.
std::string stacked(const std::vector<const Table*>& tables) {
  std::string out;
  for (const Table* table : tables)
    if (!table->empty()) out += (out.empty() ? "" : "\n") + table->render();
  return out;
}

// Returns the upper bound below which this part of a histogram's samples lies; "+Inf" beyond the last bound.
std::string bound_of(const workshop::RunSeries& series, double part) {
  const double wanted = part * static_cast<double>(series.cumulative.back());
  for (std::size_t i = 0; i < series.bounds.size(); ++i)
    if (static_cast<double>(series.cumulative[i]) >= wanted) return format_number(series.bounds[i]);
  return "+Inf";
}

// Returns "20 samples, mean 0.5, p50 <= 1, p99 <= 2" and the counts of non-empty buckets.
std::string histogram_text(const workshop::RunSeries& series) {
  const std::uint64_t count = series.cumulative.back();
  if (count == 0) return "0 samples";
  std::string text = std::to_string(count) + " samples, mean " +
                     format_number(series.sum / static_cast<double>(count)) + ", p50 <= " + bound_of(series, 0.5) +
                     ", p99 <= " + bound_of(series, 0.99) + ":";
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < series.cumulative.size(); ++i) {
    const std::uint64_t here = series.cumulative[i] - below;
    below = series.cumulative[i];
    if (here == 0) continue;
    text += (i < series.bounds.size() ? " <=" + format_number(series.bounds[i]) : std::string(" +Inf")) + " " +
            std::to_string(here);
  }
  return text;
}

std::string value_text(const workshop::RunSeries& series) {
  return series.cumulative.empty() ? format_number(series.value) : histogram_text(series);
}

struct CallSum {
  std::uint64_t calls = 0, failed = 0;
  Duration wall{}, longest{}, cpu{};
};

Table table_of_calls(const RunReport& report) {
  std::vector<std::pair<std::string, std::string>> order;
  std::map<std::pair<std::string, std::string>, CallSum> sums;
  for (const RunCall& call : report.calls) {
    const std::pair key{call.cls, call.name};
    auto [at, fresh] = sums.try_emplace(key);
    if (fresh) order.push_back(key);
    CallSum& sum = at->second;
    ++sum.calls;
    sum.failed += call.result.ok() ? 0 : 1;
    sum.wall += call.result.wall;
    sum.cpu += call.result.cpu;
    sum.longest = std::max(sum.longest, call.result.wall);
  }
  Table table({{"CLASS"}, {"CALL"}, {"CALLS", true}, {"FAILED", true}, {"MEAN", true}, {"LONGEST", true}});
  for (const auto& key : order) {
    const CallSum& sum = sums.at(key);
    table.add({key.first, key.second, std::to_string(sum.calls), std::to_string(sum.failed),
               format_seconds(to_seconds(sum.wall) / static_cast<double>(sum.calls)),
               format_seconds(to_seconds(sum.longest))});
  }
  return table;
}

// Returns the knob by which the host maintains a field on existing pods. Other fields have an effect only at the
// creation.
std::string kept_as(const std::string& field) {
  if (field == "reject") return "refuses the creation";
  const std::string_view knob = hook::knob_of(field);
  return knob.empty() ? "at a creation only" : std::string(knob);
}

json::object labels_of(const metric::Labels& labels) {
  json::object object;
  for (const auto& [key, value] : labels) object[key] = value;
  return object;
}

json::object outcome_of(const service::CallResult& result) {
  json::object object{{"status", service::name_of_status(result.status)}};
  if (!result.text.empty()) object["text"] = result.text;
  return object;
}

}  // namespace

std::string tables_of(const RunReport& report) {
  Table metrics({{"METRIC"}, {"LABELS"}, {"VALUE", true}, {"UNIT"}});
  for (const auto& series : report.series)
    metrics.add({series.metric, words_of(series.labels), value_text(series), series.unit});
  Table intents({{"TICK", true}, {"CGROUP"}, {"KNOB"}, {"PROPOSED"}, {"REASON"}});
  for (const auto& [cls, tick, intent] : report.intents)
    intents.add({std::to_string(tick), intent.cgroup_dir, std::string(intent.knob->name), intent.value, intent.reason});
  Table adjustments({{"STAGE"}, {"POD"}, {"CONTAINER"}, {"FIELD"}, {"VALUE"}, {"KNOB"}});
  for (const auto& one : report.adjustments)
    adjustments.add({one.stage, one.pod, one.container, one.field, one.value, kept_as(one.field)});
  Table scrapes({{"SCRAPES"}, {"SAMPLES", true}, {"PROBLEM"}});
  for (const auto& scrape : report.scrapes) scrapes.add({scrape.url, std::to_string(scrape.samples), scrape.problem});
  const Table calls = table_of_calls(report);
  std::string notes;
  for (const std::string& note : report.notes) notes += "\n" + note + "\n";
  return stacked({&metrics, &intents, &adjustments, &scrapes, &calls}) + notes;
}

std::string json_of(const RunReport& report) {
  json::array metrics, intents, adjustments, scrapes, calls;
  for (const auto& series : report.series) {
    json::object object{{"metric", series.metric},
                        {"labels", labels_of(series.labels)},
                        {"value", series.value},
                        {"unit", series.unit}};
    if (!series.cumulative.empty())
      object.insert({{"bounds", json::value_from(series.bounds)},
                     {"cumulative", json::value_from(series.cumulative)},
                     {"sum", series.sum}});
    metrics.push_back(std::move(object));
  }
  for (const auto& [cls, tick, intent] : report.intents)
    intents.push_back(json::object{{"class", cls},
                                   {"tick", tick},
                                   {"knob", intent.knob->name},
                                   {"cgroup", intent.cgroup_dir},
                                   {"value", intent.value},
                                   {"priority", intent.priority},
                                   {"reason", intent.reason}});
  for (const auto& one : report.adjustments)
    adjustments.push_back(json::object{{"class", one.cls},
                                       {"stage", one.stage},
                                       {"pod", one.pod},
                                       {"container", one.container},
                                       {"field", one.field},
                                       {"value", one.value},
                                       {"knob", hook::knob_of(one.field)}});
  for (const auto& scrape : report.scrapes)
    scrapes.push_back(json::object{
        {"class", scrape.cls}, {"url", scrape.url}, {"samples", scrape.samples}, {"problem", scrape.problem}});
  for (const RunCall& call : report.calls) {
    json::object object = outcome_of(call.result);
    object["class"] = call.cls;
    object["call"] = call.name;
    object["tick"] = call.tick;
    object["wallSeconds"] = to_seconds(call.result.wall);
    object["cpuSeconds"] = to_seconds(call.result.cpu);
    calls.push_back(std::move(object));
  }
  return json::serialize(json::object{{"metrics", metrics},
                                      {"proposals", intents},
                                      {"adjustments", adjustments},
                                      {"scrapes", scrapes},
                                      {"notes", json::value_from(report.notes)},
                                      {"calls", calls}}) +
         "\n";
}

std::string trace_of(const RunReport& report) {
  std::vector<std::string> classes;
  auto row_of = [&](const std::string& cls) {
    auto known = std::find(classes.begin(), classes.end(), cls);
    if (known == classes.end()) known = classes.insert(classes.end(), cls);
    return known - classes.begin() + 1;
  };
  json::array events;
  for (const RunCall& call : report.calls) {
    json::object about = outcome_of(call.result);
    about["tick"] = call.tick;
    about["cpuMicroseconds"] = microseconds(call.result.cpu);
    events.push_back(json::object{{"name", call.name},
                                  {"cat", "call"},
                                  {"ph", "X"},
                                  {"pid", 1},
                                  {"tid", row_of(call.cls)},
                                  {"ts", microseconds(call.at)},
                                  {"dur", microseconds(call.result.wall)},
                                  {"args", std::move(about)}});
  }
  for (std::size_t i = 0; i < classes.size(); ++i)
    events.push_back(json::object{{"name", "thread_name"},
                                  {"ph", "M"},
                                  {"pid", 1},
                                  {"tid", i + 1},
                                  {"args", json::object{{"name", classes[i]}}}});
  return json::serialize(json::object{{"displayTimeUnit", "ns"}, {"traceEvents", std::move(events)}}) + "\n";
}

}  // namespace koord::ctl
