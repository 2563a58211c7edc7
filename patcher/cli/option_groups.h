#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "patcher/cli/command.h"
#include "patcher/series/series.h"

namespace patcher {

// Options that several verbs share.

// Adds --root, --series, --format of `formats`, --json and --color. A verb that has no series takes
// --series, which a wrapper may give before every verb, without a word in its help.
enum class SeriesUse { kRead, kIgnored };
void add_common_options(CLI::App& app, CommonOptions& options,
                        const std::vector<std::string>& formats = {"text", "json"},
                        SeriesUse use = SeriesUse::kRead);

// Which patches of the series.
struct PartOptions {
  std::optional<size_t> until;
  bool allow_empty = false;
};
void add_part_options(CLI::App& app, PartOptions& options);
Series load_series(const CommonOptions& common, const PartOptions& part);

void add_expect_changes(CLI::App& app, bool& flag);
void add_rev(CLI::App& app, std::string& rev);
void add_out_dir(CLI::App& app, std::string& directory, const std::string& description);

// The tree that the patches were made from, and how far carry goes for a place.
struct BaseOptions {
  std::string directory;
  std::string rev;
  bool follow_moves = false;

  bool given() const { return !directory.empty() || !rev.empty(); }
  // The directory that --base names or, where only --base-rev is given, --root.
  const std::string& tree(const CommonOptions& common) const {
    return directory.empty() ? common.root : directory;
  }
};
void add_base_options(CLI::App& app, BaseOptions& options);
void add_follow_moves(CLI::App& app, BaseOptions& options);

}  // namespace patcher
