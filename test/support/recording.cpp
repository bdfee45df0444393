// SPDX-License-Identifier: Apache-2.0
#include "test/support/recording.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace koord::test {

Samples between(const Samples& samples, double from, double to) {
  Samples some;
  for (const Sample& sample : samples)
    if (sample.t >= from && sample.t < to) some.push_back(sample);
  return some;
}

double mean(const Samples& samples) {
  double sum = 0;
  for (const Sample& sample : samples) sum += sample.value;
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

static auto extremes(const Samples& samples) {
  return std::minmax_element(samples.begin(), samples.end(),
                             [](const Sample& a, const Sample& b) { return a.value < b.value; });
}

double lowest(const Samples& samples) { return samples.empty() ? 0 : extremes(samples).first->value; }

double highest(const Samples& samples) { return samples.empty() ? 0 : extremes(samples).second->value; }

double settling_seconds(const Samples& samples, double target, double band) {
  if (samples.empty()) return 0;
  double last_outside = samples.front().t;
  for (const Sample& sample : samples)
    if (std::abs(sample.value - target) > band) last_outside = sample.t;
  return last_outside - samples.front().t;
}

unsigned turns(const Samples& samples, double swing) {
  unsigned count = 0;
  int direction = 0;
  double extreme = samples.empty() ? 0 : samples.front().value;
  for (const Sample& sample : samples) {
    const double moved = sample.value - extreme;
    if (direction == 0 ? std::abs(moved) >= swing : moved * direction <= -swing) {
      count += direction != 0;
      direction = moved > 0 ? 1 : -1;
      extreme = sample.value;
    } else if (direction != 0 && moved * direction > 0) {
      extreme = sample.value;
    }
  }
  return count;
}

unsigned changes(const Samples& samples) {
  unsigned count = 0;
  for (std::size_t i = 1; i < samples.size(); ++i) count += samples[i].value != samples[i - 1].value;
  return count;
}

namespace {

constexpr int kColumns = 600, kHeight = 140, kLeft = 60, kTop = 40, kGap = 40;
constexpr const char* kColours[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b"};

// Returns the smallest of 1, 2 or 5 times a power of ten that is not below `value`.
double round_up(double value) {
  double power = 1;
  while (power < value) power *= 10;
  while (power > value * 10) power /= 10;
  for (double part : {0.1, 0.2, 0.5, 1.0})
    if (power * part >= value) return power * part;
  return power;
}

std::string short_text(double number) {
  std::ostringstream text;
  text.precision(6);
  text << number;
  return text.str();
}

double rounded(double number) { return number < 100 ? std::round(number * 100) / 100 : std::round(number); }

struct Frame {
  double first, last, highest;
  int top;

  int column(double t) const {
    return last > first ? static_cast<int>(std::lround((t - first) / (last - first) * (kColumns - 1))) : 0;
  }
  int row(double value) const {
    return top + kHeight - static_cast<int>(std::lround(std::clamp(value / highest, 0.0, 1.0) * kHeight));
  }
};

Frame frame_of(const Recording& recording, const Panel& panel, int top) {
  Frame frame{1e300, -1e300, 0, top};
  for (const std::string& series : panel.series)
    for (const Sample& sample : recording.of(series)) {
      frame.first = std::min(frame.first, sample.t);
      frame.last = std::max(frame.last, sample.t);
      frame.highest = std::max(frame.highest, sample.value);
    }
  frame.highest = frame.highest > 0 ? round_up(frame.highest) : 1;
  return frame;
}

// One pixel column of a line, from its highest to its lowest row.
struct Column {
  int x, highest, lowest;
};

std::vector<Column> columns_of(const Samples& samples, const Frame& frame) {
  std::vector<Column> columns;
  for (const Sample& sample : samples) {
    const int x = kLeft + frame.column(sample.t), row = frame.row(sample.value);
    if (columns.empty() || columns.back().x != x) columns.push_back({x, row, row});
    columns.back().highest = std::min(columns.back().highest, row);
    columns.back().lowest = std::max(columns.back().lowest, row);
  }
  return columns;
}

void draw_line(std::ostream& out, const Samples& samples, const Frame& frame, const char* colour) {
  const std::vector<Column> columns = columns_of(samples, frame);
  const auto is_flat = [&](std::size_t i, int row) { return columns[i].highest == row && columns[i].lowest == row; };
  out << "<polyline fill=\"none\" stroke=\"" << colour << "\" points=\"";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    const bool inside = i > 0 && i + 1 < columns.size();
    if (inside && is_flat(i - 1, column.highest) && is_flat(i, column.highest) && is_flat(i + 1, column.highest))
      continue;
    out << column.x << ',' << column.highest << ' ';
    if (column.lowest != column.highest) out << column.x << ',' << column.lowest << ' ';
  }
  out << "\"/>\n";
}

void draw_text(std::ostream& out, int x, int y, const std::string& text, const char* colour = "#333") {
  out << "<text x=\"" << x << "\" y=\"" << y << "\" fill=\"" << colour << "\">" << text << "</text>\n";
}

void draw_panel(std::ostream& out, const Recording& recording, const Panel& panel, int top) {
  const Frame frame = frame_of(recording, panel, top);
  out << "<rect x=\"" << kLeft << "\" y=\"" << top << "\" width=\"" << kColumns << "\" height=\"" << kHeight
      << "\" fill=\"none\" stroke=\"#bbb\"/>\n";
  draw_text(out, 4, top + 10, short_text(frame.highest));
  draw_text(out, 4, top + kHeight / 2, panel.unit);
  draw_text(out, 4, top + kHeight, "0");
  draw_text(out, kLeft, top + kHeight + 14, short_text(frame.first) + " s");
  draw_text(out, kLeft + kColumns - 40, top + kHeight + 14, short_text(frame.last) + " s");
  int x = kLeft + 80;
  for (std::size_t i = 0; i < panel.series.size(); ++i) {
    const char* colour = kColours[i % std::size(kColours)];
    draw_line(out, recording.of(panel.series[i]), frame, colour);
    draw_text(out, x, top + kHeight + 14, panel.series[i], colour);
    x += 10 + 7 * static_cast<int>(panel.series[i].size());
  }
}

}  // namespace

std::string svg(const Recording& recording, const std::string& title, const std::vector<Panel>& panels) {
  std::ostringstream out;
  const int height = kTop + static_cast<int>(panels.size()) * (kHeight + kGap);
  out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << kLeft + kColumns + 20 << "\" height=\"" << height
      << "\" font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  draw_text(out, kLeft, 20, title);
  int top = kTop;
  for (const Panel& panel : panels) {
    draw_panel(out, recording, panel, top);
    top += kHeight + kGap;
  }
  out << "</svg>\n";
  return out.str();
}

std::string summary(const Recording& recording, const std::vector<std::string>& series, unsigned parts) {
  std::ostringstream out;
  for (const std::string& name : series) {
    const Samples& samples = recording.of(name);
    const double first = samples.front().t, width = (samples.back().t - first) / parts;
    out << name << ':';
    for (unsigned part = 0; part < parts; ++part) {
      const bool is_last = part + 1 == parts;
      const double from = first + part * width;
      out << ' ' << rounded(mean(between(samples, from, is_last ? HUGE_VAL : from + width)));
    }
    out << "; " << rounded(lowest(samples)) << " to " << rounded(highest(samples)) << '\n';
  }
  return out.str();
}

void plot(const Recording& recording, const std::string& name, const std::string& title,
          const std::vector<Panel>& panels) {
  if (!std::getenv("KOORD_PLOTS")) return;
  std::filesystem::create_directories(KOORD_PLOT_FOLDER);
  std::ofstream(std::string(KOORD_PLOT_FOLDER) + "/" + name + ".svg") << svg(recording, title, panels);
}

}  // namespace koord::test
