// SPDX-License-Identifier: Apache-2.0
#include "core/exposition/document.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace koord;
using namespace koord::exposition;

namespace {

std::string number(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

// Returns "kind name|label=value value", for a histogram "name bound:count … sum".
std::string shown(const Document& document, const Sample& sample) {
  const Metric& metric = document.metrics()[sample.metric];
  constexpr const char* kKinds[] = {"gauge ", "counter ", "histogram "};
  std::string text = kKinds[static_cast<int>(metric.kind)] + std::string(metric.name);
  for (const Label& label : document.labels(sample))
    text += "|" + std::string(label.name) + "=" + std::string(label.value);
  if (sample.histogram == Sample::kNoHistogram) return text + " " + number(sample.value);
  const Histogram& histogram = document.histogram(sample);
  for (std::size_t i = 0; i < histogram.bounds.size(); ++i)
    text += " " + number(histogram.bounds[i]) + ":" + std::to_string(histogram.cumulative[i]);
  return text + " inf:" + std::to_string(histogram.cumulative.back()) + " sum " + number(histogram.sum);
}

using Lines = std::vector<std::string>;

Lines read(const std::string& text, Syntax syntax = Syntax::text) {
  Result<Document> document = Document::read(text, syntax);
  if (!document) return {document.error().message()};
  Lines lines;
  for (const Sample& sample : document->samples()) lines.push_back(shown(*document, sample));
  return lines;
}
Lines om(const std::string& text) { return read(text + "# EOF\n", Syntax::open_metrics); }

}  // namespace

TEST_CASE("gauges and counters keep their names; what has no type is a gauge") {
  CHECK(read("# TYPE a gauge\na 1\n# TYPE b_total counter\nb_total{x=\"1\"} 2\nc 3\n") ==
        Lines{"gauge a 1", "counter b_total|x=1 2", "gauge c 3"});
  CHECK(
      om("# TYPE b counter\nb_total 2\nb_created 1700000000\n# TYPE v info\nv_info{version=\"1\"} 1\n# TYPE s stateset\ns{s=\"on\"} 1\n") ==
      Lines{"counter b_total 2", "gauge v_info|version=1 1", "gauge s|s=on 1"});
}

TEST_CASE("a page of every type that OpenMetrics has") {
  const Lines lines = om(
      "# TYPE shop_requests counter\n# UNIT shop_requests requests\n# HELP shop_requests Asked so far.\n"
      "shop_requests_total{path=\"/a\\\\b\\n\"} 5.0 1700000000.123 # {trace_id=\"KOO5S4vxi0o\"} 0.67 1700000000.1\n"
      "shop_requests_created{path=\"/a\\\\b\\n\"} 1.6e9\n"
      "# TYPE wait_seconds histogram\n# UNIT wait_seconds seconds\n"
      "wait_seconds_bucket{le=\"0.1\"} 1 # {} 0.05\nwait_seconds_bucket{le=\"+Inf\"} 2 # {id=\"x\"} 9 1.0\n"
      "wait_seconds_count 2\nwait_seconds_sum 9.05\nwait_seconds_created 1.6e9\n"
      "# TYPE rpc summary\nrpc{quantile=\"0.5\"} 1\nrpc{quantile=\"0.99\"} NaN\nrpc_count 17\nrpc_sum 324789.3\nrpc_created 1.6e9\n"
      "# TYPE only_sums summary\nonly_sums_count 3\nonly_sums_sum 4\n"
      "# TYPE queue gaugehistogram\nqueue_bucket{le=\"1\"} 3\nqueue_bucket{le=\"+Inf\"} 4\nqueue_gcount 4\nqueue_gsum 5\n"
      "# TYPE build info\nbuild_info{version=\"1.2\"} 1\n"
      "# TYPE mode stateset\nmode{mode=\"idle\"} 1\nmode{mode=\"busy\"} 0\n"
      "# TYPE other unknown\nother -Inf\n# TYPE load gauge\nload{} 1 1.5\n");
  const Lines expected{"counter shop_requests_total|path=/a\\b\n 5",
                       "gauge rpc|quantile=0.5 1",
                       "gauge rpc|quantile=0.99 nan",
                       "counter rpc_count 17",
                       "counter rpc_sum 324789.3",
                       "counter only_sums_count 3",
                       "counter only_sums_sum 4",
                       "gauge queue_gcount 4",
                       "gauge queue_gsum 5",
                       "gauge build_info|version=1.2 1",
                       "gauge mode|mode=idle 1",
                       "gauge mode|mode=busy 0",
                       "gauge other -inf",
                       "gauge load 1",
                       "histogram wait_seconds 0.1:1 inf:2 sum 9.05"};
  REQUIRE_MESSAGE(lines.size() == expected.size(), lines[0]);
  for (std::size_t i = 0; i < lines.size(); ++i) CHECK(lines[i] == expected[i]);
}

TEST_CASE("help and unit belong to the metric") {
  auto document =
      Document::read("# HELP a_bytes Its \\\\ purpose.\n# TYPE a_bytes gauge\n# UNIT a_bytes bytes\na_bytes 1\n# EOF\n",
                     Syntax::open_metrics);
  REQUIRE(document);
  CHECK(document->metrics().at(0).help == "Its \\ purpose.");
  CHECK(document->metrics().at(0).unit == "bytes");
}

TEST_CASE("the lines of a histogram are one sample, in whatever order they come") {
  const std::string in_order =
      "# TYPE h histogram\nh_bucket{p=\"a\",le=\"0.5\"} 1\nh_bucket{p=\"a\",le=\"2\"} 3\nh_bucket{p=\"a\",le=\"+Inf\"} 4\nh_sum{p=\"a\"} 7.5\nh_count{p=\"a\"} 4\n";
  const std::string mixed =
      "# TYPE h histogram\nh_count{p=\"b\",q=\"1\"} 0\nh_sum{q=\"1\",p=\"b\"} 0\nh_bucket{q=\"1\",le=\"+Inf\",p=\"b\"} 0\nh_bucket{le=\"2\",p=\"b\",q=\"1\"} 0\n"
      "h_sum{p=\"a\"} 7.5\nh_bucket{p=\"a\",le=\"2\"} 3\nh_bucket{le=\"5e-1\",p=\"a\"} 1\nh_count{p=\"a\"} 4\n";
  CHECK(read(in_order) == Lines{"histogram h|p=a 0.5:1 2:3 inf:4 sum 7.5"});
  CHECK(read(mixed) == Lines{"histogram h|p=b|q=1 2:0 inf:0 sum 0", "histogram h|p=a 0.5:1 2:3 inf:4 sum 7.5"});
}

TEST_CASE("a histogram's series is the same text in each scrape, whatever the order of its labels") {
  auto one = Document::read("# TYPE h histogram\nh_count{a=\"1\",b=\"2\"} 0\n", Syntax::text);
  auto other = Document::read("# TYPE h histogram\nh_bucket{b=\"2\",le=\"+Inf\",a=\"1\"} 9\n", Syntax::text);
  CHECK(one->samples().at(0).series == other->samples().at(0).series);
}

TEST_CASE("a summary is its quantiles as a gauge, and two counters") {
  CHECK(read("# TYPE s summary\ns{quantile=\"0.5\"} 2\ns_sum 10\ns_count 4\n") ==
        Lines{"gauge s|quantile=0.5 2", "counter s_sum 10", "counter s_count 4"});
}

TEST_CASE("only the count and the sum of a gauge histogram are taken") {
  CHECK(om("# TYPE g gaugehistogram\ng_bucket{le=\"+Inf\"} 3\ng_gcount 3\ng_gsum 5\n") ==
        Lines{"gauge g_gcount 3", "gauge g_gsum 5"});
}

TEST_CASE("a suffix says nothing where the family is not of its type") {
  CHECK(read("# TYPE x gauge\nx_count 1\nx_bucket{le=\"1\"} 2\n") == Lines{"gauge x_count 1", "gauge x_bucket|le=1 2"});
  CHECK(read("# TYPE x histogram\n# TYPE x_count gauge\nx_count 1\n") == Lines{"gauge x_count 1"});
}

TEST_CASE("a histogram that makes no sense is left out and counted, the others stay") {
  auto left_out = [](const std::string& lines) {
    auto document = Document::read("# TYPE h histogram\n" + lines + "up 1\n", Syntax::text);
    CHECK(document->samples().size() == 1);
    CHECK(document->left_out() == 1);
    return document->left_out_because();
  };
  CHECK(left_out("h_sum 1\n") == "histogram 'h': found neither a bucket '+Inf' nor a '_count', expected one");
  CHECK(left_out("h_bucket{le=\"1\"} 5\nh_count 4\n") ==
        "histogram 'h': found a bucket that counts less than the one below it, expected cumulative counts");
  CHECK(left_out("h_bucket{le=\"+Inf\"} 5\nh_bucket{le=\"inf\"} 5\n") ==
        "histogram 'h': found an infinite bound beside '+Inf', expected finite ones");
  CHECK(left_out("h_bucket{le=\"-Inf\"} 0\nh_count 5\n") ==
        "histogram 'h': found an infinite bound beside '+Inf', expected finite ones");
  CHECK(left_out("h_count 1.5\n") == "histogram 'h': found a bucket of 1.500000, expected a whole number");
  CHECK(left_out("h_count -1\n") == "histogram 'h': found a bucket of -1.000000, expected a whole number");
  CHECK(left_out("h_count NaN\n") == "histogram 'h': found a bucket of nan, expected a whole number");
  CHECK(left_out("h_bucket{le=\"1\"} 1\nh_bucket{le=\"1.0\"} 1\nh_count 4\n") ==
        "histogram 'h': found two buckets of one bound, expected one");
}

TEST_CASE("lines that cannot be grouped are an error with their number") {
  CHECK(read("# TYPE a gauge\n# TYPE a counter\n") == Lines{"line 2: found a second type of 'a', expected one"});
  CHECK(read("a 1\n# TYPE a counter\n") ==
        Lines{"line 2: found the type of 'a' behind its samples, expected it before them"});
  CHECK(read("# TYPE h histogram\nh_bucket 1\n") ==
        Lines{"line 2: found a bucket without a label 'le', expected its upper bound there"});
  CHECK(read("# TYPE h histogram\nh_bucket{le=\"x\"} 1\n") ==
        Lines{"line 2: found the bound 'x', expected a number or +Inf"});
}

TEST_CASE("the number of samples is bounded") {
  Result<Document> document = Document::read("a 1\nb 1\nc 1\n", Syntax::text, {.samples = 2});
  REQUIRE_FALSE(document);
  CHECK(document.error().message() == "line 3: found more than 2 samples, expected at most those");
}

TEST_CASE("a document may be moved, a short one too") {
  Document moved = *Document::read("a{b=\"\\\\\"} 1\n", Syntax::text);
  const Document again = std::move(moved);
  CHECK(shown(again, again.samples().at(0)) == "gauge a|b=\\ 1");
  CHECK(again.bytes() == 12);
}

TEST_CASE("a document takes no more memory than its budget has, whatever its lines are, and releases it at its end") {
  std::string each;  // a line; '#' stands for the line's number
  SUBCASE("samples of one metric") { each = "a 1\n"; }
  SUBCASE("names of metrics") { each = "a# 1\n"; }
  SUBCASE("labels") { each = "a{b=\"\",c=\"\",d=\"\",e=\"\"} 1\n"; }
  SUBCASE("escaped values") { each = "a{b=\"\\\\#\"} 1\n"; }
  SUBCASE("helps without a sample") { each = "# HELP a# b\n"; }
  SUBCASE("types without a sample") { each = "# TYPE a# gauge\n"; }
  SUBCASE("histograms") { each = "# TYPE h# histogram\nh#_count 1\n"; }
  std::string text;
  for (int i = 0; i < 2000; ++i)
    for (const char c : each)
      text += c == '#' && !text.empty() && text.back() != '\n' ? std::to_string(i) : std::string(1, c);
  const auto budget = std::make_shared<ByteBudget>(10 << 20);
  {
    const Result<Document> document = Document::read(text, Syntax::text, {}, ByteShare(budget));
    REQUIRE(document);
    CHECK(budget->used() >= document->samples().size() * sizeof(Sample) + document->label_count() * sizeof(Label));
  }
  CHECK(budget->used() == 0);
  budget->set_limit(64 << 10);
  const Result<Document> document = Document::read(text, Syntax::text, {}, ByteShare(budget));
  REQUIRE_FALSE(document);
  CHECK(document.error().is(std::errc::not_enough_memory));
  CHECK(budget->used() == 0);
}
