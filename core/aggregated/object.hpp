// SPDX-License-Identifier: Apache-2.0
// Object: one version of a NodeMetric, encoded once when it is written. All readers and watchers share its bytes. It
// never changes after Store::put(). [any thread]
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/aggregated/version.hpp"

namespace koord::aggregated {

using Labels = std::map<std::string, std::string, std::less<>>;

// The parts of an object that a writer decides; JSON texts.
struct Content {
  Labels labels, annotations;
  std::string owners;        // ownerReferences, a list; empty: none
  std::string spec, status;  // mappings; an empty text: none
};

// The cells of a table beside name and age.
struct Cells {
  std::string cpu, memory, updated;
};

struct Identifiers {
  std::string name, uid;
  std::int64_t created_seconds = 0;  // wall clock, since the Unix epoch
  std::int64_t generation = 1;       // grows when the spec changes
};

class Object {
 public:
  // Encodes it, with a version of zeros.
  static std::shared_ptr<Object> make(Identifiers identifiers, const Content& content, Cells cells);
  // The same with another version, for the event of its deletion.
  std::shared_ptr<Object> copy() const;
  // Writes the version into the text. Only before it is shared.
  void set_version(Version version);

  const Identifiers& identifiers() const { return identifiers_; }
  const std::string& name() const { return identifiers_.name; }
  const Labels& labels() const { return labels_; }
  const Cells& cells() const { return cells_; }
  Version version() const { return version_; }

  std::string_view json() const { return std::string_view(text_).substr(0, text_.size() - kEventEnd.size()); }
  std::string_view metadata() const { return std::string_view(text_).substr(metadata_.at, metadata_.size); }
  std::string_view spec() const { return std::string_view(text_).substr(spec_.at, spec_.size); }
  std::string_view status() const { return std::string_view(text_).substr(status_.at, status_.size); }
  std::string_view owners() const { return std::string_view(text_).substr(owners_.at, owners_.size); }
  std::string_view annotations() const { return std::string_view(text_).substr(annotations_.at, annotations_.size); }
  std::size_t bytes() const { return text_.size(); }

  // The end of the line of a watch: `{"type":…,"object":` before the text makes the whole line.
  static constexpr std::string_view kEventEnd = "}\n";
  // json() and kEventEnd.
  static std::shared_ptr<const std::string> event_text(const std::shared_ptr<const Object>& object) {
    return {object, &object->text_};
  }

  // Set by the store: the versions of its creation, of the last change of its labels, and of the last change of its
  // metadata or spec.
  Version created = 0, labelled = 0, described = 0;

 private:
  struct Part {
    std::uint32_t at = 0, size = 0;
  };
  class Encoder;

  Identifiers identifiers_;
  Labels labels_;
  Cells cells_;
  Version version_ = 0;
  std::string text_;
  std::uint32_t version_at_ = 0;
  Part metadata_, spec_, status_, owners_, annotations_;
};

using ObjectPtr = std::shared_ptr<const Object>;

}  // namespace koord::aggregated
