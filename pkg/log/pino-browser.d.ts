/** pino's types describe its main file alone. */
declare module 'pino/browser.js' {
  export interface RecordLogger extends Record<'error' | 'warn' | 'info' | 'verbose' | 'debug' | 'trace', Write> {
    child(fields: object): RecordLogger;
  }
  type Write = (fields: object, message: string) => void;
  interface Options {
    readonly level: string;
    readonly customLevels: Readonly<Record<string, number>>;
    readonly timestamp: false;
    readonly browser: {
      readonly write: Readonly<Record<string, (record: object) => void>>;
      readonly formatters: { level(name: string): object };
    };
  }
  export default function pino(options: Options): RecordLogger;
}
