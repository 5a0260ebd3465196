import { keyOf, type Cached, type CertificateSigningRequest } from '../api/index.ts';
import { CertificateRequestError, readRequest, type RequestedCertificate } from './request.ts';

/** Reads the PKCS #10 request of an object. Throws a `CertificateRequestError` that names the object. */
export async function readContent(request: Cached<CertificateSigningRequest>): Promise<RequestedCertificate> {
  try {
    return await readRequest(Buffer.from(request.spec.request, 'base64').toString('latin1'));
  } catch (error) {
    if (!(error instanceof CertificateRequestError)) throw error;
    throw new CertificateRequestError(`read CertificateSigningRequest ${keyOf(request)}: it ${error.message}`, {
      cause: error,
    });
  }
}
