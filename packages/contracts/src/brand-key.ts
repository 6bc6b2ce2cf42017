const SCHEME = /^(?:[a-z][a-z0-9+.-]*:)?\/\//i;
const AFTER_HOST = /[/?#].*$/s;
const PORT = /:\d+$/;
const DOMAIN = /^(?:[\p{L}\p{N}_-]+\.)+[\p{L}][\p{L}\p{N}-]*\.?$/u;

const ONE_LABEL = /^[\p{L}\p{N}_-]+$/u;
/** `www.example` keeps its `www.`: nothing but a top-level domain would be left. */
const LEADING_WWW = /^(?:www\.)+(?=[^.]+\.)/;

/**
 * Law 9: one spelling for a brand key that is a URL or a domain: lower case, without scheme, user, `www.`, port, path
 * and trailing dot. Any other key is a name and stays as it is.
 */
export const normaliseBrandKey = (value: string): string => {
  const trimmed = value.trim();
  const host = trimmed.replace(SCHEME, '').replace(AFTER_HOST, '').replace(/^.*@/s, '').replace(PORT, '');
  const isDomain = DOMAIN.test(host) || (SCHEME.test(trimmed) && ONE_LABEL.test(host));
  return isDomain ? host.toLowerCase().replace(/\.$/, '').replace(LEADING_WWW, '') : trimmed;
};
