// SPDX-License-Identifier: Apache-2.0
// The limits that the agent promises, as numbers. A complaint is empty if the promise is kept. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace koord::hostile {

inline constexpr double kMaxGap = 1.5;          // s, between two samples of a different plugin
inline constexpr long kMaxGrowth = 8 << 10;     // KiB of the agent's own memory (RssAnon)
inline constexpr long kMostOfUser = 2 * 32;     // processes and threads: twice the maxThreads of configuration.cpp
inline constexpr double kChargeError = 0.2;     // share of the CPU time that the agent spent
inline constexpr double kUnsteadyCores = 0.03;  // the CPU time of an agent without an attack varies by this much

// Returns the longest delay of a control between two Unix times. `control`: times of its beats, which are due every
// kBeatPeriod.
double delay_of_control(const std::vector<double>& control, double from, double to);

// Other programs may keep the machine busy, so the delay of a control at the same time is subtracted from a gap.
std::string complaint_about_gaps(std::string_view metric, const std::vector<double>& samples,
                                 const std::vector<double>& control);

std::string complaint_about_growth(long kibibytes);

// `spent`: CPU time of the agent, minus the CPU time without an attack, in s. A charge that is too high is as wrong as
// one that is too low.
std::string complaint_about_charge(double spent, double charged, double seconds);

// `answer`: of a bomb, " made=64", the number of processes or threads. Without a limit it makes 600.
std::string complaint_about_bomb(std::string_view answer);

}  // namespace koord::hostile
