import { flag } from './flag.ts';

export const servingFlags = {
  'bind-address': flag('ip', '0.0.0.0', 'Serving.BindAddress', 'Address to listen on; 0.0.0.0 or :: for all'),
  'cert-dir': flag('string', '', 'Serving.CertDir', 'Where a self-signed certificate is kept; empty for memory only'),
  'disable-http2-serving': flag('bool', '', 'Serving.DisableHTTP2', 'Serve HTTP/1.1 only'),
  'http2-max-streams-per-connection': flag(
    'int',
    '',
    'Serving.HTTP2MaxStreamsPerConnection',
    'Streams a client may have open at once on one HTTP/2 connection; 0 for the default',
  ),
  'permit-address-sharing': flag('bool', '', 'Serving.PermitAddressSharing', 'Bind with SO_REUSEADDR'),
  'permit-port-sharing': flag('bool', '', 'Serving.PermitPortSharing', 'Bind with SO_REUSEPORT'),
  'secure-port': flag('int', '10257', 'Serving.Port', 'Port for HTTPS; 0 to serve nothing'),
  'tls-cert-file': flag(
    'string',
    '',
    'Serving.CertFile',
    'Certificate for HTTPS, with its chain; read again on change',
  ),
  'tls-cipher-suites': flag('strings', '', 'Serving.CipherSuites', 'Cipher suites by their IANA names'),
  'tls-curve-preferences': flag('int32Slice', '', 'Serving.CurvePreferences', 'Key exchanges by their TLS numbers'),
  'tls-min-version': flag('string', '', 'Serving.MinTLSVersion', 'VersionTLS10 to VersionTLS13'),
  'tls-private-key-file': flag('string', '', 'Serving.KeyFile', 'Private key of --tls-cert-file'),
  'tls-sni-cert-key': flag(
    'namedCertKey',
    '',
    'Serving.SNICertKeys',
    'Further certificates as cert,key or cert,key:name,name; may be repeated',
  ),
};

export const authenticationFlags = {
  'authentication-kubeconfig': flag(
    'string',
    '',
    'Authentication.Kubeconfig',
    'Credentials for TokenReviews; without it the ones of the process, and anonymous callers are told apart no further',
  ),
  'authentication-skip-lookup': flag(
    'bool',
    '',
    'Authentication.SkipLookup',
    'Do not look up missing client CAs in the cluster',
  ),
  'authentication-token-webhook-cache-ttl': flag(
    'duration',
    '10s',
    'Authentication.CacheTTL',
    'How long the answer to a TokenReview holds',
  ),
  'authentication-tolerate-lookup-failure': flag(
    'bool',
    '',
    'Authentication.TolerateLookupFailure',
    'Start although that lookup failed',
  ),
  'client-ca-file': flag(
    'string',
    '',
    'Authentication.ClientCAFile',
    'Client certificates signed by these authorities prove who is calling',
  ),
  'requestheader-allowed-names': flag(
    'strings',
    '',
    'Authentication.RequestHeader.AllowedNames',
    'Common names of proxies that may vouch for a caller; empty for any',
  ),
  'requestheader-client-ca-file': flag(
    'string',
    '',
    'Authentication.RequestHeader.ClientCAFile',
    'Authorities that sign the certificates of such proxies',
  ),
  'requestheader-extra-headers-prefix': flag(
    'strings',
    'x-remote-extra-',
    'Authentication.RequestHeader.ExtraHeaderPrefixes',
    'Headers with these prefixes hold extra facts about the caller',
  ),
  'requestheader-group-headers': flag(
    'strings',
    'x-remote-group',
    'Authentication.RequestHeader.GroupHeaders',
    "Headers that hold the caller's groups",
  ),
  'requestheader-uid-headers': flag(
    'strings',
    '',
    'Authentication.RequestHeader.UIDHeaders',
    "Headers that hold the caller's UID",
  ),
  'requestheader-username-headers': flag(
    'strings',
    'x-remote-user',
    'Authentication.RequestHeader.UsernameHeaders',
    "Headers that hold the caller's name",
  ),
};

export const authorizationFlags = {
  'authorization-always-allow-paths': flag(
    'strings',
    '/healthz,/readyz,/livez',
    'Authorization.AlwaysAllowPaths',
    'Paths anyone may read; a trailing * takes in all below',
  ),
  'authorization-kubeconfig': flag(
    'string',
    '',
    'Authorization.Kubeconfig',
    'Credentials for SubjectAccessReviews; without it those of the process',
  ),
  'authorization-webhook-cache-authorized-ttl': flag(
    'duration',
    '10s',
    'Authorization.AuthorizedTTL',
    'How long a yes holds',
  ),
  'authorization-webhook-cache-unauthorized-ttl': flag(
    'duration',
    '10s',
    'Authorization.UnauthorizedTTL',
    'How long a no holds',
  ),
};
