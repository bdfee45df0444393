// SPDX-License-Identifier: Apache-2.0
#include "test/hostile/promise.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "test/hostile/control.hpp"

namespace koord::hostile {
namespace {

std::string figure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

}  // namespace

double delay_of_control(const std::vector<double>& control, double from, double to) {
  double longest = 0;
  for (std::size_t i = 1; i < control.size(); ++i)
    if (control[i] > from && control[i - 1] < to)
      longest = std::max(longest, control[i] - control[i - 1] - kBeatPeriod);
  return longest;
}

std::string complaint_about_gaps(std::string_view metric, const std::vector<double>& samples,
                                 const std::vector<double>& control) {
  std::string complaint;
  double worst = kMaxGap;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const double gap = samples[i] - samples[i - 1], delay = delay_of_control(control, samples[i - 1], samples[i]);
    if (gap - delay <= worst) continue;
    worst = gap - delay;
    complaint = std::string(metric) + " has a gap of " + figure(gap) + " s, a control in the same time a delay of " +
                figure(delay) + " s";
  }
  return complaint;
}

std::string complaint_about_growth(long kibibytes) {
  return kibibytes <= kMaxGrowth ? std::string()
                                 : "the agent grew by " + figure(static_cast<double>(kibibytes) / 1024) + " MiB";
}

std::string complaint_about_charge(double spent, double charged, double seconds) {
  const double unsteady = kUnsteadyCores * seconds;
  const bool is_fair =
      charged >= (1 - kChargeError) * spent - unsteady && charged <= (1 + kChargeError) * spent + unsteady;
  return is_fair ? std::string()
                 : "the agent spent " + figure(spent) + " s for it in " + figure(seconds) + " s, and charged " +
                       figure(charged) + " s";
}

std::string complaint_about_bomb(std::string_view answer) {
  constexpr std::string_view kStart = " made=";
  if (!answer.starts_with(kStart)) return "it did not say how many processes it made";
  const long made = std::atol(std::string(answer.substr(kStart.size())).c_str());
  return made >= 1 && made <= kMostOfUser ? std::string() : "it made " + std::to_string(made) + " processes or threads";
}

}  // namespace koord::hostile
