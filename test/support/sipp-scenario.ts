/** One step of a sipp scenario, as XML. */
export type Step = string;

export interface ReplyOptions {
  /** With an SDP answer: PCMU on sipp's media port. */
  readonly sdp?: boolean;
  /** Sent again until the next message comes, starting after this long. */
  readonly retransMs?: number;
  readonly headers?: readonly string[];
  /** Of which request: the one received last, or the INVITE (after a CANCEL came in between). */
  readonly to?: "last" | "invite";
}

const sdp = `v=0
o=sipp 1 1 IN IP4 [local_ip]
s=-
c=IN IP4 [media_ip]
t=0 0
m=audio [media_port] RTP/AVP 0 101
a=rtpmap:0 PCMU/8000
a=rtpmap:101 telephone-event/8000
a=fmtp:101 0-16
a=sendrecv`;

const contact = "Contact: <sip:sipp@[local_ip]:[local_port]>";
const tag = "tag=sipp[call_number]";

/** A scenario of the called side: begins with the INVITE. */
export function calleeScenario(...steps: readonly Step[]): string {
  return scenario(receiveInvite(), ...steps);
}

/** A scenario of the calling side: begins by inviting the number. */
export function callerScenario(number: string, ...steps: readonly Step[]): string {
  return scenario(invite(number), ...steps.map((step) => step.replaceAll("{number}", number)));
}

/** Any scenario, from its steps. */
export function scenario(...steps: readonly Step[]): string {
  const variables = steps.some((step) => step.includes("assign_to"))
    ? `<Reference variables="from,to,via,cseq,number"/>\n`
    : "";
  return `<?xml version="1.0" encoding="ISO-8859-1" ?>
<scenario name="test">
${steps.join("\n")}
<label id="end"/>
${variables}</scenario>
`;
}

/** The first INVITE of a call; keeps what later steps of ours need from it. `next` is a label by number dialled. */
export function receiveInvite(numbers: Readonly<Record<string, string>> = {}): Step {
  const save = (header: string, name: string): string =>
    `<ereg regexp=".*" search_in="hdr" header="${header}:" assign_to="${name}"/>`;
  const branches = Object.entries(numbers).map(
    ([
      end,
      label,
    ]) => `<nop><action><ereg regexp="${end}$" search_in="var" variable="number" check_it="false" assign_to="${label}"/></action></nop>
<nop next="${label}" test="${label}"/>`,
  );
  return `<recv request="INVITE" rrs="true"><action>
${save("From", "from")}
${save("To", "to")}
${save("Via", "via")}
${save("CSeq", "cseq")}
<ereg regexp="sip:([+0-9]*)@" search_in="hdr" header="To:" assign_to="whole,number"/>
</action></recv>
<Reference variables="whole"/>
${branches.join("\n")}`;
}

/** Waits for a request of this method; `andThen` jumps to a label. Fails the call after `withinMs`. */
export function receive(
  method: string,
  options: { withinMs?: number; label?: string; optional?: boolean } = {},
): Step {
  const timeout = options.withinMs === undefined ? "" : ` timeout="${options.withinMs}"`;
  const next = options.label === undefined ? "" : ` next="${options.label}"`;
  const optional = options.optional === true ? ` optional="true"` : "";
  return `<recv request="${method}" crlf="true"${optional}${timeout}${next}/>`;
}

/** Waits for a response; `dialog` keeps its Contact and Record-Route for the requests that follow. */
export function receiveStatus(status: number, options: { optional?: boolean; dialog?: boolean } = {}): Step {
  const optional = options.optional === true ? ` optional="true"` : "";
  const dialog = options.dialog === true ? ` rrs="true"` : "";
  return `<recv response="${status}"${optional}${dialog}/>`;
}

export function reply(status: number, reason: string, options: ReplyOptions = {}): Step {
  const ofInvite = options.to === "invite";
  const lines = [
    `SIP/2.0 ${status} ${reason}`,
    ofInvite ? "Via:[$via]" : "[last_Via:]",
    ofInvite ? "From:[$from]" : "[last_From:]",
    ofInvite ? `To:[$to];${tag}` : `[last_To:]${status === 100 ? "" : toTag}`,
    "[last_Call-ID:]",
    ofInvite ? "CSeq:[$cseq]" : "[last_CSeq:]",
    contact,
    ...(options.headers ?? []),
  ];
  return send(lines, options);
}

