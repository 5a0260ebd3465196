import * as z from 'zod';

import type { Cached, CertificateSigningRequest } from '../../pkg/api/index.ts';
import type { Client } from '../../pkg/client/index.ts';

const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const answer = z.object({ status: z.object({ allowed: z.boolean().default(false) }) });

/** Asks the API server whether the user of the request may create the subresource. */
export async function isAllowed(
  client: Pick<Client, 'request'>,
  { spec }: Cached<CertificateSigningRequest>,
  subresource: string,
  signal: AbortSignal,
): Promise<boolean> {
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: {
      user: spec.username ?? '',
      uid: spec.uid ?? '',
      groups: spec.groups ?? [],
      extra: spec.extra ?? {},
      resourceAttributes: {
        group: 'certificates.k8s.io',
        version: '*',
        resource: 'certificatesigningrequests',
        subresource,
        verb: 'create',
      },
    },
  };
  return answer.parse(await client.request({ method: 'POST', path, body }, signal)).status.allowed;
}
