/** Style of the HTML report: light and dark, from 320 px width; loads no font and no image. */
export const style = `
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#1b2330;--soft:#566173;--line:#dfe3ea;
--created:#15803d;--updated:#2563eb;--unchanged:#94a3b8;--skipped:#cbd5e1;--failed:#c8321f;--renamed:#7c3aed;--accent:#47628f;
--ok:#12703a;--warn:#955a00;--bad:#b42318;--okb:#e3f5e9;--warnb:#fdf1dc;--badb:#fdeae7}
@media (prefers-color-scheme:dark){:root{--page:#0f141b;--card:#182029;--ink:#e6ebf2;--soft:#9aa7b8;--line:#2b3644;
--created:#34b264;--updated:#5b93f7;--unchanged:#64748b;--skipped:#414d5d;--failed:#f06a58;--renamed:#a98bf5;--accent:#8aa4cf;
--ok:#5fd08a;--warn:#f0b354;--bad:#ff8e7f;--okb:#15301f;--warnb:#362811;--badb:#3b1a16}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:1080px;margin:0 auto;padding:28px 16px 48px}
h1{font-size:24px;line-height:1.25;margin:8px 0 4px;font-weight:650;letter-spacing:-.01em}
h2{font-size:16px;margin:0 0 12px;font-weight:650}
p{margin:0}
code,.path{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;overflow-wrap:anywhere;white-space:pre-wrap}
.soft{color:var(--soft)}
.pill{display:inline-block;padding:2px 11px;border-radius:99px;font-size:13px;font-weight:650}
.ok{color:var(--ok);background:var(--okb)}.warn{color:var(--warn);background:var(--warnb)}.bad{color:var(--bad);background:var(--badb)}
.notice{margin-top:16px;padding:12px 16px;border-radius:10px;overflow-wrap:anywhere;white-space:pre-wrap}
section{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:18px;margin-top:16px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(120px,1fr));gap:10px;margin:20px 0 0;padding:0;list-style:none}
.tiles li{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:12px 14px;min-width:0}
.tiles b{display:block;font-size:24px;line-height:1.2;font-weight:650;font-variant-numeric:tabular-nums;letter-spacing:-.02em}
.tiles .zero b{color:var(--soft);font-weight:500}
.tiles span{color:var(--soft);font-size:13px}
.dot{display:inline-block;width:9px;height:9px;border-radius:3px;margin-right:6px}
.bar{display:flex;height:14px;border-radius:7px;overflow:hidden;gap:2px;margin-top:14px}
.bar i{display:block;min-width:3px}
.created{background:var(--created)}.updated{background:var(--updated)}.unchanged{background:var(--unchanged)}
.skipped{background:var(--skipped)}.failed{background:var(--failed)}.renamed{background:var(--renamed)}
.chart{display:grid;grid-template-columns:auto 1fr;gap:6px 8px}
.chart svg{width:100%;height:170px;display:block;overflow:visible}
.chart .y,.chart .x{display:flex;justify-content:space-between;color:var(--soft);font-size:12px;line-height:1;font-variant-numeric:tabular-nums}
.chart .y{flex-direction:column;text-align:right;margin:-6px 0}.chart .x{grid-column:2}
.grid{stroke:var(--line);stroke-width:1;vector-effect:non-scaling-stroke}
.accent{background:var(--accent)}.sent{fill:var(--accent)}.lost{fill:var(--failed)}
.key{margin-top:10px;color:var(--soft);font-size:13px}.key span{margin-right:16px}
dl{display:grid;grid-template-columns:max-content 1fr;gap:5px 18px;margin:0}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%}
th{text-align:left;font-weight:550;color:var(--soft);font-size:13px}
th,td{padding:6px 12px 6px 0;border-top:1px solid var(--line);vertical-align:top}
thead th{border-top:0}
tr>:last-child{padding-right:0}
.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.row{white-space:nowrap}
td.meter{width:30%;min-width:70px;padding-top:12px}
.meter i{display:block;height:8px;border-radius:4px;background:var(--accent);min-width:2px}
details{border-top:1px solid var(--line)}
summary{cursor:pointer;padding:9px 0;overflow-wrap:anywhere}
summary b{font-variant-numeric:tabular-nums;color:var(--bad);margin-right:8px}
summary:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:4px}
section>details:first-child{border-top:0}
details ul{margin:0 0 12px;padding:0 0 0 18px;list-style:none}
details li{padding:2px 0}
.tag{font-size:12px;color:var(--soft);border:1px solid var(--line);border-radius:99px;padding:0 8px;margin-left:8px;white-space:nowrap}
footer{margin-top:20px;color:var(--soft);font-size:13px}
@media (max-width:520px){main{padding:16px 12px 32px}h1{font-size:20px}section{padding:14px}
.tiles{grid-template-columns:repeat(3,1fr);gap:8px}.tiles li{padding:9px 10px}.tiles b{font-size:19px}
dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:8px}td.meter,th.meter,.wide{display:none}th,td{padding-right:7px}td{font-size:14px}}
@media print{body{background:none}section,.tiles li{break-inside:avoid}}
`;
