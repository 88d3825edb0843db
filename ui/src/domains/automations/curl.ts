/** The example call. The token stands in a variable, so that it is not left in the shell's history by copying this. */
export function curlFor(port: number, channel: string): string {
  return [
    `curl -X POST http://127.0.0.1:${port}/api/channels/${channel}/webhook \\`,
    '  -H "X-PocketPilot-Token: $PP_TOKEN" \\',
    '  -H "Content-Type: application/json" \\',
    '  -d \'{"text": "scan-1130.pdf"}\'',
  ].join('\n');
}
