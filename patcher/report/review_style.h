#pragma once

namespace patcher {

// The style sheet of the review page. Two grids share the markup: four columns (number and code,
// before and after), or two where the screen is narrow, with after below before.
inline constexpr const char* kReviewStyle = R"css(
:root{color-scheme:light dark;--bg:#fff;--fg:#1f2328;--dim:#656d76;--line:#d0d7de;--box:#f6f8fa;
--del:#ffebe9;--delm:#ffb8b0;--add:#dafbe1;--addm:#8fe3a2;--bar:#bf8700;--ok:#1a7f37;--bad:#cf222e;
--k:#a5222f;--c:#5e6873;--s:#0a3069;--n:#0550ae;--d:#7a3fc0}
@media(prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#9198a1;--line:#3d444d;
--box:#151b23;--del:#3c1a1d;--delm:#8e2a30;--add:#12301c;--addm:#1f6d35;--bar:#d29922;--ok:#3fb950;
--bad:#f85149;--k:#ff7b72;--c:#9aa4af;--s:#a5d6ff;--n:#79c0ff;--d:#d2a8ff}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:110rem;background:var(--bg);color:var(--fg);
font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.4rem;margin:.2rem 0}h2{font-size:1.15rem;margin:0}
code,.hunk{font-family:ui-monospace,monospace;font-size:.8rem;line-height:1.45}
nav ol{padding-left:1.6rem;margin:.5rem 0}a{color:inherit}
section{border:1px solid var(--line);border-radius:.5rem;margin:1rem 0;padding:.8rem}
.meta{color:var(--dim);margin:.2rem 0}.why p{margin:.4rem 0;max-width:46rem}
.verdict{font-weight:600}.ok{color:var(--ok)}.bad{color:var(--bad)}
.findings{padding-left:1.2rem}.findings div{color:var(--dim)}
details{border:1px solid var(--line);border-radius:.4rem;margin:.6rem 0;overflow:hidden}
summary{background:var(--box);padding:.3rem .6rem;cursor:pointer}
.hunk{display:grid;grid-template-columns:auto minmax(0,1fr) auto minmax(0,1fr);
border-top:1px solid var(--line)}
.at{grid-column:1/-1;color:var(--dim);background:var(--box);padding:0 .6rem}
.hunk i{font-style:normal;color:var(--dim);text-align:right;padding:0 .4rem;user-select:none;
min-width:3em}
.hunk code{white-space:pre-wrap;padding:0 .4rem;tab-size:4;border-left:3px solid transparent;
min-height:1.45em}
.hunk code::before{content:" ";color:var(--dim)}.hunk .del::before{content:"-"}
.hunk .add::before{content:"+"}.hunk .none::before{content:none}
.hunk .anchor{border-left-color:var(--bar)}
.hunk .del{background:var(--del)}.hunk .add{background:var(--add)}
mark{background:none;color:inherit}.del mark{background:var(--delm)}.add mark{background:var(--addm)}
b{font-weight:inherit}b.k{color:var(--k)}b.c{color:var(--c)}b.s{color:var(--s)}b.n{color:var(--n)}
b.d{color:var(--d)}
.legend{border-left:3px solid var(--bar);padding-left:.4rem}
@media(max-width:52rem){body{padding:.5rem}section{padding:.5rem}
.hunk{grid-template-columns:auto minmax(0,1fr)}.hunk .none,.hunk .twin{display:none}
.hunk i{min-width:2.4em;padding:0 .25rem}}
)css";

}  // namespace patcher
