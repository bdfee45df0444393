// SPDX-License-Identifier: Apache-2.0
// MetricsPage: renders the text of /metrics on its own thread, and shares it between all requests. Therefore any number
// of scrapers, including slow ones, need only the memory of two pages, and no time of the workers that run plugins. At
// most two pages exist, because a slow reader may still hold the previous page. All other readers get the newest page.
// The server's time limit for writing limits the age of a page. Requests during a rendering get the page that is being
// rendered. Owner: the agent. [any thread]
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/result.hpp"
#include "core/http/routes.hpp"

namespace koord::api {

class MetricsPage {
 public:
  struct Options {
    Duration period = std::chrono::seconds(1);
    std::uint32_t renders = 2;  // maximum number of renderings per period; further requests get the newest page
  };
  // Appends the page to `text`. Called on the page's thread.
  using Render = std::function<void(std::string& text)>;

  MetricsPage(const Clock& clock, Render render, Options options);
  explicit MetricsPage(const Clock& clock, Render render) : MetricsPage(clock, std::move(render), Options()) {}
  // Answers pending requests with 503.
  ~MetricsPage();
  MetricsPage(const MetricsPage&) = delete;
  MetricsPage& operator=(const MetricsPage&) = delete;

  // Returns immediately. `reply` is called once, on the page's thread.
  void answer(const http::Request& request, http::Reply reply);

  std::uint64_t rendered() const;

 private:
  struct Page {
    std::string text, packed;  // packed: empty until a request accepts gzip
  };
  struct Waiting {
    bool takes_gzip = false;
    http::Reply reply;
  };

  void run();
  bool may_render();  // [locked]
  std::shared_ptr<Page> render() const;
  void reply_to(const std::vector<Waiting>& waiting);

  const Clock& clock_;
  const Render render_;
  const Options options_;

  mutable std::mutex mutex_;  // protects the following members
  std::condition_variable changed_;
  std::vector<Waiting> waiting_;
  std::vector<Time> renders_;  // times of the renderings within the last period
  std::uint64_t rendered_ = 0;
  bool ending_ = false;

  // Used on the rendering thread only.
  std::shared_ptr<Page> newest_;
  std::weak_ptr<Page> before_;
  std::size_t last_size_ = 0;

  std::thread thread_;  // the last member, because it uses all other members
};

}  // namespace koord::api
