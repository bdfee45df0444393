// SPDX-License-Identifier: Apache-2.0
// Recording: the course of a simulation, as series over time; the figures by which a control loop is judged, and plots
// of it as SVG. Times in seconds. [one thread]
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
// How often it turns round, counting only swings of at least `swing`: a loop that oscillates does, one that settles does not.
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

// Writes the plot to test/plots/ of the build folder, and compares it with <source>/plugins/<plugin>/golden/<name>.svg. Empty:
// they are the same. Else what to do about it: with KOORD_ACCEPT_GOLDEN=1 in the environment the new one is taken over.
std::string differs_from_golden(const std::string& plugin, const std::string& name, const std::string& plot);

}  // namespace koord::test
