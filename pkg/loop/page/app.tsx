import type { VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import type { Filter, LoopState, Settings } from '../protocol.ts';
import { Cluster } from './cluster.tsx';
import { Loop } from './loop.tsx';
import { ObjectView } from './object.tsx';
import { Mark, nameOf } from './parts.tsx';
import { hrefOfView, parseRoute, queryOfRoute, type Route } from './route.ts';
import { type Connection, type Live, useStream } from './stream.ts';

export function App(): VNode {
  const route = useRoute();
  const query = queryOfRoute(route);
  const live = useStream(query);
  const settings = useSettings(live.openings);
  const main = useRef<HTMLElement>(null);
  const place = placeOf(route);
  const name = settings?.name ?? '';
  useEffect(() => {
    document.title = name === '' ? place : `${place} – ${name}`;
  }, [place, name]);
  useFocusOnMove(main.current, place);
  // The filter of the last cluster view, so that the way back from an object leads there.
  const filter = useRef<Filter>({});
  if (route.view !== 'object') filter.current = route.filter;
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault(); // the hash is the route
          main.current?.focus();
        }}
      >
        Skip to the content
      </a>
      <Header name={name} view={route.view} filter={filter.current} loop={live.loop} />
      <Banner connection={live.connection} />
      <main id="main" ref={main} tabIndex={-1}>
        <View key={place} route={route} live={live} settings={settings} />
      </main>
    </>
  );
}

function View({ route, live, settings }: { route: Route; live: Live; settings: Settings | undefined }): VNode {
  const tries = settings?.tries ?? [];
  switch (route.view) {
    case 'cluster':
      return <Cluster cluster={live.cluster} filter={route.filter} tries={tries} />;
    case 'loop':
      return <Loop loop={live.loop} />;
    case 'object':
      return <ObjectView path={route.object} object={live.object} tries={tries} />;
  }
}

/** What the title of the page says. Filters do not change it. */
function placeOf(route: Route): string {
  switch (route.view) {
    case 'cluster':
      return 'Cluster';
    case 'loop':
      return 'Loop';
    case 'object':
      return `${route.object.resource} ${nameOf(route.object)}`;
  }
}

function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = (): void => setHash(location.hash);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return useMemo(() => parseRoute(hash), [hash]);
}

/** The settings, asked for again whenever the stream opens: another process may answer then. */
function useSettings(openings: number): Settings | undefined {
  const [settings, setSettings] = useState<Settings | undefined>(undefined);
  useEffect(() => {
    if (openings === 0) return undefined;
    const stop = new AbortController();
    fetch('./settings', { signal: stop.signal })
      .then((response) => response.json())
      // The server is of the same build as this page. Without an answer the stream is lost too, and the banner says so.
      .then((value) => setSettings(value as Settings))
      .catch(() => {});
    return () => stop.abort();
  }, [openings]);
  return settings;
}

/** After a link to another view, the keyboard and the screen reader go on there. Not at the start of the page. */
function useFocusOnMove(main: HTMLElement | null, place: string): void {
  const last = useRef(place);
  useEffect(() => {
    if (last.current === place) return;
    last.current = place;
    main?.querySelector('h1')?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [main, place]);
}

interface HeaderProps {
  readonly name: string;
  readonly view: Route['view'];
  readonly filter: Filter;
  readonly loop: LoopState | undefined;
}

function Header({ name, view, filter, loop }: HeaderProps): VNode {
  return (
    <header>
      <div class="bar">
        <span class="brand">
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <circle cx="16" cy="16" r="11" />
          </svg>
          {name}
        </span>
        <nav aria-label="Views">
          <a href={hrefOfView('cluster', filter)} aria-current={view === 'cluster' ? 'page' : undefined}>
            Cluster
          </a>
          <a href={hrefOfView('loop', filter)} aria-current={view === 'loop' ? 'page' : undefined}>
            Loop
          </a>
        </nav>
        {loop !== undefined && <Leadership loop={loop} />}
      </div>
    </header>
  );
}

function Leadership({ loop: { lease } }: { loop: LoopState }): VNode | null {
  if (lease === undefined) return null;
  const { isOurs, holder } = lease;
  return (
    <span class="leadership" title={holder === '' ? undefined : `Held by ${holder}`}>
      <Mark state={isOurs ? 'good' : holder === '' ? 'bad' : 'busy'} />
      {isOurs ? 'leader' : holder === '' ? 'no leader' : 'standby'}
    </span>
  );
}

function Banner({ connection }: { connection: Connection }): VNode {
  return (
    <div role="status">
      {connection === 'lost' && (
        <p class="banner">
          <Mark state="bad" />
          Connection lost, trying again. What you see may be out of date.
        </p>
      )}
    </div>
  );
}
