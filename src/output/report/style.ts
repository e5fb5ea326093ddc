/** The words of a run are few: more than these have no filter. */
export const mostKinds = 12;

// The items of a word are hidden while its box is not ticked. A page has no script.
const hiding = Array.from(
  { length: mostKinds },
  (_, index) => `main:has(#k${index}:not(:checked)) .k${index}`,
);

/** Style of the HTML page: light and dark, from 320 px width; loads no font and no image. */
export const style = `
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--ink:#1b2330;--soft:#566173;--line:#dfe3ea;
--new:#15803d;--changed:#2563eb;--same:#94a3b8;--left:#cbd5e1;--lost:#c8321f;--open:#d9902b;--accent:#47628f;
--ok:#12703a;--warn:#955a00;--bad:#b42318;--okb:#e3f5e9;--warnb:#fdf1dc;--badb:#fdeae7}
@media (prefers-color-scheme:dark){:root{--page:#0f141b;--card:#182029;--ink:#e6ebf2;--soft:#9aa7b8;--line:#2b3644;
--new:#34b264;--changed:#5b93f7;--same:#64748b;--left:#414d5d;--lost:#f06a58;--open:#f0b354;--accent:#8aa4cf;
--ok:#5fd08a;--warn:#f0b354;--bad:#ff8e7f;--okb:#15301f;--warnb:#362811;--badb:#3b1a16}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:1080px;margin:0 auto;padding:28px 16px 48px}
h1{font-size:24px;line-height:1.25;margin:8px 0 4px;font-weight:650;letter-spacing:-.01em}
h2{font-size:16px;margin:0 0 12px;font-weight:650}h3{font-size:13px;font-weight:550;color:var(--soft);margin:0 0 4px}
p{margin:0}
code,.path{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;overflow-wrap:anywhere;white-space:pre-wrap}
.soft{color:var(--soft)}
.pill{display:inline-block;padding:2px 11px;border-radius:99px;font-size:13px;font-weight:650}
.pill.ok,.notice.ok{color:var(--ok);background:var(--okb)}.pill.warn,.notice.warn{color:var(--warn);background:var(--warnb)}.pill.bad,.notice.bad{color:var(--bad);background:var(--badb)}
.pill.soft,.notice.soft{background:var(--line)}
b.ok,i.ok{color:var(--ok)}b.warn,i.warn{color:var(--warn)}b.bad,i.bad{color:var(--bad)}b.soft,i.soft{color:var(--soft)}
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
.p-new{background:var(--new)}.p-changed{background:var(--changed)}.p-same{background:var(--same)}.p-left{background:var(--left)}.p-bad{background:var(--lost)}.p-open{background:var(--open)}
.chart{display:grid;grid-template-columns:auto 1fr;gap:6px 8px}
.chart svg{width:100%;height:170px;display:block;overflow:visible}
.chart .y,.chart .x{display:flex;justify-content:space-between;color:var(--soft);font-size:12px;line-height:1;font-variant-numeric:tabular-nums}
.chart .y{flex-direction:column;text-align:right;margin:-6px 0}.chart .x{grid-column:2}
.grid{stroke:var(--line);stroke-width:1;vector-effect:non-scaling-stroke}
.p-sent{background:var(--accent)}.sent{fill:var(--accent)}.lost{fill:var(--lost)}
.key{margin-top:10px;color:var(--soft);font-size:13px}.key span{margin-right:16px}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%}
th{text-align:left;font-weight:550;color:var(--soft);font-size:13px}
th,td{padding:6px 12px 6px 0;border-top:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}
thead th{border-top:0}
tr>:last-child{padding-right:0}
.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
td.draw{width:30%;min-width:70px;vertical-align:middle}
.draw i{display:block;height:8px;border-radius:4px;background:var(--accent);min-width:2px}
.range{width:100%;min-width:120px;height:18px;display:block;overflow:visible}
.range line{vector-effect:non-scaling-stroke}.range .track{stroke:var(--line)}.range .spread{stroke:var(--accent);stroke-width:8;opacity:.5}
.range .point{stroke:var(--ink);stroke-width:2}.range .before{stroke:var(--lost);stroke-width:2;stroke-dasharray:3 2}
.filters{margin-top:16px;border:0;padding:0;display:flex;flex-wrap:wrap;gap:8px}
.filters label{padding:3px 12px;border:1px solid var(--line);border-radius:99px;background:var(--card);color:var(--soft);cursor:pointer;font-size:13px}
.filters label:has(:checked){color:var(--ink);border-color:var(--accent);font-weight:650}
.filters label:has(:focus-visible){outline:2px solid var(--accent);outline-offset:2px}
.filters input{position:absolute;opacity:0;width:1px;height:1px}
.filters .gap{flex-basis:12px}
${hiding.join(",")},main:has(#by-cause:checked) .by-file,main:has(#by-file:checked) .by-cause{display:none}
details{border-top:1px solid var(--line)}
summary{cursor:pointer;padding:9px 0;overflow-wrap:anywhere}
summary b{font-variant-numeric:tabular-nums;margin-right:8px}
summary:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:4px}
section>details:first-child{border-top:0}
.advice{margin:0 0 8px;color:var(--soft);max-width:75ch}
.items{margin:0 0 12px;padding:0 0 0 18px;list-style:none}
.items>li{padding:2px 0}.items>.case{padding:0}
.items .path{margin-right:8px}
.word{font-style:normal;font-size:12px;font-weight:650;margin-right:8px}
.tag{font-size:12px;color:var(--soft);border:1px solid var(--line);border-radius:99px;padding:0 8px;margin-left:8px;white-space:nowrap}
.sides{display:grid;grid-template-columns:repeat(auto-fit,minmax(300px,1fr));gap:12px 20px;margin:4px 0 12px}
.sides>div{min-width:0}.sides ul{list-style:none;margin:0;padding:0}
.sides li{padding:5px 8px;border-left:3px solid var(--line);margin-bottom:4px;overflow-wrap:anywhere;white-space:pre-wrap}
.sides li.good{border-color:var(--new);background:var(--okb)}.sides li.bad{border-color:var(--lost);background:var(--badb)}.sides li.left{opacity:.65}
.more{display:block;color:var(--soft);font-size:13px}
footer{margin-top:20px;color:var(--soft);font-size:13px}
@media (max-width:520px){main{padding:16px 12px 32px}h1{font-size:20px}section{padding:14px}
.tiles{grid-template-columns:repeat(3,1fr);gap:8px}.tiles li{padding:9px 10px}.tiles b{font-size:19px}
td.draw,th.draw{display:none}th,td{padding-right:7px}td{font-size:14px}.sides{grid-template-columns:1fr}}
@media print{body{background:none}section,.tiles li{break-inside:avoid}.filters{display:none}}
`;
