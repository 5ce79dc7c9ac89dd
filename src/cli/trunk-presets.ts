import type { TrunkBody } from "#wire";

/** What is known of a provider or an exchange beforehand; every value gives way to its flag. */
export interface TrunkPreset {
  readonly name: string;
  /** For help. */
  readonly summary: string;
  /** Where it is, when that is the same for all customers. */
  readonly server?: string;
  /** What to give as --server otherwise. */
  readonly serverHint?: string;
  readonly register?: true;
  readonly settings: Partial<Omit<TrunkBody, "name" | "kind" | "host" | "port">>;
}

export const trunkPresets: readonly TrunkPreset[] = [
  {
    name: "twilio",
    summary: "Elastic SIP Trunking; takes no registrations",
    // A Request-URI with another host is dropped without a word.
    serverHint: "your Termination URI, such as clinic.pstn.twilio.com",
    settings: { codecs: ["PCMU", "PCMA"], caller_id_header: "from" },
  },
  {
    name: "telnyx",
    summary: "by credentials or by address; the caller id in E.164",
    server: "sip.telnyx.com",
    settings: { codecs: ["PCMU", "PCMA"], caller_id_header: "from", register_expires_s: 800 },
  },
  {
    name: "ovh",
    summary: "registers; dials as in France",
    // Its guide wants a fixed host and port, without SRV.
    server: "siptrunk.ovh.net:5060",
    register: true,
    settings: {
      transport: "udp",
      codecs: ["PCMA", "PCMU"],
      number_format: "{national:FR}",
      register_expires_s: 1800,
    },
  },
  {
    name: "vonage",
    summary: "by credentials or by address; the caller id in From",
    serverHint: "your trunk's domain, such as clinic.sip-eu.vonage.com",
    settings: { codecs: ["PCMA", "PCMU"], caller_id_header: "from" },
  },
  {
    name: "asterisk",
    summary: "an Asterisk of your own, in wideband where it can",
    serverHint: "the address of the exchange",
    settings: { codecs: ["G722", "PCMA", "PCMU"], caller_id_header: "p-asserted-identity" },
  },
  {
    name: "freeswitch",
    summary: "a FreeSWITCH of your own, in wideband where it can",
    serverHint: "the address of the exchange",
    settings: { codecs: ["G722", "PCMA", "PCMU"], caller_id_header: "remote-party-id" },
  },
  {
    name: "kamailio",
    summary: "a Kamailio of your own",
    serverHint: "the address or the domain of the proxy",
    settings: { codecs: ["PCMA", "PCMU", "G722"], caller_id_header: "p-asserted-identity" },
  },
  { name: "generic", summary: "nothing but the defaults", settings: {} },
];
