// SPDX-License-Identifier: Apache-2.0
// An endpoint's responses to a scrape, in both syntaxes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/utf8.hpp"
#include "core/exposition/document.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;
using namespace koord::exposition;

namespace {

void check_sample(const Document& document, const Sample& sample) {
  check(sample.metric < document.metrics().size());
  check(!document.metrics()[sample.metric].name.empty());
  for (const Label& label : document.labels(sample)) check(!label.name.empty() && is_valid_utf8(label.value));
  if (sample.histogram == Sample::kNoHistogram) return;
  const Histogram& histogram = document.histogram(sample);
  check(histogram.cumulative.size() == histogram.bounds.size() + 1);
  check(std::is_sorted(histogram.bounds.begin(), histogram.bounds.end()));
  check(std::is_sorted(histogram.cumulative.begin(), histogram.cumulative.end()));
}

// Checks that an error names a line, and that an accepted document is consistent.
void read(std::string_view text, Syntax syntax) {
  Result<Document> document = Document::read(std::string(text), syntax, {.samples = 1000});
  if (!document) return check(document.error().message().starts_with("line "));
  for (const Sample& sample : document->samples()) check_sample(*document, sample);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  read(text, Syntax::text);
  read(text, Syntax::open_metrics);
  (void)syntax_of(text);
  return 0;
}
