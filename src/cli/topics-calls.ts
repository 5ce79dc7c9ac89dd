import { sandboxNumbers } from "./sandbox.ts";
import { statusWords } from "./statuses.ts";
import { code, terms, text, type TopicText } from "./topic-text.ts";

export const csvTopic: TopicText = [
  text(
    "A contact file has a header line; its names say what the columns are. One column holds the phone number. Encoding (UTF-8, UTF-16, else Windows-1252), separator (comma, semicolon, tab, bar, or a first line sep=;) and line ends are found out; --encoding and --delimiter overrule that.",
  ),
  terms(
    [
      "phone",
      "the number to call. Also known as phone number, mobile, telefono, movil, telephone, portable, Telefon, Handy, cellulare, telemovel, ...",
    ],
    [
      "first_name, last_name, email, company, job_title",
      "and their usual names in English, Spanish, French, German, Italian, Portuguese",
    ],
    [
      "address, city, state, country, postal_code, timezone",
      "timezone is an IANA name; the person is only called in its calling hours",
    ],
    ["utm_source, utm_medium, utm_campaign, utm_term, utm_content", "by exactly these names"],
    ["any other column", "becomes a custom field under its own name, for {{name}} in the playbook"],
  ),
  text(
    'If two columns could be one field, nothing is guessed: say which with --map "Mobile=phone". --map "Notes=skip" leaves a column out.',
  ),
  text(
    "Numbers are read with blanks, brackets, dashes and 00 for +. A number without country prefix needs --country. 3.46E+10 is what a spreadsheet leaves of a number: its digits are lost, so it is refused; format the column as text and export again.",
  ),
  text(
    "The second row with the same number is dropped and counted. A row that cannot be called is reported with its line and reason; with --rejects it is kept in a file with the same columns, to be corrected and launched again. The exit code is 7 then, and the other rows are called.",
  ),
  code(
    "outdial campaign launch leads.csv --playbook welcome --country ES --dry-run",
    "outdial campaign launch leads.csv --playbook welcome --country ES --rejects bad.csv",
    'psql -c "copy (select * from due) to stdout csv header" | outdial campaign launch - --playbook dunning --yes',
  ),
];

export const testNumbersTopic: TopicText = [
  text(
    "The sandbox trunk is a carrier inside the daemon. It only takes these numbers, and no other trunk does; no real phone rings.",
  ),
  terms(...sandboxNumbers.map(({ number, behaviour }) => [number, behaviour] as const)),
  code("outdial call start +9990000001 --playbook welcome -f"),
];

export const statusesTopic: TopicText = [
  text(
    "The status field is the published one; status_label and the table say the exact state. --status takes the words of both.",
  ),
  terms(
    ["open", "scheduled, queued, dialing, ringing, in-progress, wrapping"],
    ["closed", "the conversation took place; success says whether its objectives were met"],
    ["voicemail", "a machine answered"],
    ["rong-phone-forno-answer", "no-answer, busy or wrong-number (spelt as in the API)"],
    ["recall-scheduled", "not reached; it will be tried again"],
    ["wmat", "manual: a person must decide, with outdial call resolve"],
    ["failed", "failed or cancelled"],
  ),
  text(`Words for --status: ${statusWords.join(", ")}.`),
];

export const playbookFileTopic: TopicText = [
  text(
    "A playbook is a Markdown file. Its head, between two lines ---, is YAML; what follows are instructions for a language model. A dialog written as script needs no language model. {{name}} stands for a value given with the call.",
  ),
  terms(
    ["name", "of the playbook; the only thing that must be there"],
    ["language", "es, en, pt-br, ...; default es"],
    ["voice", "1 to 7"],
    ["interrupt", "true: the called person may interrupt"],
    ["opening", "the first words on the line"],
    [
      "script",
      "states by name, the first one starts; each says (say) or asks (ask), then goes on by digits, text, otherwise, silence, goto, or ends with end",
    ],
    ["voicemail", "words to leave on a machine; without them: hang up"],
    ["output", "JSON Schema of what the call is to find out"],
    ["success", "what counts as success, in words"],
    ["goodbye", "the last words"],
    ["silence", "what to do when nobody speaks"],
    ["speakers", "labels in the transcript"],
    ["max_minutes", "longest call; default 10"],
    ["rtt", "true: offer real-time text"],
  ),
  code(
    "outdial init --example welcome.md      # writes one to begin with",
    'outdial playbook apply welcome.md -m "first version"',
  ),
];
