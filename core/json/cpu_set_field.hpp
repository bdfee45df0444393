// SPDX-License-Identifier: Apache-2.0
// A set of CPUs as a field of a JSON document: a text such as "0-3,8".
#pragma once

#include <string>

#include "core/base/cpu_set.hpp"
#include "core/base/result.hpp"
#include "core/json/field.hpp"

namespace koord {

// Fails with the path of the field.
inline Result<CpuSet> cpu_set_of(const JsonField& field) {
  const std::string text = TRY(field.text());
  Result<CpuSet> cpus = CpuSet::parse(text);
  if (!cpus) return field.wrong(cpus.error().text);
  return cpus;
}

}  // namespace koord
