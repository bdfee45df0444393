// SPDX-License-Identifier: Apache-2.0
#include "core/hook/answer_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/utf8.hpp"
#include "core/hook/resource_fields.hpp"
#include "core/host/hook_stages.hpp"

namespace koord::hook {
namespace {

using decision::Decision;
using decision::Outcome;

constexpr std::string_view kVariable = "env:", kAnnotation = "annotation:";

std::string harmless(std::string text) {
  cut_utf8(text, kMostRecordText);
  replace_control_characters(text);
  return text;
}

// Makes the records of one question.
class Records {
 public:
  Records(const AnswerSubject& subject, const host::HookVerdict& answered, const host::HookVerdict& given)
      : subject_(subject), answered_(answered), given_(given) {}

  std::vector<Decision> made() {
    if (answered_.rejection) add(answered_.rejection->plugin, "", Outcome::refused).reason = answered_.rejection->why;
    for (const auto& one : answered_.silent) add(one.plugin, "", Outcome::failed).problem = one.why;
    for (const auto& one : given_.conflicts) add_conflict(one);
    for (const auto& one : answered_.settings) add_setting(one);
    for (const auto& one : answered_.conflicts) add_setting({one.field, one.value, one.plugin});
    for (const auto& one : answered_.agreed) add_setting(one);
    for (const auto& one : answered_.scales) add_scale(one);
    for (const auto& one : answered_.in_shadow) add_shadow(one);
    return finish();
  }

 private:
  Decision& add(const std::string& plugin, const std::string& field, Outcome outcome) {
    Decision& record = records_.emplace_back();
    record.kind = decision::DecisionKind::hook;
    record.plugin = plugin;
    record.knob = field;
    record.outcome = outcome;
    record.before = requested_text(field);
    return record;
  }

  void add_conflict(const host::HookVerdict::Conflict& conflict) {
    Decision& lost = add(conflict.plugin, conflict.field, Outcome::lost);
    lost.wanted = conflict.value;
    lost.winner = conflict.kept_by;
  }

  void add_setting(const host::HookVerdict::Setting& setting) {
    const auto is_its = [&](const auto& one) { return one.field == setting.field && one.plugin == setting.plugin; };
    const auto has = [&](const auto& all) { return std::any_of(all.begin(), all.end(), is_its); };
    if (has(given_.conflicts)) return;  // recorded as lost
    const bool is_given = has(given_.settings) || has(given_.agreed);
    Decision& record = add(setting.plugin, setting.field, is_given ? Outcome::applied : Outcome::hands_off);
    record.wanted = setting.value;
    if (is_given) finish_given(record, setting.value);
  }

  void add_scale(const host::HookVerdict::Scale& scale) {
    const bool is_given = std::any_of(given_.scales.begin(), given_.scales.end(), [&](const auto& one) {
      return one.field == scale.field && one.plugin == scale.plugin;
    });
    Decision& record = add(scale.plugin, scale.field, is_given ? Outcome::applied : Outcome::hands_off);
    record.role = decision::Role::scale;
    record.wanted = fmt::format("{}", scale.factor);
    if (is_given) finish_given(record, record.before);
  }

  void add_shadow(const host::HookVerdict::Setting& setting) {
    const bool is_rejection = setting.field == "reject";
    Decision& record = add(setting.plugin, is_rejection ? std::string() : setting.field, Outcome::shadow);
    (is_rejection ? record.reason : record.wanted) = setting.value;
    if (is_rejection) record.wanted = "reject";
  }

  // Records the value that the runtime gets: the composed value, or else the hook's own value.
  void finish_given(Decision& record, const std::string& otherwise) const {
    const std::string composed = resource_text(subject_.resources, record.knob);
    record.after = composed.empty() ? otherwise : composed;
    record.composition = equation_of(record.knob, record.after);
  }

  // Returns for example "linux.cpu.quota 80000 = 100000 (requested) × 0.8 (hook-cpu-normalization)"; empty without a
  // factor.
  std::string equation_of(const std::string& field, const std::string& value) const {
    std::string factors;
    for (const auto& scale : given_.scales)
      if (scale.field == field) factors += fmt::format(" × {} ({})", scale.factor, scale.plugin);
    if (factors.empty()) return {};
    const std::string requested = requested_text(field);
    std::string base = (requested.empty() ? "no limit" : requested) + " (requested)";
    for (const auto& setting : given_.settings)
      if (setting.field == field) base = fmt::format("base {} ({})", setting.value, setting.plugin);
    return fmt::format("{} {} = {}{}", field, value.empty() ? "no limit" : value, base, factors);
  }

  std::string requested_text(std::string_view field) const {
    const Requested& requested = subject_.requested;
    if (field == "linux.oom_score_adj")
      return requested.oom_score_adj ? std::to_string(*requested.oom_score_adj) : std::string();
    if (field.starts_with(kAnnotation)) {
      const auto known = requested.annotations.find(field.substr(kAnnotation.size()));
      return known == requested.annotations.end() ? std::string() : known->second;
    }
    if (!field.starts_with(kVariable)) return resource_text(requested.resources, field);
    const auto& names = requested.variables;
    const bool is_set = std::find(names.begin(), names.end(), field.substr(kVariable.size())) != names.end();
    return is_set ? "(set)" : "";
  }

  std::vector<Decision> finish() {
    const std::size_t made = records_.size();
    if (made > kMostRecords) records_.resize(kMostRecords);
    const std::string stage(host::name_of_stage(answered_.stage));
    for (Decision& one : records_) {
      one.pod_uid = subject_.pod.uid;
      one.pod_namespace = subject_.pod.namespace_;
      one.pod_name = subject_.pod.name;
      one.level = subject_.container == nullptr ? decision::Level::pod : decision::Level::container;
      one.cgroup_dir = subject_.container == nullptr ? subject_.pod.cgroup_dir : subject_.container->cgroup_dir;
      if (subject_.container != nullptr) one.container = harmless(subject_.container->name);
      one.inputs = {{"stage", stage},
                    {"asked by", std::string(subject_.asked_by)},
                    {"mode", one.outcome == Outcome::shadow ? "shadow" : "enforce"}};
      for (std::string* text : {&one.pod_uid, &one.pod_namespace, &one.pod_name, &one.cgroup_dir, &one.knob,
                                &one.before, &one.wanted, &one.after, &one.reason, &one.problem})
        *text = harmless(std::move(*text));
    }
    if (made > kMostRecords)
      records_.back().inputs.emplace_back("records left out", std::to_string(made - kMostRecords));
    return std::move(records_);
  }

  const AnswerSubject& subject_;
  const host::HookVerdict& answered_;
  const host::HookVerdict& given_;
  std::vector<Decision> records_;
};

}  // namespace

Requested requested_of(const nri::Container& container) {
  Requested requested{
      .resources = container.resources, .annotations = container.annotations, .oom_score_adj = container.oom_score_adj};
  for (const std::string& variable : container.env)
    requested.variables.push_back(variable.substr(0, variable.find('=')));
  return requested;
}

std::vector<decision::Decision> records_of(const AnswerSubject& subject, const host::HookVerdict& answered,
                                           const host::HookVerdict& given) {
  return Records(subject, answered, given).made();
}

}  // namespace koord::hook
