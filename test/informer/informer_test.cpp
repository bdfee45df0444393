// SPDX-License-Identifier: Apache-2.0
// An informer of the real client-go (test/informer/program) through restarts of the server: each is a new epoch.
// Skipped unless KOORD_INFORMER names the program.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "test/core/aggregated/api_fixture.hpp"
#include "test/core/aggregated/running_api.hpp"
#include "test/support/child_process.hpp"
#include "test/support/eventually.hpp"

using namespace koord;
using namespace koord::test;

namespace {

constexpr int kNodes = 50;

std::string node(int number) { return "node-" + std::to_string(100 + number); }

// The program with its output in a file. Its questions go through a named pipe.
class Informer {
 public:
  Informer(const std::string& program, const std::string& url) {
    REQUIRE(::mkdtemp(folder_.data()) != nullptr);
    REQUIRE(::mkfifo((folder_ + "/ask").c_str(), 0600) == 0);
    process_ = std::make_unique<ChildProcess>(
        std::vector<std::string>{"/bin/sh", "-c", "exec \"$0\" \"$1\" < \"$2\"", program, url, folder_ + "/ask"},
        folder_ + "/output");
    ask_ = ::open((folder_ + "/ask").c_str(), O_WRONLY | O_CLOEXEC);
    REQUIRE(ask_ >= 0);
  }
  ~Informer() {
    ::close(ask_);
    process_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string output() const {
    std::ostringstream text;
    text << std::ifstream(folder_ + "/output").rdbuf();
    return text.str();
  }
  bool has(std::string_view line) const { return output().find(std::string(line) + "\n") != std::string::npos; }
  // All objects that it has now, by their lines.
  std::string objects() {
    const std::size_t begin = output().size();
    REQUIRE(::write(ask_, "\n", 1) == 1);
    REQUIRE(eventually([&] { return output().substr(begin).find("=\n") != std::string::npos; }));
    std::istringstream lines(output().substr(begin));
    std::string objects;
    for (std::string line; std::getline(lines, line) && line != "=";)
      if (line.starts_with("= ")) objects += line + "\n";
    return objects;
  }

 private:
  std::string folder_ = (std::filesystem::temp_directory_path() / "koord-informer-XXXXXX").string();
  std::unique_ptr<ChildProcess> process_;
  int ask_ = -1;
};

void report_all(RunningApi& api, int milli) {
  for (int i = 0; i < kNodes; ++i) {
    http::Request request;
    request.method = http::Method::put;
    request.path = std::string(kNodeMetrics) + "/" + node(i) + "/status";
    request.body = node_metric(node(i), usage_status(milli + i));
    REQUIRE(api.api().answer(request, {.user = "system:node:" + node(i)}).status < 300);
  }
}

std::string expected(const RunningApi& api) {
  std::string text;
  for (const auto& object : api.store().behind("", kNodes))
    text += "= " + object->name() + " " + std::to_string(object->version()) + " " + object->cells().cpu + "\n";
  return text;
}

}  // namespace

TEST_CASE("an informer of client-go has the objects of the newest leader after four restarts, and sees no deletion") {
  const char* program = std::getenv("KOORD_INFORMER");
  if (program == nullptr || !std::filesystem::exists(program) || std::filesystem::file_size(program) == 0) {
    std::puts("SKIPPED: test/informer is not built: it needs go 1.24 and its modules");
    return;
  }
  auto api = std::make_unique<RunningApi>(kEpoch);
  const std::string address = api->address();
  report_all(*api, 1000);
  Informer informer(program, api->url());
  REQUIRE(eventually([&] { return informer.has("SYNCED"); }));
  CHECK(informer.objects() == expected(*api));
  for (aggregated::Version restart = 1; restart <= 4; ++restart) {
    api.reset();
    api = std::make_unique<RunningApi>(kEpoch + restart * 1'000'000, address, http::Limits{}, false);
    report_all(*api, 1000 * (static_cast<int>(restart) + 1));
    api->store().begin_serving();
    CHECK(eventually([&] { return informer.objects() == expected(*api); }));
    report_all(*api, 1000 * (static_cast<int>(restart) + 1) + 500);
    CHECK(eventually([&] { return informer.objects() == expected(*api); }));
  }
  CHECK(informer.output().find("DELETE") == std::string::npos);
}
