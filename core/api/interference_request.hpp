// SPDX-License-Identifier: Apache-2.0
// The parameters of /api/v1/interference and /api/v1/interference/matrix, taken apart and checked. Pure. [any thread]
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/http/url.hpp"
#include "core/metric/labels.hpp"
#include "core/verdict/record.hpp"

namespace koord::api {

// Pods and containers by their names. Empty: all.
struct VictimFilter {
  std::string pod;  // uid, NAMESPACE/NAME or NAME; or the whole name of a container outside of pods
  std::string name_space, container;

  bool empty() const { return pod.empty() && name_space.empty() && container.empty(); }
  // `name`: as verdict::name_of_subject() has it.
  bool accepts(const metric::Labels& labels, std::string_view name) const;
};

struct InterferenceRequest {
  static constexpr std::size_t kMostVerdicts = 1000;

  enum class State { standing, ended, any };

  VictimFilter victim;
  std::optional<Time> since, until;  // stood in this time
  std::optional<verdict::Resource> resource;
  std::optional<verdict::Kind> kind;
  State state = State::standing;  // with a time and without a state: any
  std::size_t limit = 100;

  bool accepts(const verdict::Record& record) const;
};

// An error names the parameter, what it was and what is expected.
Result<InterferenceRequest> parse_interference_request(const http::Query& parameters, const Clock& clock);

struct MatrixRequest {
  static constexpr std::size_t kMostPairs = 10'000;

  VictimFilter victim;
  std::optional<verdict::Resource> resource;
  std::size_t limit = 100;  // pairs of a resource, those with the longest waits
};
Result<MatrixRequest> parse_matrix_request(const http::Query& parameters);

}  // namespace koord::api
