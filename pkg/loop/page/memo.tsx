import { Component, type ComponentChild, type FunctionComponent } from 'preact';

/**
 * Draws a component again only if one of its properties is another value. With it, a change of one pod among a thousand
 * draws one cell.
 */
export function memo<P extends object>(Inner: FunctionComponent<P>): new (props: P) => Component<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(next: Readonly<P>): boolean {
      const names = Object.keys({ ...this.props, ...next }) as (keyof P)[];
      return names.some((name) => name !== 'children' && this.props[name] !== next[name]);
    }

    override render(): ComponentChild {
      return <Inner {...this.props} />;
    }
  };
}
