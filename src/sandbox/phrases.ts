/** What the sandbox's callees say, by language. */
export type PhraseName = "hello" | "yes" | "mailbox" | "neverAgain" | "interruption" | "menu";

type Phrases = Readonly<Record<PhraseName, string>>;

const phrases: Readonly<Record<string, Phrases>> = {
  es: {
    hello: "¿Dígame?",
    yes: "Sí, de acuerdo.",
    mailbox:
      "Ha llamado al buzón de voz. En este momento no puedo atenderle. Deje su mensaje después de la señal.",
    neverAgain: "No me llame más, por favor.",
    interruption: "Perdone, un momento, espere.",
    menu: "Bienvenido. Para ventas, pulse uno. Para soporte, pulse dos.",
  },
  en: {
    hello: "Hello?",
    yes: "Yes, that is fine.",
    mailbox:
      "You have reached the voicemail. I cannot take your call right now. Leave your message after the tone.",
    neverAgain: "Please stop calling me.",
    interruption: "Sorry, wait a moment please.",
    menu: "Welcome. Press one for sales. Press two for support.",
  },
  fr: {
    hello: "Allô ?",
    yes: "Oui, d'accord.",
    mailbox:
      "Vous êtes sur la messagerie vocale. Je ne peux pas répondre. Laissez votre message après le signal.",
    neverAgain: "Ne m'appelez plus, s'il vous plaît.",
    interruption: "Pardon, attendez un instant.",
    menu: "Bienvenue. Pour les ventes, tapez un. Pour l'assistance, tapez deux.",
  },
  de: {
    hello: "Ja, hallo?",
    yes: "Ja, in Ordnung.",
    mailbox:
      "Sie sind mit der Mailbox verbunden. Ich kann gerade nicht antworten. Sprechen Sie nach dem Signalton.",
    neverAgain: "Rufen Sie mich bitte nicht mehr an.",
    interruption: "Entschuldigung, warten Sie bitte.",
    menu: "Willkommen. Für den Verkauf drücken Sie eins. Für den Support drücken Sie zwei.",
  },
  it: {
    hello: "Pronto?",
    yes: "Sì, va bene.",
    mailbox:
      "Risponde la segreteria telefonica. Non posso rispondere. Lasciate un messaggio dopo il segnale acustico.",
    neverAgain: "Non mi chiami più, per favore.",
    interruption: "Scusi, aspetti un momento.",
    menu: "Benvenuto. Per le vendite, prema uno. Per l'assistenza, prema due.",
  },
  pt: {
    hello: "Estou?",
    yes: "Sim, está bem.",
    mailbox: "Ligou para o correio de voz. Não posso atender agora. Deixe a sua mensagem após o sinal.",
    neverAgain: "Não me ligue mais, por favor.",
    interruption: "Desculpe, espere um momento.",
    menu: "Bem-vindo. Para vendas, prima um. Para apoio, prima dois.",
  },
};

/** The six languages; a tag is cut to its first part, and what nobody here speaks is answered in English. */
export function languageOf(tag: string | undefined): string {
  const primary = (tag ?? "es").toLowerCase().split("-")[0] ?? "";
  return Object.hasOwn(phrases, primary) ? primary : "en";
}

/** The words of a phrase, in a language of `languageOf`. */
export function wordsOf(phrase: PhraseName, language: string): string {
  return (phrases[language] ?? englishPhrases())[phrase];
}

function englishPhrases(): Phrases {
  const english = phrases["en"];
  if (english === undefined) throw new Error("the English phrases are missing");
  return english;
}

/** A digit or star or pound that the text asks to press, in any of the languages; the first one named. */
export function digitAskedFor(text: string): string | undefined {
  return /\b(?:pulse|pulsar|marque|press|dial|tapez|appuyez sur|drücken sie|premi|prema|digiti|prima|carregue em)\s+(?:el|la|le|the|die|il|o|a)?\s*([0-9*#])/iu.exec(
    text,
  )?.[1];
}
