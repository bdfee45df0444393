// SPDX-License-Identifier: Apache-2.0
#include "core/api/metrics_page.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <future>

#include "core/base/manual_clock.hpp"
#include "core/http/gzip.hpp"

using namespace koord;
using namespace koord::api;
using namespace std::chrono_literals;

namespace {

// A page that counts how often it was rendered, with a clock that the test moves.
struct Scraped {
  http::Response ask(const char* encoding = "") {
    std::promise<http::Response> answer;
    page.answer({.headers = {{"Accept-Encoding", encoding}}},
                [&](http::Response response) { answer.set_value(std::move(response)); });
    return answer.get_future().get();
  }
  static std::string text_of(const http::Response& response) { return *response.shared_body; }

  ManualClock clock;
  std::atomic<int> renders = 0;
  MetricsPage page{clock, [this](std::string& text) { text += "page " + std::to_string(++renders) + "\n"; }};
};

}  // namespace

TEST_CASE("a page is rendered for the first request in a period, and shared by all others") {
  Scraped scraped;
  CHECK(Scraped::text_of(scraped.ask()) == "page 1\n");
  CHECK(Scraped::text_of(scraped.ask()) == "page 2\n");
  for (int i = 0; i < 100; ++i) CHECK(Scraped::text_of(scraped.ask()) == "page 2\n");
  scraped.clock.advance(1s);
  CHECK(Scraped::text_of(scraped.ask()) == "page 3\n");
  CHECK(scraped.page.rendered() == 3);
}

TEST_CASE("at most two pages are in memory, however long slow readers keep theirs") {
  Scraped scraped;
  http::Response slow = scraped.ask();
  const http::Response newest = scraped.ask();
  for (int seconds = 0; seconds < 10; ++seconds) {
    scraped.clock.advance(1s);
    CHECK(scraped.ask().shared_body == newest.shared_body);
  }
  slow = {};
  CHECK(Scraped::text_of(scraped.ask()) == "page 3\n");
}

TEST_CASE("a scraper that accepts gzip gets it, compressed once for all scrapers") {
  Scraped scraped;
  const http::Response packed = scraped.ask("gzip");
  CHECK(http::gunzip(Scraped::text_of(packed), 100).value() == "page 1\n");
  CHECK(packed.headers == http::Headers{{"Vary", "Accept-Encoding"}, {"Content-Encoding", "gzip"}});
  scraped.ask();
  const http::Response again = scraped.ask("gzip");
  CHECK(again.shared_body == scraped.ask("deflate, gzip").shared_body);
  CHECK(scraped.ask().content_type == http::kPrometheusText);
}

TEST_CASE("a page may end while it is rendered, and one that cannot be rendered says so") {
  std::promise<void> begun, let_go;
  std::promise<http::Response> answer;
  ManualClock clock;
  {
    MetricsPage page(clock, [&](std::string& text) {
      text = "x";
      begun.set_value();
      let_go.get_future().wait();
    });
    page.answer({}, [](const http::Response&) {});
    begun.get_future().wait();
    let_go.set_value();
  }
  MetricsPage page(clock, [](std::string&) { throw std::runtime_error("no"); });
  page.answer({}, [&](http::Response response) { answer.set_value(std::move(response)); });
  CHECK(*answer.get_future().get().shared_body == "# the page breaks off here: no\n");
}
