/** A playbook that says its words, then ends the call as a success. About 14 characters are spoken in a second. */
export function sayingPlaybook(name: string, words: string, more = ""): string {
  return `---
name: ${name}
language: en
voice: "6"
opening: "${words}"
script:
  done:
    say: "Good bye."
    end: { success: true, summary: "said it all" }
${more}---
`;
}

export const longWords =
  "This is a long sentence, and it goes on so that the line stays open for a while. One, two, three, four, five, six, seven, eight, nine and ten.";

/** A playbook that asks, and takes 1 or a typed yes for a success. */
export function askingPlaybook(name: string, question = "Press 1 to confirm."): string {
  return `---
name: ${name}
language: en
voice: "6"
rtt: true
opening: "Hello {{first_name}}."
script:
  ask:
    ask: "${question}"
    digits: { "1": good, "9": never }
    text: { "yes|sure|ok": good, "stop": never }
    otherwise: bad
    silence: bad
  good:
    say: "Thank you. Good bye."
    end: { success: true, output: { confirmed: true }, summary: "confirmed" }
  never:
    say: "Understood."
    end: { success: false, do_not_call: true, summary: "asked not to be called" }
  bad:
    say: "Good bye."
    end: { success: false, output: { confirmed: false }, summary: "not confirmed" }
silence:
  after_seconds: 3
  max_prompts: 1
  prompt: "Are you there?"
---
`;
}
