/**
 * Text that may be given to strangers: telephone numbers keep their first and last two digits, tokens, passwords,
 * mail addresses and the home directory go.
 */
export function masked(text: string, home: string | undefined): string {
  const named = home === undefined || home.length < 2 ? text : text.replaceAll(home, "~");
  return named
    .replace(/outdial_[A-Za-z0-9_-]{8,}/g, "outdial_[masked]")
    .replace(/\b(bearer|digest|basic)\s+[A-Za-z0-9+/=._~"-]{8,}/gi, "$1 [masked]")
    .replace(
      /(["']?(?:password|secret|token|authorization|api_?key)["']?\s*[:=]\s*)("[^"]*"|'[^']*'|[^\s,}]+)/gi,
      "$1[masked]",
    )
    .replace(/(?<![\w.+:-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}/gi, "[masked]@[masked]")
    .replace(/(?<=sips?:)[a-z][\w.-]*(?=@)/gi, "[masked]")
    .replace(/(?<![\w.:-])\+\d{6,15}(?!\d)/g, maskNumber)
    .replace(/(?<=(?:sips?|tel):)\+?\d{6,15}/g, maskNumber);
}

function maskNumber(number: string): string {
  const digits = number.replace("+", "");
  const plus = number.startsWith("+") ? "+" : "";
  return `${plus}${digits.slice(0, 2)}${"*".repeat(digits.length - 4)}${digits.slice(-2)}`;
}
