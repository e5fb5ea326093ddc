// Expressions that judge the layout of a page in the browser.

const isShown = `(each) => each.checkVisibility() && !each.closest(".unseen, .skip, dialog")`;

/** Controls and pieces of text that cover one another or reach over the edge of their card. */
export const overlaps = `(() => {
  const selector = "h1, h2, h3, h4, a, button, input, select, textarea, p, code, label, .tag, .id, strong, summary";
  const shown = [...document.querySelectorAll(selector)].filter(${isShown});
  const nameOf = (each) => each.tagName + "#" + each.id + " " + each.textContent.trim().slice(0, 30);
  const found = [];
  for (const [at, a] of shown.entries()) {
    const card = a.closest(".card")?.getBoundingClientRect();
    for (const box of a.getClientRects()) {
      if (card && (box.left < card.left - 1 || box.right > card.right + 1)) {
        found.push(nameOf(a) + " reaches out");
      }
    }
    for (const b of shown.slice(at + 1)) {
      if (a.contains(b) || b.contains(a)) continue;
      const covers = [...a.getClientRects()].some((x) => [...b.getClientRects()].some((y) =>
        Math.min(x.right, y.right) - Math.max(x.left, y.left) > 1 &&
        Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top) > 3));
      if (covers) found.push(nameOf(a) + " and " + nameOf(b));
    }
  }
  return found;
})()`;

/** Texts with less contrast than 4.5 to 1 (WCAG 2.2, 1.4.3). */
export const lowContrast = `(() => {
  const partsOf = (color) => color.match(/[\\d.]+/g).map(Number);
  const luminance = (color) => {
    const [r, g, b] = partsOf(color).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const backOf = (each) => {
    const { backgroundColor } = getComputedStyle(each);
    return partsOf(backgroundColor)[3] === 0 ? backOf(each.parentElement) : backgroundColor;
  };
  const hasText = (each) => [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "");
  return [...document.querySelectorAll("body *")].filter(${isShown}).filter(hasText).flatMap((each) => {
    const [low, high] = [luminance(getComputedStyle(each).color), luminance(backOf(each))].sort((a, b) => a - b);
    const ratio = (high + 0.05) / (low + 0.05);
    return ratio < 4.5 && !each.matches("[aria-disabled=true]") ? [each.textContent.slice(0, 40) + " " + ratio.toFixed(2)] : [];
  });
})()`;
