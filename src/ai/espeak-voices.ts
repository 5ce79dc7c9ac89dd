/** What eSpeak NG is told for one of our voices; pitch and range 0..99, rate in words a minute. */
export interface VoiceShape {
  /** Suffix of the voice name; empty: the language's own voice. */
  readonly variant: string;
  readonly pitch: number;
  readonly range: number;
  readonly rate: number;
}

const defaultShape: VoiceShape = { variant: "", pitch: 50, range: 50, rate: 165 };

/**
 * Seven voices that listeners tell apart in every language. Median pitch over es, en, fr, de, it, pt:
 * 1 198–214 Hz, 2 173–183, 3 253–297, 4 72–79, 5 125–135, 6 98–104, 7 170–177 (2 and 7 differ in timbre).
 */
const voiceShapes: Readonly<Record<string, VoiceShape>> = {
  "1": { variant: "f2", pitch: 55, range: 55, rate: 165 },
  "2": { variant: "f5", pitch: 38, range: 45, rate: 160 },
  "3": { variant: "Annie", pitch: 58, range: 60, rate: 175 },
  "4": { variant: "m1", pitch: 30, range: 40, rate: 155 },
  "5": { variant: "m3", pitch: 70, range: 55, rate: 175 },
  "6": defaultShape,
  "7": { variant: "Gene2", pitch: 85, range: 65, rate: 180 },
};

/** Language voices that both engines accept under this very name: others fail without a sound (`en-gb`, `fr-fr`, `pt-pt`). */
const spoken: Readonly<Record<string, string>> = {
  es: "es",
  en: "en-us",
  fr: "fr",
  de: "de",
  it: "it",
  pt: "pt",
  ca: "ca",
  cs: "cs",
  da: "da",
  el: "el",
  eu: "eu",
  fi: "fi",
  hu: "hu",
  nb: "nb",
  nl: "nl",
  no: "nb",
  pl: "pl",
  ro: "ro",
  ru: "ru",
  sv: "sv",
  tr: "tr",
  uk: "uk",
};

/** Regions whose speech differs enough to have a voice of their own. */
const regions: Readonly<Record<string, string>> = {
  "en-au": "en",
  "en-gb": "en",
  "en-ie": "en",
  "en-nz": "en",
  "en-za": "en",
  "es-419": "es-419",
  "es-ar": "es-419",
  "es-bo": "es-419",
  "es-cl": "es-419",
  "es-co": "es-419",
  "es-cr": "es-419",
  "es-cu": "es-419",
  "es-do": "es-419",
  "es-ec": "es-419",
  "es-gt": "es-419",
  "es-hn": "es-419",
  "es-mx": "es-419",
  "es-ni": "es-419",
  "es-pa": "es-419",
  "es-pe": "es-419",
  "es-pr": "es-419",
  "es-py": "es-419",
  "es-sv": "es-419",
  "es-us": "es-419",
  "es-uy": "es-419",
  "es-ve": "es-419",
  "fr-be": "fr-be",
  "fr-ch": "fr-ch",
  "pt-br": "pt-br",
};

/** Languages without a voice that a related one reads understandably. */
const related: Readonly<Record<string, string>> = {
  gl: "es",
  ast: "es",
  oc: "ca",
  co: "it",
  lb: "de",
  nn: "nb",
};

/** The shape of voice `1` … `7`; any other name gets the default voice, `6`. */
export function voiceShape(voice: string): VoiceShape {
  return lookUp(voiceShapes, voice) ?? defaultShape;
}

/** The eSpeak voice for a BCP-47 tag of any case; `exact` is false when another language has to stand in. */
export function languageVoice(tag: string): { readonly name: string; readonly exact: boolean } {
  const lower = tag.trim().toLowerCase().replaceAll("_", "-");
  const [language = "", ...subtags] = lower.split("-");
  const region = subtags.map((subtag) => regions[`${language}-${subtag}`]).find((name) => name !== undefined);
  const own = region ?? lookUp(spoken, language);
  if (own !== undefined) return { name: own, exact: true };
  return { name: lookUp(related, language) ?? "en-us", exact: false };
}

function lookUp<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
