export interface TarEntry {
  /** Relative, without a slash at its end; at most 100 bytes. */
  readonly path: string;
  readonly mode: number;
  /** Absent: a directory. */
  readonly content?: Buffer;
}

const blockSize = 512;

/** A tar archive (ustar) without owner and time: the same entries give the same bytes. */
export function formatTar(entries: readonly TarEntry[]): Buffer {
  const parts = entries.flatMap((entry) => {
    const content = entry.content ?? Buffer.alloc(0);
    return [formatHeader(entry), content, Buffer.alloc((blockSize - (content.length % blockSize)) % blockSize)];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * blockSize)]);
}

function formatHeader({ path, mode, content }: TarEntry): Buffer {
  const name = content === undefined ? `${path}/` : path;
  if (Buffer.byteLength(name) > 100) throw new Error(`tar: the path is too long: ${name}`);
  const header = Buffer.alloc(blockSize);
  const octal = (value: number, at: number, digits: number): void => {
    header.write(value.toString(8).padStart(digits, '0'), at);
  };
  header.write(name, 0);
  octal(mode, 100, 7);
  octal(0, 108, 7); // owner: root
  octal(0, 116, 7); // group: root
  octal(content?.length ?? 0, 124, 11);
  octal(0, 136, 11); // time: 1970
  header.write(content === undefined ? '5' : '0', 156);
  header.write('ustar\x0000', 257);
  header.fill(' ', 148, 156); // the checksum counts itself as blanks
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    6,
  );
  header.write('\0 ', 154);
  return header;
}
