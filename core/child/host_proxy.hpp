// SPDX-License-Identifier: Apache-2.0
// HostProxy: the koord_host of a plugin in a child. Its services ask the host over the services channel and wait for
// the answer; batches of points go into the ring without waiting. Its tables give the same answers as those of the
// host, text for text. When the host is gone, this process ends. [any thread] except where marked.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/child/channel.hpp"
#include "core/child/image.hpp"
#include "core/child/protocol.hpp"
#include "core/child/remote_values.hpp"
#include "core/child/sample_ring.hpp"
#include "core/child/wire.hpp"
#include "core/service/plugin_side.hpp"
#include "core/service/verdict_list.hpp"

namespace koord::child {

// The answer of a service. Its status must be returned, after its text was kept for set_error's reader.
struct Answer {
  koord_status status = KOORD_OK;
  std::string text;
  std::unique_ptr<Message> message;  // stays where it is: `rest` borrows from it
  Unpacker rest{{}};

  bool ok() const { return status == KOORD_OK; }
};

class HostProxy final : public service::PluginSide {
 public:
  HostProxy(std::string plugin_id, Channel services, SampleRing samples);

  const koord_host* host() const override { return &host_; }
  const std::string& id() const override { return id_; }
  std::optional<service::ReportedError> take_error() override;

  // Before create().
  void grant(std::set<std::string, std::less<>> services) { granted_ = std::move(services); }
  // A call of the host is running: it will look into the ring when that has returned.
  void set_in_call(bool in_call) { in_call_ = in_call; }

  void send(const Packer& message);
  Answer ask(const Packer& request);

  // ---- for the services ----
  bool is_granted(std::string_view service) const { return granted_.contains(service); }
  koord_status fail(koord_status status, std::string_view why);
  // Keeps the text; an answer without one leaves that of the plugin.
  koord_status returned(const Answer& answer);
  koord_status append(std::uint64_t t_ns, std::vector<koord_point> points);
  koord_status acquire(const koord_snapshot** snapshot);
  bool release(const koord_snapshot* snapshot);  // false: it does not hold it
  koord_status acquire(const koord_verdict_list** list);
  bool release(const koord_verdict_list* list);  // the same
  void log(std::int32_t level, std::string_view message);
  RemoteValues& values() { return values_; }

 private:
  Message exchange(const Packer& request);
  bool is_time_good(std::uint64_t t_ns);

  const std::string id_;
  koord_host host_;
  std::set<std::string, std::less<>> granted_;
  std::atomic<bool> in_call_ = false;

  std::mutex asking_;  // one question at a time
  Channel services_;
  SampleRing samples_;
  RemoteValues values_;
  std::atomic<std::uint64_t> latest_good_ns_ = 0;

  struct Held {
    std::shared_ptr<const Image> image;
    std::uint64_t count = 0;
  };
  std::mutex snapshots_;
  std::uint64_t newest_serial_ = 0;
  std::shared_ptr<const Image> newest_;
  std::map<const koord_snapshot*, Held> held_;

  service::PluginVerdictLists lists_;
  std::mutex newest_list_mutex_;
  service::VerdictListPtr newest_list_;  // null: none yet
};

// The table of this id, as a child offers it; nullptr: none.
const void* find_remote_service(std::string_view id);

}  // namespace koord::child
