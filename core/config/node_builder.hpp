// SPDX-License-Identifier: Apache-2.0
// Builds a Node from the events of yaml-cpp's parser, without yaml-cpp's own tree, which can be made to expand. Errors
// are thrown as Refused, through the parser, to read_yaml(). Inside core/config only.
#pragma once

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/config/document.hpp"
#include "core/config/report.hpp"

namespace koord::config {

struct Refused {
  Place place;
  std::string text;
};

class NodeBuilder final : public YAML::EventHandler {
 public:
  NodeBuilder(std::shared_ptr<const std::string> source, Report& report, std::size_t max_values)
      : source_(std::move(source)), report_(report), max_values_(max_values) {}

  Node take_root() { return std::move(root_); }
  Place place_of(const YAML::Mark& mark) const;

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { close(); }

 private:
  // A sequence or mapping that is being filled.
  struct Open {
    Node node;
    YAML::anchor_t anchor = 0;
    std::optional<Node> key;                      // that waits for its value
    std::unordered_map<std::string, Place> seen;  // keys
  };

  void open(NodeKind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor);
  void close();
  void add(Node node, YAML::anchor_t anchor);
  void add_to_mapping(Open& mapping, Node node);
  void count(const Node& node);

  const std::shared_ptr<const std::string> source_;
  Report& report_;
  const std::size_t max_values_;  // a value of an anchor counts at each use
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Node> anchors_;
  std::size_t values_ = 0;
  bool started_ = false;
  Node root_;
};

}  // namespace koord::config
