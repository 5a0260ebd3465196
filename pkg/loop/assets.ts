import { readPageFile } from './page-files.ts';

export interface PageFile {
  readonly contentType: string;
  readonly body: string;
}

/** The name of each file, its path below that of the page, and its type. */
const files = [
  { name: 'index.html', path: '', contentType: 'text/html; charset=utf-8' },
  { name: 'page.js', path: 'page.js', contentType: 'text/javascript; charset=utf-8' },
  { name: 'page.css', path: 'page.css', contentType: 'text/css; charset=utf-8' },
];

/** The files of the page by their path below that of the page. Empty if the page is not built. */
export function loadPage(): ReadonlyMap<string, PageFile> {
  const loaded = new Map<string, PageFile>();
  for (const { name, path, contentType } of files) {
    const body = readPageFile(name);
    if (body !== undefined) loaded.set(path, { contentType, body });
  }
  return loaded.size === files.length ? loaded : new Map();
}
