package networks

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"coffer/api/pattern"
)

// reference is how an endpoint names a credential of the vault; wholeReference is one in the place of a value.
var (
	reference      = pattern.New(`\$\{vault:([a-z0-9][a-z0-9_-]{0,31})\}`)
	wholeReference = pattern.New(`^\$\{vault:([a-z0-9][a-z0-9_-]{0,31})\}$`)
)

// stand is what takes a credential's place where an endpoint is only looked at.
const stand = "in-vault"

// Credential finds what endpoints name as ${vault:NAME}, for a host as Host writes it.
type Credential func(ctx context.Context, name, host string) (string, error)

// Need is a credential that a file names, and the host that it is for.
type Need struct{ Name, Host string }

// Needs lists what the endpoints of a file need, once each.
func (f *File) Needs() (all []Need) {
	var endpoints []string
	for _, c := range f.Chains {
		endpoints = append(endpoints, c.RPC...)
	}
	if f.Solana != nil {
		endpoints = append(endpoints, f.Solana.RPC...)
	}
	for _, endpoint := range endpoints {
		for _, m := range reference.Regexp().FindAllStringSubmatch(endpoint, -1) {
			if n := (Need{m[1], Host(endpoint)}); !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	return all
}

// Expand puts credentials into an endpoint of a chain. The address that it returns is a secret, and secrets are the
// credentials in it.
func (f *File) Expand(ctx context.Context, c Chain, endpoint string, credential Credential) (address string,
	secrets []string, err error) {
	return f.expand(ctx, c.Line, endpoint, credential)
}

func (f *File) expand(ctx context.Context, line int, endpoint string, credential Credential) (address string,
	secrets []string, err error) {
	host := Host(endpoint)
	address = reference.Regexp().ReplaceAllStringFunc(endpoint, func(ref string) string {
		name := reference.Regexp().FindStringSubmatch(ref)[1]
		if credential == nil {
			err = errors.Join(err, fmt.Errorf("%s: %s needs the key %q of a vault", f.Where(line), host, name))
			return ""
		}
		value, failed := credential(ctx, name, host)
		err, secrets = errors.Join(err, failed), append(secrets, value)
		return strings.ReplaceAll(url.QueryEscape(value), "+", "%20") // the same in user, path and query
	})
	if err == nil && Host(address) != host {
		err = fmt.Errorf("%s: a key of a vault makes another host of %s", f.Where(line), host)
	}
	if err != nil {
		return "", nil, err
	}
	return address, secrets, nil
}

// Host is as much of an endpoint as may be shown: scheme and host, in small letters.
func Host(endpoint string) string {
	u, err := url.Parse(reference.Regexp().ReplaceAllString(endpoint, stand))
	if err != nil || u.Host == "" {
		return "an endpoint that cannot be read"
	}
	return u.Scheme + "://" + strings.ToLower(u.Host)
}

// CheckEndpoint says what is wrong with an endpoint: it is https, or http to this machine, and has no credential in
// the clear. The error repeats nothing of it.
func CheckEndpoint(endpoint string) error {
	bare := reference.Regexp().ReplaceAllString(endpoint, stand)
	u, err := url.Parse(bare)
	switch {
	case strings.Contains(bare, "${"):
		return errors.New("a credential is named ${vault:NAME}, with lower-case letters, digits, - and _ in NAME")
	case err != nil || u.Hostname() == "":
		return errors.New("expected an address such as https://node.example/ or http://127.0.0.1:8545")
	case u.Scheme != "https" && u.Scheme != "http":
		return errors.New("expected https, or http to this machine")
	case strings.Contains(u.Host, stand):
		return errors.New("a credential is part of the path, the query or the user, never of the host")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return errors.New("http is for this machine only; expected https")
	case u.Fragment != "":
		return errors.New("expected an address without a fragment (#)")
	case shows(u):
		return errors.New("this looks like a key or a password: keep it in the vault and write ${vault:NAME} instead")
	}
	return nil
}

func loopback(host string) bool {
	at, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && at.IsLoopback()
}

// secretWord matches the names of query parameters that carry credentials.
var secretWord = pattern.New(`(?i)key|token|secret|auth|pass|project|sig`)

// shows reports whether an address shows what should be kept in the vault.
func shows(u *url.URL) bool {
	if u.User != nil {
		user, secret := u.User.Username(), u.User.Username()
		if pass, has := u.User.Password(); has {
			secret = pass
		}
		if secret != stand || looksSecret(user) {
			return true
		}
	}
	if looksSecret(u.Path) {
		return true
	}
	for name, values := range u.Query() {
		for _, v := range values {
			if v != stand && (secretWord.MatchString(name) && v != "" || looksSecret(name) || looksSecret(v)) {
				return true
			}
		}
	}
	return false
}

var (
	reRun   = pattern.New(`[A-Za-z0-9]{20,}`)
	reWords = pattern.New(`[A-Za-z0-9_-]{20,}`)
)

// looksSecret reports whether a part of a text is random enough to be a credential: 20 letters and digits without a
// pause, or with pauses when their kinds change as often as they do in no name.
func looksSecret(s string) bool {
	for _, run := range reRun.Regexp().FindAllString(s, -1) {
		if strings.ContainsAny(run, "0123456789") && strings.ContainsFunc(run, unicode.IsLetter) || changes(run) {
			return true
		}
	}
	for _, words := range reWords.Regexp().FindAllString(s, -1) {
		if changes(words) {
			return true
		}
	}
	return false
}

// changes reports whether the kind of character (digit, capital, small letter) changes with every third one at least.
func changes(s string) bool {
	kind := func(r rune) int {
		switch {
		case unicode.IsDigit(r):
			return 1
		case unicode.IsUpper(r):
			return 2
		}
		return 3
	}
	last, all, n := 0, 0, 0
	for _, r := range s {
		if r == '-' || r == '_' {
			continue
		}
		if all++; last != 0 && kind(r) != last {
			n++
		}
		last = kind(r)
	}
	return n*3 >= all
}