/** Ours is added to the first answers; in-dialog requests bring it along. */
const toTag = `;${tag}`;

/** 200 to an in-dialog request (BYE, CANCEL). */
export function accept(): Step {
  return send([
    "SIP/2.0 200 OK",
    "[last_Via:]",
    "[last_From:]",
    "[last_To:]",
    "[last_Call-ID:]",
    "[last_CSeq:]",
    contact,
  ]);
}

/** Our BYE on the call of the last INVITE. */
export function bye(): Step {
  return send(
    [
      "BYE [next_url] SIP/2.0",
      "Via: SIP/2.0/UDP [local_ip]:[local_port];branch=[branch]",
      `From:[$to];${tag}`,
      "To:[$from]",
      "Call-ID: [call_id]",
      "CSeq: 7 BYE",
      "Max-Forwards: 70",
      contact,
    ],
    { retransMs: 500 },
  );
}

function invite(number: string): Step {
  return send(
    [
      `INVITE sip:${number}@[remote_ip]:[remote_port] SIP/2.0`,
      "Via: SIP/2.0/UDP [local_ip]:[local_port];branch=[branch];rport",
      ...callerFields(number),
      "CSeq: 1 INVITE",
      contact,
    ],
    { sdp: true, retransMs: 500 },
  );
}

/** ACK of a 200: a transaction of its own, to the callee's Contact. */
export function ack(): Step {
  return send(inDialog("ACK", 1));
}

/** The caller's BYE. */
export function callerBye(): Step {
  return send(inDialog("BYE", 2), { retransMs: 500 });
}

/** ACK of a refusal: in the transaction of the INVITE. */
export function failureAck(): Step {
  return send(inInvite("ACK", "[last_To:]"));
}

export function cancel(): Step {
  return send(inInvite("CANCEL", "To: <sip:{number}@[remote_ip]:[remote_port]>"), { retransMs: 500 });
}

function inDialog(method: string, cseq: number): readonly string[] {
  return [
    `${method} [next_url] SIP/2.0`,
    "Via: SIP/2.0/UDP [local_ip]:[local_port];branch=[branch];rport",
    "Max-Forwards: 70",
    `From: <sip:sipp@[local_ip]:[local_port]>;${tag}`,
    "To: <sip:{number}@[remote_ip]:[remote_port]>[peer_tag_param]",
    "Call-ID: [call_id]",
    `CSeq: ${cseq} ${method}`,
    contact,
  ];
}

function inInvite(method: string, to: string): readonly string[] {
  return [
    `${method} sip:{number}@[remote_ip]:[remote_port] SIP/2.0`,
    "[last_Via:]",
    "Max-Forwards: 70",
    `From: <sip:sipp@[local_ip]:[local_port]>;${tag}`,
    to,
    "Call-ID: [call_id]",
    `CSeq: 1 ${method}`,
  ];
}

function callerFields(number: string): readonly string[] {
  return [
    "Max-Forwards: 70",
    `From: <sip:sipp@[local_ip]:[local_port]>;${tag}`,
    `To: <sip:${number}@[remote_ip]:[remote_port]>`,
    "Call-ID: [call_id]",
  ];
}

export function wait(ms: number): Step {
  return `<pause milliseconds="${ms}"/>`;
}

/** The end of a branch. */
export function stop(): Step {
  return `<nop next="end"/>`;
}

export function label(name: string): Step {
  return `<label id="${name}"/>`;
}

function send(lines: readonly string[], options: ReplyOptions = {}): Step {
  const body = options.sdp === true ? sdp : "";
  const type = options.sdp === true ? ["Content-Type: application/sdp"] : [];
  const retrans = options.retransMs === undefined ? "" : ` retrans="${options.retransMs}"`;
  return `<send${retrans}><![CDATA[
${[...lines, ...type, "Content-Length: [len]"].join("\n")}

${body}
]]></send>`;
}
