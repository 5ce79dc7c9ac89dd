import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ChildProgram } from "./child-program.ts";
import { freeTcpPort, freeUdpPort } from "./free-port.ts";

export interface KamailioOptions {
  /** Holds its files; made if needed. */
  readonly directory: string;
  /** Its TLS identity, PEM. */
  readonly key: string;
  readonly cert: string;
  /** Asks for digests by SHA-256 instead of MD5. */
  readonly sha256?: boolean;
}

/**
 * Debian's kamailio as the registrar and proxy of `trunk.test`: the password of user U is `pw-U`, nonces serve once,
 * registrations last 30 to 120 s, users that registered are called with Record-Route; the number 503 is refused so.
 * Leaving the scope ends it.
 */
export class Kamailio implements AsyncDisposable {
  /** UDP and TCP. */
  readonly port: number;
  readonly tlsPort: number;
  readonly #program: ChildProgram;

  private constructor(program: ChildProgram, ports: { readonly port: number; readonly tlsPort: number }) {
    this.#program = program;
    this.port = ports.port;
    this.tlsPort = ports.tlsPort;
  }

  static async start(options: KamailioOptions): Promise<Kamailio> {
    const { directory } = options;
    await mkdir(directory, { recursive: true });
    const port = await freeUdpPort();
    const tlsPort = await freeTcpPort();
    const file = (name: string): string => join(directory, name);
    await Promise.all([
      writeFile(file("key.pem"), options.key),
      writeFile(file("cert.pem"), options.cert),
      writeFile(file("tls.cfg"), tlsConfig(directory)),
      writeFile(
        file("kamailio.cfg"),
        configOf({ directory, port, tlsPort, sha256: options.sha256 === true }),
      ),
    ]);
    const words = ["-DD", "-E", "-f", file("kamailio.cfg"), "-m", "32", "-M", "8"];
    const program = new ChildProgram("kamailio", [...words, "-Y", directory, "-P", file("kamailio.pid")], {
      cwd: directory,
    });
    try {
      await program.shows(/is ready to take calls/);
    } catch (error) {
      await program[Symbol.asyncDispose]();
      throw error;
    }
    return new Kamailio(program, { port, tlsPort });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#program[Symbol.asyncDispose]();
  }
}

function tlsConfig(directory: string): string {
  return `[server:default]
method = TLSv1.2+
verify_certificate = no
require_certificate = no
private_key = ${directory}/key.pem
certificate = ${directory}/cert.pem
`;
}

const modules =
  "tls kex corex tm tmx sl rr pv maxfwd usrloc registrar textops textopsx siputils sanity nathelper auth xlog";

function configOf(options: {
  readonly directory: string;
  readonly port: number;
  readonly tlsPort: number;
  readonly sha256: boolean;
}): string {
  const { directory, port, tlsPort } = options;
  return `#!KAMAILIO
log_stderror=yes
fork=yes
children=1
tcp_children=1
enable_tls=yes
listen=udp:127.0.0.1:${port}
listen=tcp:127.0.0.1:${port}
listen=tls:127.0.0.1:${tlsPort}
alias="trunk.test"
${modules
  .split(" ")
  .map((name) => `loadmodule "${name}.so"`)
  .join("\n")}
modparam("tls", "config", "${directory}/tls.cfg")
modparam("auth", "algorithm", "${options.sha256 ? "SHA-256" : ""}")
modparam("auth", "nonce_expire", 60)
modparam("auth", "nonce_count", 1)
modparam("auth", "qop", "auth")
modparam("usrloc", "db_mode", 0)
modparam("nathelper", "received_avp", "$avp(s:rcv)")
modparam("registrar", "received_avp", "$avp(s:rcv)")
modparam("registrar", "min_expires", 30)
modparam("registrar", "max_expires", 120)
modparam("tm", "fr_timer", 5000)
event_route[core:worker-one-init] { xlog("L_ERR", "kamailio is ready to take calls\\n"); }
request_route {
  if (!mf_process_maxfwd_header("10")) { sl_send_reply("483", "Too Many Hops"); exit; }
  if (!sanity_check("1511", "7")) exit;
  force_rport();
  if (has_totag()) {
    if (loose_route()) { t_relay(); exit; }
    if (is_method("ACK")) { if (t_check_trans()) t_relay(); exit; }
    sl_send_reply("404", "Not here"); exit;
  }
  if (is_method("CANCEL")) { if (t_check_trans()) t_relay(); exit; }
  if (is_method("OPTIONS")) { sl_send_reply("200", "OK"); exit; }
  t_check_trans();
  if (is_method("REGISTER")) {
    if ($fU == "banned") { sl_send_reply("403", "Forbidden"); exit; }
    if (!pv_www_authenticate("trunk.test", "pw-$fU", "0")) { www_challenge("trunk.test", "1"); exit; }
    fix_nated_register();
    append_to_reply("Service-Route: <sip:127.0.0.1:$Rp;transport=$proto;lr>\\r\\n");
    save("location");
    exit;
  }
  if (!is_method("INVITE")) { sl_send_reply("405", "Method Not Allowed"); exit; }
  if (!pv_proxy_authenticate("trunk.test", "pw-$fU", "0")) { proxy_challenge("trunk.test", "1"); exit; }
  consume_credentials();
  loose_route();
  if ($rU == "503") { sl_send_reply("503", "Service Unavailable"); exit; }
  record_route();
  if (!lookup("location")) { sl_send_reply("404", "Not Found"); exit; }
  if (!t_relay()) sl_reply_error();
}
`;
}
