/** Style of the page of eval, besides that of every report. */
export const evalStyle = `
.tiles .passed b,.tiles .better b{color:var(--ok)}.tiles .failed b,.tiles .worse b{color:var(--bad)}.tiles .flaky b,.tiles .error b{color:var(--warn)}
.tiles .zero b{color:var(--soft)}.tiles .passed,.tiles .failed,.tiles .flaky,.tiles .error,.tiles .skipped{background:var(--card)}
.range{width:100%;min-width:120px;height:18px;display:block;overflow:visible}
.range .track{stroke:var(--line)}.range .spread{stroke:var(--accent);stroke-width:8;opacity:.5}
.range .point{stroke:var(--ink);stroke-width:2}.range .before{stroke:var(--failed);stroke-width:2;stroke-dasharray:3 2}
.range line{vector-effect:non-scaling-stroke}
td.wide-range{width:32%;vertical-align:middle}
.filter{margin-top:16px;border:0;padding:0;display:flex;flex-wrap:wrap;gap:6px}
.filter label{border:1px solid var(--line);border-radius:99px;padding:3px 12px;font-size:13px;cursor:pointer;background:var(--card)}
.filter label:has(:checked){background:var(--accent);border-color:var(--accent);color:var(--card)}
.filter label:has(:focus-visible){outline:2px solid var(--accent);outline-offset:2px}
.filter input{position:absolute;opacity:0;width:1px;height:1px}
main:has(#show-worse:checked) .list:not(.of-worse),main:has(#show-failed:checked) .list:not(.of-failed),
main:has(#show-flaky:checked) .list:not(.of-flaky),main:has(#show-error:checked) .list:not(.of-error),
main:has(#show-passed:checked) .list:not(.of-passed){display:none}
.case>summary{display:flex;gap:10px;align-items:baseline}
.case>summary::before{content:"▸";color:var(--soft)}.case[open]>summary::before{content:"▾"}
.case>summary>span{min-width:0;overflow-wrap:anywhere}.case>summary>.pill{flex:none}
.case .q{font-weight:600}
.sides{display:grid;grid-template-columns:1fr 1fr;gap:12px 20px;margin:4px 0 12px}
.sides>div{min-width:0}.sides h3,.more h3{font-size:13px;font-weight:550;color:var(--soft);margin:0 0 4px}
.sides ol,.sides ul{list-style:none;margin:0;padding:0}
.sides li{padding:5px 8px;border-left:3px solid var(--line);margin-bottom:4px;overflow-wrap:anywhere}
.sides li.hit{border-color:var(--created);background:var(--okb)}
.sides li.miss{border-color:var(--failed);background:var(--badb)}
.sides li.beyond{opacity:.65}
.sides .snippet{display:block;color:var(--soft);font-size:13px}
.more{margin:0 0 12px}.more ul{margin:0;padding:0 0 0 18px}
.more pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:0;padding:8px 10px;border:1px solid var(--line);border-radius:8px;font:inherit;font-size:14px;max-height:320px;overflow:auto}
.rank{color:var(--soft);font-size:13px;margin-left:6px;white-space:nowrap}
@media (max-width:640px){.sides{grid-template-columns:1fr}td.wide-range,th.wide-range{display:none}}
@media print{.filter{display:none}}
`;
