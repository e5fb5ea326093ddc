/** A number in letters: 1 is a, 27 is aa. */
export function letters(number: number): string {
  let text = "";
  for (let rest = number; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    text = String.fromCharCode(97 + ((rest - 1) % 26)) + text;
  }
  return text || String(number);
}

const romanSigns = "m1000 cm900 d500 cd400 c100 xc90 l50 xl40 x10 ix9 v5 iv4 i1"
  .split(" ")
  .map((each) => [each.replace(/\d+/, ""), Number(each.replace(/\D+/, ""))] as const);

/** A number in Roman numerals; others than 1 to 3999 as digits. */
export function roman(number: number): string {
  if (number < 1 || number > 3999) return String(number);
  let rest = number;
  return romanSigns
    .map(([sign, value]) => {
      const times = Math.floor(rest / value);
      rest %= value;
      return sign.repeat(times);
    })
    .join("");
}
