import { json, startVendorServer, type VendorServer } from "./vendor-server.ts";

/** ElevenLabs' streamed speech: the same octets for any text. */
export async function startElevenLabsServer(script: {
  readonly key: string;
  readonly sound: Uint8Array;
}): Promise<VendorServer> {
  return startVendorServer((request, response) => {
    if (request.headers["xi-api-key"] !== script.key)
      return json(response, 401, { detail: { status: "invalid_api_key", message: "Invalid API key" } });
    if (!/^\/v1\/text-to-speech\/[^/]+\/stream$/.test(request.path))
      return json(response, 404, { detail: { status: "not_found", message: "Not Found" } });
    response.writeHead(200, { "content-type": "audio/basic" });
    for (let at = 0; at < script.sound.length; at += 333) response.write(script.sound.subarray(at, at + 333));
    response.end();
  });
}
