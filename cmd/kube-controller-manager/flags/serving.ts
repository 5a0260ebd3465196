import { between, flag } from '../../../pkg/flags/index.ts';
import { inGroup } from './groups.ts';

export const servingFlags = inGroup('Secure serving', {
  'bind-address': flag('ip', {
    default: '0.0.0.0',
    config: 'Serving.BindAddress',
    help: 'Address to listen on; 0.0.0.0 or :: for all interfaces',
  }),
  'cert-dir': flag('string', {
    config: 'Serving.CertDir',
    help: 'Directory for the self-signed certificate; if empty, the certificate is in memory only',
  }),
  'disable-http2-serving': flag('bool', {
    config: 'Serving.DisableHTTP2',
    help: 'Serve HTTP/1.1 only; this binary never serves HTTP/2',
    noEffect: true,
  }),
  'http2-max-streams-per-connection': flag('int', {
    config: 'Serving.HTTP2MaxStreamsPerConnection',
    help: 'Maximum number of streams per HTTP/2 connection; 0 for the default',
    noEffect: true,
  }),
  'permit-address-sharing': flag('bool', {
    config: 'Serving.PermitAddressSharing',
    help: 'Listen with SO_REUSEADDR',
    noEffect: true,
  }),
  'permit-port-sharing': flag('bool', {
    config: 'Serving.PermitPortSharing',
    help: 'Listen with SO_REUSEPORT',
  }),
  'secure-port': flag('int', {
    default: 10257,
    check: between(0, 65_535),
    config: 'Serving.Port',
    help: 'Port for HTTPS; 0 to not serve',
  }),
  'tls-cert-file': flag('string', {
    config: 'Serving.CertFile',
    help: 'Certificate for HTTPS, with its chain; reloaded when the file changes',
  }),
  'tls-cipher-suites': flag('strings', {
    config: 'Serving.CipherSuites',
    help: 'Cipher suites by their IANA names',
  }),
  'tls-curve-preferences': flag('int32Slice', {
    config: 'Serving.CurvePreferences',
    help: 'Key exchange mechanisms by their TLS numbers',
  }),
  'tls-min-version': flag('string', {
    config: 'Serving.MinTLSVersion',
    help: 'Minimum TLS version: VersionTLS10 to VersionTLS13',
  }),
  'tls-private-key-file': flag('string', {
    config: 'Serving.KeyFile',
    help: 'Private key of --tls-cert-file',
  }),
  'tls-sni-cert-key': flag('namedCertKey', {
    config: 'Serving.SNICertKeys',
    help: 'An additional certificate as cert,key or cert,key:name,name; may be repeated',
  }),
});

export const authenticationFlags = inGroup('Authentication', {
  'authentication-kubeconfig': flag('string', {
    config: 'Authentication.Kubeconfig',
    help: 'Kubeconfig for TokenReviews. If empty, the service account of the pod is used; outside a pod, bearer tokens are not accepted',
  }),
  'authentication-skip-lookup': flag('bool', {
    config: 'Authentication.SkipLookup',
    help: 'Do not look up missing client CAs in the cluster',
  }),
  'authentication-token-webhook-cache-ttl': flag('duration', {
    default: '10s',
    config: 'Authentication.CacheTTL',
    help: 'How long the result of a TokenReview is cached',
  }),
  'authentication-tolerate-lookup-failure': flag('bool', {
    config: 'Authentication.TolerateLookupFailure',
    help: 'Start even if the lookup of client CAs fails',
  }),
  'client-ca-file': flag('string', {
    config: 'Authentication.ClientCAFile',
    help: 'CA certificates that sign client certificates',
  }),
  'requestheader-allowed-names': flag('strings', {
    config: 'Authentication.RequestHeader.AllowedNames',
    help: 'Common names of client certificates of front proxies; if empty, any name is allowed',
  }),
  'requestheader-client-ca-file': flag('string', {
    config: 'Authentication.RequestHeader.ClientCAFile',
    help: 'CA certificates that sign the client certificates of front proxies',
  }),
  'requestheader-extra-headers-prefix': flag('strings', {
    default: 'x-remote-extra-',
    config: 'Authentication.RequestHeader.ExtraHeaderPrefixes',
    help: 'Prefixes of the headers that hold extra attributes of the user',
  }),
  'requestheader-group-headers': flag('strings', {
    default: 'x-remote-group',
    config: 'Authentication.RequestHeader.GroupHeaders',
    help: 'Headers that hold the groups of the user',
  }),
  'requestheader-uid-headers': flag('strings', {
    config: 'Authentication.RequestHeader.UIDHeaders',
    help: 'Headers that hold the UID of the user',
  }),
  'requestheader-username-headers': flag('strings', {
    default: 'x-remote-user',
    config: 'Authentication.RequestHeader.UsernameHeaders',
    help: 'Headers that hold the name of the user',
  }),
});

export const authorizationFlags = inGroup('Authorization', {
  'authorization-always-allow-paths': flag('strings', {
    default: '/healthz,/readyz,/livez',
    config: 'Authorization.AlwaysAllowPaths',
    help: 'Paths that need no authorization; a trailing * includes all paths below',
  }),
  'authorization-kubeconfig': flag('string', {
    config: 'Authorization.Kubeconfig',
    help: 'Kubeconfig for SubjectAccessReviews. If empty, the service account of the pod is used; outside a pod, only paths that need no authorization are served',
  }),
  'authorization-webhook-cache-authorized-ttl': flag('duration', {
    default: '10s',
    config: 'Authorization.AuthorizedTTL',
    help: 'How long an allowed SubjectAccessReview is cached',
  }),
  'authorization-webhook-cache-unauthorized-ttl': flag('duration', {
    default: '10s',
    config: 'Authorization.UnauthorizedTTL',
    help: 'How long a denied SubjectAccessReview is cached',
  }),
});
