// SPDX-License-Identifier: Apache-2.0
// Answers of an agent of any version about strategies, hooks and verdicts: koordctl must print a table or an error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/ctl/decision_view.hpp"
#include "core/ctl/hooks_view.hpp"
#include "core/ctl/interference_view.hpp"

using namespace koord::ctl;

namespace {

koord::Result<std::string> render_all_of_verdicts(const std::string& answer) {
  return render_interference(answer, true);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string answer(reinterpret_cast<const char*>(data), size);
  bool is_object = true;
  for (const auto render : {render_decisions, render_knobs, render_why, render_modes, render_mode, render_hooks,
                            render_matrix, render_all_of_verdicts}) {
    const auto text = render(answer);
    if (text && text->empty()) std::abort();
    is_object &= text.has_value();
  }
  // Each render function accepts any JSON object.
  if (is_object != render_knobs(answer).has_value()) std::abort();
  return 0;
}
