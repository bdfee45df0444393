// SPDX-License-Identifier: Apache-2.0
#include "core/predict/subject.hpp"

namespace koord::predict {
namespace {

constexpr std::string_view kNode = "node", kSystem = "system", kClass = "class/", kPod = "pod/", kNoClass = "none";

std::string_view class_name(state::PriorityClass klass) {
  return klass == state::PriorityClass::none ? kNoClass : state::name_of(klass);
}

}  // namespace

std::string to_string(const Subject& subject) {
  switch (subject.kind) {
    case Subject::Kind::node:
      return std::string(kNode);
    case Subject::Kind::system:
      return std::string(kSystem);
    case Subject::Kind::priority_class:
      return std::string(kClass) + std::string(class_name(subject.priority_class));
    case Subject::Kind::pod:
      break;
  }
  return std::string(kPod) + subject.pod_uid;
}

Result<Subject> parse_subject(std::string_view text) {
  if (text == kNode) return node_subject();
  if (text == kSystem) return system_subject();
  if (text.starts_with(kPod) && text.size() > kPod.size()) return pod_subject(std::string(text.substr(kPod.size())));
  for (state::PriorityClass klass : kPriorityClasses) {
    if (text.starts_with(kClass) && text.substr(kClass.size()) == class_name(klass)) return class_subject(klass);
  }
  return invalid("'" + std::string(text) + "' is not a subject, expected node, system, class/… or pod/…");
}

}  // namespace koord::predict
