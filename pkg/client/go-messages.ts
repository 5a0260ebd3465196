import { apiErrorOf, serverMessage } from './errors.ts';

/** What client-go says about a response without a Status, by HTTP status. */
const messages: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/**
 * The message of a failed request, for conditions and events: that of the server, or the words of client-go if the
 * response is not a Status, followed by `request`, such as `get pods.metrics.k8s.io`.
 */
export function goMessage(error: unknown, request: string): string {
  const refusal = apiErrorOf(error);
  if (refusal?.plainText === undefined) return serverMessage(error);
  return `${goText(refusal.status, refusal.plainText)} (${request})`;
}

function goText(status: number, plainText: string): string {
  if (status === 403) return plainText;
  const known = messages[status];
  if (known !== undefined) return known;
  return status >= 500
    ? `an error on the server (${JSON.stringify(plainText)}) has prevented the request from succeeding`
    : `the server responded with the status code ${status} but did not return more information`;
}
