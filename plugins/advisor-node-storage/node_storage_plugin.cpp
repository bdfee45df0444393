// SPDX-License-Identifier: Apache-2.0
// advisor-node-storage: reports the node's disks, their content and their mount points.
#include <utility>

#include "koordetector/plugin.hpp"
#include "plugins/advisor-node-storage/node_storage.hpp"
#include "plugins/advisor-node-storage/storage_files.hpp"
#include "plugins/shared/node/host.hpp"
#include "plugins/shared/node/live_series.hpp"
#include "plugins/shared/node/value_file.hpp"
#include "plugins/shared/sdk/value_or_fail.hpp"

namespace {

using namespace std::chrono_literals;
using koord::node_storage::BlockDevice;
using koord::plugin::Batch;
using koord::plugin::Failure;
using koord::plugin::Metric;
using koord::plugin::value_or_fail;

class NodeStorage final : public koord::plugin::Advisor {
 public:
  void init() override {
    roots_ = koord::node::roots_of(host());
    if (!koord::node::exists(roots_.sys + "/block"))
      throw Failure(KOORD_E_UNSUPPORTED, "no block devices: there is no '" + roots_.sys + "/block'");
    series_ = koord::node::LiveSeries(host());
    fact_ = {host(), "node_local_storage_info"};
    batch_ = Batch(host());
    size_ = define({"node_disk_size_bytes", "bytes", "Size of a disk, in bytes.", 512});
    rounds_ = koord::node::Rounds(define({"collect_node_local_storage_info_total", "rounds",
                                          "Rounds of reading disks, volumes and mounts.", 1, KOORD_COUNTER}));
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    std::optional<Failure> failure;
    try {
      report_storage();
    } catch (const Failure& failed) {
      failure = failed;
    }
    rounds_.count(!failure, batch_);
    batch_.send(now_ns);
    if (failure) throw Failure(*failure);
  }

 private:
  void report_storage() {
    const std::vector<BlockDevice> devices = value_or_fail(koord::node_storage::read_block_devices(roots_.sys));
    report_sizes(devices);
    const auto storage =
        koord::node_storage::local_storage(devices, koord::node_storage::read_physical_volumes(roots_.run),
                                           value_or_fail(koord::node_storage::read_mounts(roots_.proc)));
    fact_.put(koord::node_storage::local_storage_json(storage));
  }

  void report_sizes(const std::vector<BlockDevice>& devices) {
    for (const BlockDevice& device : devices) {
      if (!device.is_disk) continue;
      const std::uint64_t series = series_.of(device.name + " " + device.number, [&] {
        return size_.series(KOORD_NO_SUBJECT, {{"device", device.name}, {"number", device.number}});
      });
      batch_.add(series, static_cast<double>(device.size_bytes));
    }
    series_.end_others();
  }

  koord::NodeRoots roots_;
  koord::node::Fact fact_;
  Metric size_;
  koord::node::Rounds rounds_;
  koord::node::LiveSeries series_;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN("id=advisor-node-storage\nversion=1.0.0\nkinds=koord.advisor/1\n"
             "gate=NodeStorageInfoCollector\nstage=beta\ndefault=true\n"
             "requires=koord.metrics/1,koord.fs/1,koord.kv/1\nlicense=Apache-2.0\n"
             "description=Disks, partitions, logical volumes and mounts of the node\n",
             koord::plugin::advisor<NodeStorage>("node-storage", 10s))
