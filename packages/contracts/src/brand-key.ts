const SCHEME = /^(?:[a-z][a-z0-9+.-]*:)?\/\//i;
const AFTER_HOST = /[/?#].*$/s;
const PORT = /:\d+$/;
const DOMAIN = /^(?:[\p{L}\p{N}_-]+\.)+[\p{L}][\p{L}\p{N}-]*\.?$/u;

/**
 * Law 9: one spelling for a brand key that is a URL or a domain: lower case, without scheme, user, `www.`, port, path
 * and trailing dot. Any other key is a name and stays as it is.
 */
export const normaliseBrandKey = (value: string): string => {
  const trimmed = value.trim();
  const host = trimmed.replace(SCHEME, '').replace(AFTER_HOST, '').replace(/^.*@/s, '').replace(PORT, '');
  const isUrl = SCHEME.test(trimmed) && host !== '';
  if (!isUrl && !DOMAIN.test(host)) return trimmed;
  const name = host
    .toLowerCase()
    .replace(/\.+$/, '')
    .replace(/^www\.(?=.*\.)/, '');
  return name === '' ? trimmed : name;
};
