// SPDX-License-Identifier: Apache-2.0
// Forecast: percentiles of usage by subject, computed from the models after each training run. Immutable once
// published. [any thread]
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "core/base/clock.hpp"
#include "core/predict/amounts.hpp"
#include "core/predict/score.hpp"
#include "core/predict/subject.hpp"

namespace koord::predict {

struct Percentiles {
  Amounts p60, p90, p95, p98, max;

  bool operator==(const Percentiles&) const = default;
};

struct SubjectForecast {
  Time first, last;           // times of the first and last sample that it was learnt from
  std::uint64_t samples = 0;  // number of samples since `first`
  Time expires;               // the forecast is valid until this time
  Usage actual;               // the last sample
  Percentiles percentiles;
};

struct Forecast {
  Time made;  // time of the last training; before the first training, the forecast is empty
  std::map<Subject, SubjectForecast> subjects;
  std::map<std::string, ScoreReport, std::less<>> scores;  // key: the name of what was predicted, see score.hpp

  // Returns null if nothing was learnt, or if nothing was learnt for too long.
  const SubjectForecast* find(const Subject& subject, Time now) const {
    auto found = subjects.find(subject);
    return found == subjects.end() || found->second.expires < now ? nullptr : &found->second;
  }
};

using ForecastPtr = std::shared_ptr<const Forecast>;

}  // namespace koord::predict
