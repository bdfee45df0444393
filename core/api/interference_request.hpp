// SPDX-License-Identifier: Apache-2.0
// Parses and checks the parameters of /api/v1/interference and /api/v1/interference/matrix. Pure. [any thread]
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

// Selects pods and containers by their names. Empty: all.
struct VictimFilter {
  std::string pod;  // uid, NAMESPACE/NAME or NAME; or the full name of a container outside of pods
  std::string name_space, container;

  bool empty() const { return pod.empty() && name_space.empty() && container.empty(); }
  // `name`: the result of verdict::name_of_subject().
  bool accepts(const metric::Labels& labels, std::string_view name) const;
};

struct InterferenceRequest {
  static constexpr std::size_t kMostVerdicts = 1000;

  enum class State { standing, ended, any };

  VictimFilter victim;
  std::optional<Time> since, until;  // verdicts that stood in this time
  std::optional<verdict::Resource> resource;
  std::optional<verdict::Kind> kind;
  State state = State::standing;  // any, if a request has a time and no state
  std::size_t limit = 100;

  bool accepts(const verdict::Record& record) const;
};

// An error contains the parameter, its value and the expected values.
Result<InterferenceRequest> parse_interference_request(const http::Query& parameters, const Clock& clock);

struct MatrixRequest {
  static constexpr std::size_t kMostPairs = 10'000;

  VictimFilter victim;
  std::optional<verdict::Resource> resource;
  std::size_t limit = 100;  // maximum number of pairs per resource, chosen by the longest waits
};
Result<MatrixRequest> parse_matrix_request(const http::Query& parameters);

}  // namespace koord::api
