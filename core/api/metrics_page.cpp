// SPDX-License-Identifier: Apache-2.0
#include "core/api/metrics_page.hpp"

#include <exception>
#include <utility>

#include "core/http/gzip.hpp"

namespace koord::api {
namespace {

http::Response page_response() {
  http::Response response{.content_type = std::string(http::kPrometheusText)};
  response.headers.emplace_back("Vary", "Accept-Encoding");
  return response;
}

}  // namespace

MetricsPage::MetricsPage(const Clock& clock, Render render, Options options)
    : clock_(clock), render_(std::move(render)), options_(options), thread_([this] { run(); }) {}

MetricsPage::~MetricsPage() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
  for (const Waiting& one : waiting_) one.reply(http::plain_text(503, "the agent ends"));
}

void MetricsPage::answer(const http::Request& request, http::Reply reply) {
  {
    std::lock_guard lock(mutex_);
    waiting_.push_back({http::accepts_gzip(request.header("Accept-Encoding").value_or("")), std::move(reply)});
  }
  changed_.notify_all();
}

std::uint64_t MetricsPage::rendered() const {
  std::lock_guard lock(mutex_);
  return rendered_;
}

bool MetricsPage::may_render() {
  if (!newest_) return true;
  if (!before_.expired()) return false;
  const Time now = clock_.now();
  std::erase_if(renders_, [&](Time at) { return now - at >= options_.period; });
  return renders_.size() < options_.renders;
}

void MetricsPage::run() {
  for (;;) {
    std::vector<Waiting> waiting;
    bool renders = false;
    {
      std::unique_lock lock(mutex_);
      const auto has_work = [this] { return ending_ || !waiting_.empty(); };
      // Without scrapers no page is kept, because it needs megabytes.
      if (!changed_.wait_for(lock, options_.period, has_work)) {
        if (before_.expired()) before_ = std::exchange(newest_, nullptr);
        changed_.wait(lock, has_work);
      }
      if (ending_) return;
      renders = may_render();
      if (renders) renders_.push_back(clock_.now());
      if (!renders) waiting.swap(waiting_);
    }
    if (renders) {
      std::shared_ptr<Page> page = render();
      before_ = std::exchange(newest_, std::move(page));
      // Requests that arrived meanwhile are older than this page, so they get it.
      std::lock_guard lock(mutex_);
      ++rendered_;
      waiting.swap(waiting_);
    }
    reply_to(waiting);
  }
}

std::shared_ptr<MetricsPage::Page> MetricsPage::render() const {
  auto page = std::make_shared<Page>();
  // Reserves slightly more than the size of the last page, because growth by doubling would need twice the memory.
  page->text.reserve(last_size_ + last_size_ / 16);
  try {
    render_(page->text);
  } catch (const std::exception& error) {
    page->text += std::string("# the page breaks off here: ") + error.what() + "\n";
  }
  return page;
}

void MetricsPage::reply_to(const std::vector<Waiting>& waiting) {
  last_size_ = newest_->text.size();
  for (const Waiting& one : waiting) {
    if (one.takes_gzip && newest_->packed.empty()) newest_->packed = http::gzip(newest_->text).value_or({});
    const bool packed = one.takes_gzip && !newest_->packed.empty();
    http::Response response = page_response();
    response.shared_body = std::shared_ptr<const std::string>(newest_, packed ? &newest_->packed : &newest_->text);
    if (packed) response.headers.emplace_back("Content-Encoding", "gzip");
    one.reply(std::move(response));
  }
}

}  // namespace koord::api
