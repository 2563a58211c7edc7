#pragma once

#include <string>

#include "patcher/series/plan.h"

namespace patcher {

// A plan as one HTML page that needs nothing else: no script, no font, no request. One section a
// patch: why, verdict, findings, and what it changes before and after, side by side on a wide
// screen and one above the other on a narrow one. The lines of the anchor have a bar at their left.
// A patch that is refused shows its hunks instead. The same plan gives the same bytes.
std::string review_page(const Plan& plan, const std::string& title);

}  // namespace patcher
