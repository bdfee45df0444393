// SPDX-License-Identifier: Apache-2.0
// Records of verdicts for tests.
#pragma once

#include "core/verdict/record.hpp"

namespace koord::test {

inline verdict::Record verdict_about(std::uint64_t victim, verdict::Kind kind = verdict::Kind::interfered,
                                     verdict::Resource resource = verdict::Resource::cpu) {
  verdict::Record record;
  record.victim.handle = victim;
  record.victim_name = "shop/cart/app";
  record.kind = kind;
  record.resource = resource;
  record.method = verdict::Method::exact;
  record.statistic = {"held_up", "ratio", 0.04, 0.003, 0.01};
  record.amount_unit = "seconds/second";
  return record;
}

inline verdict::Suspect suspect(std::uint64_t handle, double value) {
  verdict::Suspect suspect;
  suspect.subject.handle = handle;
  suspect.value = value;
  return suspect;
}

}  // namespace koord::test
