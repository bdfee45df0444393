// SPDX-License-Identifier: Apache-2.0
#include "core/hook/cri_question.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "core/base/parse.hpp"
#include "core/hook/creation.hpp"
#include "core/hook/resource_fields.hpp"
#include "core/host/hook_stages.hpp"
#include "core/json/field.hpp"
#include "core/json/reader.hpp"
#include "core/json/writer.hpp"
#include "koordetector/plugin.h"

namespace koord::hook {
namespace {

constexpr std::uint32_t kCriStages[] = {KOORD_STAGE_PRE_RUN_POD_SANDBOX, KOORD_STAGE_PRE_CREATE_CONTAINER,
                                        KOORD_STAGE_PRE_UPDATE_CONTAINER_RESOURCES};

Result<std::string> cri_text(const JsonField& field) {
  std::string text = TRY(field.text());
  if (text.empty()) return field.wrong("expected a text that is not empty");
  return text;
}

Result<nri::TextMap> cri_annotations(const JsonField& field, const nri::KeepAnnotation& keep) {
  const auto all = TRY(field.text_map());
  nri::TextMap kept;
  for (const auto& [key, value] : all)
    if (keep(key)) kept.emplace(key, value);
  return kept;
}

Result<nri::Pod> cri_pod(const JsonField& field, const nri::KeepAnnotation& keep) {
  if (field.empty()) return field.wrong("expected a mapping");
  nri::Pod pod;
  pod.name = TRY(cri_text(field["name"]));
  pod.namespace_name = TRY(cri_text(field["namespace"]));
  pod.uid = TRY(cri_text(field["uid"]));
  pod.id = TRY(field["sandboxId"].text());
  pod.runtime_handler = TRY(field["runtimeHandler"].text());
  pod.cgroup_parent = TRY(field["cgroupParent"].text());
  pod.labels = TRY(field["labels"].text_map());
  pod.annotations = TRY(cri_annotations(field["annotations"], keep));
  return pod;
}

Result<nri::Resources> cri_resources(const JsonField& field) {
  nri::Resources resources;
  const auto members = TRY(field.members());
  for (const auto& [name, value] : members) {
    const std::string text = TRY(value.text());
    if (Result<void> set = set_resource(resources, name, text); !set) return value.wrong(set.error().message());
  }
  return resources;
}

Result<std::optional<std::int64_t>> cri_score(const JsonField& field) {
  const std::string text = TRY(field.text());
  if (text.empty()) return std::optional<std::int64_t>();
  const Result<std::int64_t> score = parse_int(text);
  if (!score) return field.wrong(score.error().message());
  return std::optional(*score);
}

Result<nri::Container> cri_container(const JsonField& field, const nri::KeepAnnotation& keep) {
  if (field.empty()) return field.wrong("expected a mapping");
  nri::Container container;
  container.name = TRY(cri_text(field["name"]));
  container.id = TRY(field["id"].text());
  container.annotations = TRY(cri_annotations(field["annotations"], keep));
  const auto variables = TRY(field["env"].list());
  for (const JsonField& variable : variables) {
    const std::string name = TRY(cri_text(variable["name"])), value = TRY(variable["value"].text());
    container.env.push_back(name + "=" + value);
  }
  container.resources = TRY(cri_resources(field["resources"]));
  container.oom_score_adj = TRY(cri_score(field["resources"]["linux.oom_score_adj"]));
  return container;
}

// Returns whether the field is one of the composed resources. Their values already include the factors.
bool is_composed(std::string_view field) {
  return std::find(kResourceFields.begin(), kResourceFields.end(), field) != kResourceFields.end();
}

}  // namespace

Result<std::uint32_t> parse_cri_stage(std::string_view name) {
  std::vector<std::string> known;
  for (const std::uint32_t stage : kCriStages) {
    if (host::name_of_stage(stage) == name) return stage;
    known.emplace_back(host::name_of_stage(stage));
  }
  return invalid("'" + std::string(name) + "' is not a stage at which hooks are asked, expected one of " +
                 join(known, ", "));
}

Result<CriQuestion> read_cri_question(std::uint32_t stage, std::string_view json, const nri::KeepAnnotation& keep) {
  const boost::json::value root = TRY(read_json(json, kMostQuestionBytes));
  const JsonField field(root);
  TRY(field.check_mapping());
  const std::string named = TRY(field["stage"].text());
  if (!named.empty() && named != host::name_of_stage(stage))
    return field["stage"].wrong("expected '" + std::string(host::name_of_stage(stage)) + "', as in the path");
  CriQuestion question{.stage = stage};
  question.pod = TRY(cri_pod(field["pod"], keep));
  if (stage != KOORD_STAGE_PRE_RUN_POD_SANDBOX) question.container = TRY(cri_container(field["container"], keep));
  return question;
}

std::string cri_answer(const host::HookVerdict& verdict, const nri::Resources& requested, bool is_v2,
                       const OtherPartsOf& others) {
  const nri::Resources resources = resources_of(verdict, requested, is_v2, others);
  std::vector<std::pair<std::string, std::string>> fields;
  for (const std::string_view field : kResourceFields)
    if (std::string value = resource_text(resources, field); !value.empty()) fields.emplace_back(field, value);
  for (const host::HookVerdict::Setting& setting : verdict.settings)
    if (!is_composed(setting.field)) fields.emplace_back(setting.field, setting.value);
  JsonWriter json;
  json.begin_object();
  if (!fields.empty()) {
    json.key("fields").begin_object();
    for (const auto& [field, value] : fields) json.member(field, std::string_view(value));
    json.end_object();
  }
  json.end_object();
  return json.text();
}

std::string cri_rejection(std::string_view why) {
  JsonWriter json;
  json.begin_object().member("rejection", why).end_object();
  return json.text();
}

}  // namespace koord::hook
