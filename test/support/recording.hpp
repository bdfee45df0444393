// SPDX-License-Identifier: Apache-2.0
// Recording: series over time of a simulation; the numbers by which a control loop is judged, and plots as SVG. Times
// in seconds. [one thread]
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
  // Throws std::out_of_range when nothing was noted by this name.
  const Samples& of(const std::string& series) const { return series_.at(series); }

 private:
  std::map<std::string, Samples> series_;
};

// The samples from `from` on, before `to`.
Samples between(const Samples& samples, double from, double to);

double mean(const Samples& samples);
double lowest(const Samples& samples);
double highest(const Samples& samples);
// Seconds from the first sample on until it is within `band` of `target` for good; to the end when it never is.
double settling_seconds(const Samples& samples, double target, double band);
// How often it turns round, counting only swings of at least `swing`: a loop that oscillates does, one that settles
// does not.
unsigned turns(const Samples& samples, double swing);
// How often the value is another one than before.
unsigned changes(const Samples& samples);

// One drawing below another, on one axis of time.
struct Panel {
  std::string unit;
  std::vector<std::string> series;
};
// Each column of pixels shows the lowest and the highest value that fell into it, so no swing is lost.
std::string svg(const Recording& recording, const std::string& title, const std::vector<Panel>& panels);

// One line for each series: its average in each of `parts` equal parts of the time, then its lowest and highest value.
// Values are rounded to 0.01, above 100 to 1.
std::string summary(const Recording& recording, const std::vector<std::string>& series, unsigned parts);

// Writes the plot to test/plots/ of the build folder if KOORD_PLOTS is in the environment.
void plot(const Recording& recording, const std::string& name, const std::string& title,
          const std::vector<Panel>& panels);

}  // namespace koord::test
