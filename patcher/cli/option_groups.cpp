#include "patcher/cli/option_groups.h"

#include <fmt/format.h>

namespace patcher {

void add_common_options(CLI::App& app, CommonOptions& options,
                        const std::vector<std::string>& formats, SeriesUse use) {
  app.add_option("--root", options.root, "The tree to patch; by default the working directory")
      ->option_text("DIR");
  CLI::Option* series =
      app.add_option("--series", options.series,
                     "The list of patches, which lie beside it; by default patches/series");
  series->option_text("FILE");
  if (use == SeriesUse::kIgnored) series->group("");
  app.add_option("--format", options.format, "How to report, by default as text")
      ->check(CLI::IsMember(formats))
      ->option_text(fmt::format("{}", fmt::join(formats, "|")));
  app.add_flag("--json", options.json,
               "The same as --format json; a run without a verdict gives an object with \"error\"");
  app.add_option("--color", options.color, "By default auto: on a terminal, and without NO_COLOR")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->option_text("auto|always|never");
}

void add_part_options(CLI::App& app, PartOptions& options) {
  app.add_option("--until", options.until, "Only the first N patches of the series")
      ->check(CLI::Range(0L, 1000000L))
      ->option_text("N");
  app.add_flag("--allow-empty-series", options.allow_empty, "A series without patches is no error");
}

Series load_series(const CommonOptions& common, const PartOptions& part) {
  return load_series(common.series, part.until, part.allow_empty);
}

void add_expect_changes(CLI::App& app, bool& flag) {
  app.add_flag("--expect-changes", flag,
               "Exit with already_applied's code when there is nothing to do");
}

void add_rev(CLI::App& app, std::string& rev) {
  app.add_option("--rev", rev,
                 "Judge this git revision of the tree, or REV:DIRECTORY, without a checkout")
      ->option_text("REV");
}

void add_out_dir(CLI::App& app, std::string& directory, const std::string& description) {
  app.add_option("--out-dir", directory, description)->option_text("DIR");
}

void add_base_options(CLI::App& app, BaseOptions& options) {
  app.add_option("--base", options.directory, "The tree that the patches were made from")
      ->option_text("DIR");
  app.add_option("--base-rev", options.rev,
                 "Take this git revision of --base, or REV:DIRECTORY, without a checkout; without "
                 "--base, of --root")
      ->option_text("REV");
}

void add_follow_moves(CLI::App& app, BaseOptions& options) {
  app.add_flag("--follow-moves", options.follow_moves,
               "Carry a change whose function or type is in another file now to that file");
}

}  // namespace patcher
