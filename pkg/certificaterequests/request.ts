import { loadX509 } from './x509.ts';

/** The text is not a certificate request. The message completes "the request …". */
export class CertificateRequestError extends Error {
  override readonly name = 'CertificateRequestError';
  readonly reason = 'InvalidCertificateRequest';
}

export interface SubjectAttribute {
  /** Its object identifier. */
  readonly type: string;
  readonly values: readonly string[];
}

/** The contents of a PKCS #10 request. Nothing is granted yet, and the signature has not been verified. */
export interface RequestedCertificate {
  /** The attributes of the subject that are copied to certificates, in the order of certificates. */
  readonly subject: readonly SubjectAttribute[];
  /** The last common name; empty if there is none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly emailAddresses: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly uris: readonly string[];
  /** The request in DER. */
  readonly raw: Uint8Array<ArrayBuffer>;
}

const block = /-----BEGIN ([A-Z0-9 ]+)-----[^]+?-----END \1-----/;
const commonName = '2.5.4.3';
const organization = '2.5.4.10';
/** The attributes that Go's standard library copies, in its order. All others are dropped. */
const copiedAttributes = [
  '2.5.4.6', // country
  '2.5.4.8', // province
  '2.5.4.7', // locality
  '2.5.4.9', // street address
  '2.5.4.17', // postal code
  organization,
  '2.5.4.11', // organizational unit
];
/** Of these, only the last value is used. */
const singleAttributes = [
  commonName,
  '2.5.4.5', // serial number
];
const extensionRequest = '1.2.840.113549.1.9.14';

/** Reads a PEM request. Throws a `CertificateRequestError`. */
export async function readRequest(pem: string): Promise<RequestedCertificate> {
  const [text, label] = block.exec(pem) ?? [];
  if (text === undefined || label !== 'CERTIFICATE REQUEST') {
    throw new CertificateRequestError('is not a PEM block of type CERTIFICATE REQUEST');
  }
  const library = await loadX509();
  try {
    const request = new library.Pkcs10CertificateRequest(text);
    const valuesOf = (type: string): string[] => request.subjectName.getField(type);
    const subject = [
      ...copiedAttributes.map((type) => ({ type, values: valuesOf(type) })),
      ...singleAttributes.map((type) => ({
        type,
        values: valuesOf(type)
          .slice(-1)
          .filter((value) => value !== ''),
      })),
    ];
    // The lists of the library are its own kinds of arrays, and so would be those made from them.
    const attributes = Array.from(request.getAttributes(extensionRequest));
    const names = attributes
      .flatMap((attribute) => (attribute instanceof library.ExtensionsAttribute ? Array.from(attribute.items) : []))
      .flatMap((extension) =>
        extension instanceof library.SubjectAlternativeNameExtension ? Array.from(extension.names.items) : [],
      );
    const namesOf = (wanted: string): string[] => names.filter(({ type }) => type === wanted).map(({ value }) => value);
    return {
      subject: subject.filter(({ values }) => values.length > 0),
      commonName: valuesOf(commonName).at(-1) ?? '',
      organizations: valuesOf(organization),
      dnsNames: namesOf('dns'),
      emailAddresses: namesOf('email'),
      ipAddresses: namesOf('ip'),
      uris: namesOf('url'),
      raw: new Uint8Array(request.rawData),
    };
  } catch (error) {
    throw new CertificateRequestError('cannot be read', { cause: error });
  }
}
