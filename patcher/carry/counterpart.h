#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "patcher/carry/carry_place.h"
#include "patcher/carry/outline.h"
#include "patcher/hunk/token_index.h"
#include "patcher/text/change_blocks.h"

namespace patcher {

// What can be said of a place in the target as the counterpart of a place in
// the base, where parts of the two look alike.
enum class Kinship {
  kProven,   // nothing looks alike, or what tells it from that is there
  kOpen,     // a look-alike is as good: it needs another witness
  kTied,     // and so is the part that holds it: nothing tells the two apart
  kRefuted,  // it is the counterpart of another part of the base, or that one's
             // is elsewhere
};

// Whether a change is a patch's own, or takes the patch off.
enum class Direction { kDone, kUndone };

struct KinshipAnswer {
  static constexpr size_t kNone = static_cast<size_t>(-1);
  Kinship kinship = Kinship::kProven;
  size_t rival = kNone;        // not kProven: the look-alike's first code token,
  bool rival_in_base = false;  // in the base, or in the target
};

// Tells whether what was found is what was meant. The part around the place
// (see outline.h) must be the best counterpart of the part around the change,
// and that one of it, at every level: of the tokens that tell a part from one
// beside it that looks alike, those must be there, and not the other's, the
// more so the fewer parts have them. Where such tokens do not decide, and
// inside the innermost part, an order-preserving alignment of the tokens must
// lead through the place, and none of about its cost elsewhere. Borrows the
// indices.
class Counterparts {
 public:
  // What a change removes tells the parts apart too, but not where it takes a
  // patch off (kUndone): then it is what the patch has made, and whose it is is
  // the question.
  Counterparts(const TokenIndex& base, const TokenIndex& target,
               Direction direction = Direction::kDone);

  // `added`: the first line that the block adds, if it only adds. `in_base`,
  // `in_target`: the definitions that hold the two, known by name, or the whole
  // files.
  KinshipAnswer check(const ChangeBlock& block, std::string_view added, const CarriedPlace& place,
                      CodeRange in_base, CodeRange in_target) const;

 private:
  using Tokens = std::vector<uint32_t>;  // numbers, sorted: what a part is made of
  struct Ends {
    size_t base = 0;
    size_t target = 0;
  };
  static Tokens tokens_of(const TokenIndex& file, const Part& part);
  KinshipAnswer level(const Outline::Level& base, const Outline::Level& target, Ends from, Ends to,
                      bool at_edge) const;
  const Outline::Level* most_alike(const Outline::Level& base,
                                   const std::vector<Outline::Level>& there) const;
  std::optional<size_t> look_alike(Ends from, Ends to, const Part& in_base) const;
  bool says_itself(Ends from, Ends to) const;
  bool continues(size_t in_base, size_t in_target) const;
  enum class AtEdge { kNone, kBegin, kEnd };  // of a part: where something is added
  bool led_elsewhere(Ends from, Ends to, Part in_base, Part in_target, AtEdge edge) const;
  bool is_there_too(Ends from, Ends to, size_t other) const;
  bool ends_as_well(Ends at, size_t other, AtEdge edge) const;

  const Direction direction_;
  const TokenIndex& base_;
  const TokenIndex& target_;
  const Outline base_parts_;
  const Outline target_parts_;
};

}  // namespace patcher
