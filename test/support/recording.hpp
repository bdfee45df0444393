// SPDX-License-Identifier: Apache-2.0
// Recording: the time series of a simulation. Functions compute the numbers by which a control loop is judged, and
// plots as SVG. Times are in seconds. [one thread]
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace koord::test {

struct Sample {
  double t, value;
};
using Samples = std::vector<Sample>;

class Recording {
 public:
  void note(const std::string& series, double t, double value) { series_[series].push_back({t, value}); }
  // Throws std::out_of_range if the series does not exist.
  const Samples& of(const std::string& series) const { return series_.at(series); }

 private:
  std::map<std::string, Samples> series_;
};

// Returns the samples from `from` on and before `to`.
Samples between(const Samples& samples, double from, double to);

double mean(const Samples& samples);
double lowest(const Samples& samples);
double highest(const Samples& samples);
// Returns the seconds from the first sample until the value stays within `band` of `target`; until the end if it never
// does.
double settling_seconds(const Samples& samples, double target, double band);
// Returns how often the value changes direction, counting only swings of at least `swing`. A loop that oscillates has
// many, one that settles has none.
unsigned turns(const Samples& samples, double swing);
// Returns how often the value differs from the previous value.
unsigned changes(const Samples& samples);

// One of several diagrams, drawn below each other with the same time axis.
struct Panel {
  std::string unit;
  std::vector<std::string> series;
};
// Draws in each pixel column the lowest and highest value of its time, so no swing is lost.
std::string svg(const Recording& recording, const std::string& title, const std::vector<Panel>& panels);

// Returns one line per series: its averages in `parts` equal parts of the time, then its lowest and highest value.
// Values are rounded to 0.01, above 100 to 1.
std::string summary(const Recording& recording, const std::vector<std::string>& series, unsigned parts);

// Writes the plot to test/plots/ of the build folder if the environment variable KOORD_PLOTS is set.
void plot(const Recording& recording, const std::string& name, const std::string& title,
          const std::vector<Panel>& panels);

}  // namespace koord::test
