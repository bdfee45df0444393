// SPDX-License-Identifier: Apache-2.0
#include "test/hostile/answers.hpp"

#include <set>

#include "core/base/parse.hpp"

namespace koord::hostile {
namespace {

bool is_refusal(const std::string& result) {
  static const std::set<std::string> kRefusals = {
      "EPERM",   "EACCES", "ENOSYS",  "EROFS",      "ENOENT",       "ESRCH",           "ENODEV",
      "ENXIO",   "EMFILE", "ETXTBSY", "EOPNOTSUPP", "EAFNOSUPPORT", "ESOCKTNOSUPPORT", "EPROTONOSUPPORT",
      "INVALID", "DENIED", "GONE",    "AGAIN",      "UNSUPPORTED",  "NOT_FOUND"};
  return kRefusals.contains(result) || parse_int(result);
}

}  // namespace

std::string answer_in(const std::string& log, std::string_view attack) {
  const std::string start = "attack " + std::string(attack) + ":";
  const std::size_t at = log.rfind(start);
  if (at == std::string::npos) return "";
  return log.substr(at + start.size(), log.find('\n', at) - at - start.size());
}

std::vector<std::string> steps_not_refused(const std::string& answer) {
  std::vector<std::string> found;
  for (const std::string& step : split(answer, ' ')) {
    const std::size_t equals = step.find('=');
    if (equals != std::string::npos && !is_refusal(step.substr(equals + 1))) found.push_back(step);
  }
  return found;
}

}  // namespace koord::hostile
