// SPDX-License-Identifier: Apache-2.0
// Answers of attacks: each attack logs a line "attack NAME: step=RESULT …". RESULT is an errno, a koord_status, a
// count, or DONE.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace koord::hostile {

// Returns the steps of the attack's last line in the log; "" if the log has none.
std::string answer_in(const std::string& log, std::string_view attack);

// Returns the steps that were not refused, such as "core_pattern=DONE". Counts are not complaints.
std::vector<std::string> steps_not_refused(const std::string& answer);

}  // namespace koord::hostile
