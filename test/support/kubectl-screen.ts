/**
 * Replaces the parts of the output that differ between two runs on the same server, such as generated names and times.
 */
export function sameOnAnyServer(screen: string): string {
  let text = screen;
  for (const [pattern, replacement] of accidents) text = text.replaceAll(pattern, replacement);
  return text;
}

const accidents: readonly (readonly [RegExp, string])[] = [
  [/\bweb-[a-z0-9]{8,10}(-[a-z0-9]{5})?\b/g, 'web-NAME'],
  [/\b(web|one|two)-[a-z0-9]{5}\b/g, '$1-NAME'],
  [/\bdb-[a-z0-9]{6,10}\b/g, 'db-HASH'], // a restart writes the time into the template
  [/\bagent-[a-z0-9]{5,10}\b/g, 'agent-NAME'], // its pods and its revisions
  [/kube-api-access-[a-z0-9]{5}/g, 'kube-api-access-NAME'],
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, 'TIME'],
  [/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000/g, 'TIME'],
  [/((resourceVersion|generation|observedGeneration):) "?\d+"?/g, '$1 VERSION'],
  [/\b10\.(96|128)\.\d+\.\d+/g, '10.$1.X.X'],
  [/(nodePort:|NodePort:\s+\S+ ) ?\d+/g, '$1 PORT'],
  [/80:\d+\/TCP/g, '80:PORT/TCP'],
  [/(pod-template-hash[:=]) ?\w+/g, '$1 HASH'],
  [/\bnode-\d+/g, 'node-N'],
  [/\bzone-[a-c]\b/g, 'zone-Z'],
  [/\b172\.16\.0\.\d+/g, '172.16.0.N'],
  [/\b\d+(d|h|m|ms|s)(\d+[hms])?\b/g, 'AGE'],
  // Whether the last sync of a slice came from a change of its pods, or from a resync.
  [/^ *annotations:\n *endpoints\.kubernetes\.io\/last-change-trigger-time: .*\n/gm, ''],
  // The number of intermediate states that a watcher observes is random.
  [/^Waiting for deployment.*\n/gm, ''],
  // The width of columns depends on the names above.
  [/ +$/gm, ''],
  [/ {2,}/g, '  '],
];
