/** Scripts that run in the page. They are text, because the globals of a browser are not declared in the tests. */

/** Calls `recordStep` with the links to all pods in the picture, after each drawing. */
export const recordPods = `
  new MutationObserver(() => {
    const hrefs = [...document.querySelectorAll('.chip')].map((chip) => chip.getAttribute('href'));
    recordStep(hrefs.sort().join(' '));
  }).observe(document.body, { subtree: true, childList: true, attributes: true });`;

export interface Counts {
  readonly frames: number;
  /** How often something was changed: each is one run of the page's code. */
  readonly drawings: number;
  /** Elements that were added, removed or changed. */
  readonly changes: number;
}

/** Counts from now on, in \`counts\`. */
export const startCounting = `
  globalThis.counts = { frames: 0, drawings: 0, changes: 0 };
  {
    const { counts } = globalThis;
    const count = () => {
      counts.frames++;
      requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
    new MutationObserver((records) => {
      counts.drawings++;
      counts.changes += records.length;
    }).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
  }`;

export const readCounts = 'globalThis.counts';
export const countElements = `document.querySelectorAll('*').length`;
export const pageWidth = 'document.documentElement.scrollWidth';
export const focusedTag = 'document.activeElement.tagName';
export const focusedText = 'document.activeElement.textContent.trim()';
/** After axe is loaded. */
export const findViolations = `
  axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`;
