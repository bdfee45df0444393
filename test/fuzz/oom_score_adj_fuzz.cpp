// SPDX-License-Identifier: Apache-2.0
// Annotations of any content with the OOM scores of a pod's containers: a score is from -1000 to 1000.
#include <cstdlib>
#include <string_view>

#include "plugins/hook-oom-score-adj/oom_score_adj.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view container = text.substr(0, text.find('\n'));
  for (const koord::oom_score::Annotations& annotations :
       {koord::oom_score::Annotations{text, std::nullopt}, koord::oom_score::Annotations{std::nullopt, text},
        koord::oom_score::Annotations{"500", text}}) {
    const auto adjustment = koord::oom_score::adjust(container, annotations);
    if (adjustment.score && (*adjustment.score < -1000 || *adjustment.score > 1000)) std::abort();
    if (adjustment.score && !adjustment.problem.empty()) std::abort();
  }
  return 0;
}
