/** Output for people: short lines, with colours if the terminal supports them. */
export interface Output {
  heading(text: string): void;
  line(text: string): void;
  /** A name and its description. */
  item(name: string, text: string): void;
  /** A command to copy. */
  command(text: string): void;
  /** An event, with the time since the demo began. */
  event(sinceMs: number, text: string): void;
}

export function createOutput(write: (text: string) => void, hasColours: boolean): Output {
  const style = (code: number, text: string): string => (hasColours ? `\u001B[${code}m${text}\u001B[0m` : text);
  const bold = 1;
  const dim = 2;
  const green = 32;
  const line = (text: string): void => write(`${text}\n`);
  return {
    line,
    heading: (text) => line(style(bold, text)),
    item: (name, text) => line(`  ${style(dim, name.padEnd(12))} ${text}`),
    command: (text) => line(`  ${style(green, text)}`),
    event: (sinceMs, text) => line(`  ${style(dim, `${(sinceMs / 1000).toFixed(1)}s`.padStart(6))}  ${text}`),
  };
}
