package access

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/openapi"
	"coffer/api/text"
)

// Limits of a key.
const (
	DefaultPerMinute = 400    // of a key that names no limit
	PublicPerMinute  = 60     // of a public test key
	MaxPerMinute     = 60_000 // requests that a window can hold: eight bytes each
	DefaultFundLimit = 100    // new accounts with test funds, of a key of a service that names no limit either
	MaxFundLimit     = 10_000 // new accounts that a window can hold
	MaxConcurrent    = 1_000
	MaxKeys          = 1_000
)

const (
	maxWords  = 200 // characters of a text field
	maxListed = 50  // entries of a list
)

// KeySpec is what a key is given out for. Company and Project are required, except of a public test key. UseCase,
// Volume, Chains (CAIP-2) and Assets (ob: or CAIP-19) note what was asked for when the key was requested; they inform
// the operator and restrict nothing, as they are preferences of the project.
//
// Permissions are read, quote and execute; none means all. Endpoints are paths below the base path, such as
// /v3/quote/call-quote, or, with a slash at the end, everything below; none means all. PerMinute bounds the requests of
// any 60 seconds, 0 means DefaultPerMinute; Concurrent bounds those under way at once, 0 means no bound. FundLimit
// bounds the new accounts that get test funds through the key in any 24 hours, 0 means the service's limit. A zero
// Expires never comes.
//
// PublicTest makes a key for everybody who develops: PublicPerMinute requests a minute on all endpoints, nothing else
// is set.
type KeySpec struct {
	Company     string    `json:"company,omitzero"`
	Project     string    `json:"project,omitzero"`
	UseCase     string    `json:"useCase,omitzero"`
	Volume      string    `json:"volume,omitzero"`
	Chains      []string  `json:"chains,omitempty"`
	Assets      []string  `json:"assets,omitempty"`
	Permissions []string  `json:"permissions,omitempty"`
	Endpoints   []string  `json:"endpoints,omitempty"`
	PerMinute   int       `json:"perMinute,omitzero"`
	Concurrent  int       `json:"concurrent,omitzero"`
	FundLimit   int       `json:"fundLimit,omitzero"`
	Expires     time.Time `json:"expires,omitzero"`
	PublicTest  bool      `json:"publicTest,omitzero"`
}

// settled returns the specification with its defaults, or every broken rule as a validation error.
func (s KeySpec) settled(now time.Time) (KeySpec, error) {
	var c checker
	if s.PublicTest {
		if !s.onlyPublic() {
			c.fail("publicTest", "no other member than expires beside it", "more")
		}
		s.Company, s.Project, s.PerMinute = "", "public test key", PublicPerMinute
	} else {
		c.words("company", s.Company, true)
		c.words("project", s.Project, true)
	}
	c.words("useCase", s.UseCase, false)
	c.words("volume", s.Volume, false)
	c.list("chains", s.Chains, "a chain in CAIP-2 notation", isChain)
	c.list("assets", s.Assets, "an ob: id or an asset in CAIP-19 notation", isAsset)
	c.list("permissions", s.Permissions, "read, quote or execute",
		func(p string) bool { return slices.Contains(permissions(), p) })
	c.list("endpoints", s.Endpoints, "a path that begins with a slash", isEndpoint)
	if s.PerMinute == 0 {
		s.PerMinute = DefaultPerMinute
	}
	c.number("perMinute", s.PerMinute, 1, MaxPerMinute)
	c.number("concurrent", s.Concurrent, 0, MaxConcurrent)
	c.number("fundLimit", s.FundLimit, 0, MaxFundLimit)
	if !s.Expires.IsZero() && !s.Expires.After(now) {
		c.fail("expires", "a time to come", s.Expires.UTC().Format(time.RFC3339))
	}
	if len(s.Permissions) == 0 {
		s.Permissions = permissions()
	}
	s.Expires = s.Expires.UTC()
	return s, api.NewValidationError(c.failures)
}

// onlyPublic reports whether nothing but PublicTest and Expires is set.
func (s KeySpec) onlyPublic() bool {
	lists := len(s.Chains) + len(s.Assets) + len(s.Permissions) + len(s.Endpoints)
	return s.Company+s.Project+s.UseCase+s.Volume == "" && lists == 0 && s.PerMinute == 0 && s.Concurrent == 0 &&
		s.FundLimit == 0
}

// bounded reports whether the limits of a stored key are ones that a key can have.
func (s KeySpec) bounded() bool {
	return s.PerMinute >= 1 && s.PerMinute <= MaxPerMinute && s.Concurrent >= 0 && s.FundLimit >= 0 &&
		s.FundLimit <= MaxFundLimit
}

// quotes reports whether the key may use an endpoint that prepares or prices; one that may not only reads, unless it
// executes.
func (s KeySpec) quotes() bool {
	return slices.ContainsFunc(openapi.Endpoints(), func(e openapi.Endpoint) bool {
		return e.Permission == Quote &&
			s.allows(e.Path, Quote)
	})
}

// permissions lists every permission.
func permissions() []string { return []string{Read, Quote, Execute} }

// allows reports whether the key may use an endpoint that demands a permission.
func (s KeySpec) allows(endpoint, permission string) bool {
	for _, p := range permissions() {
		if (permission == "" || permission == p) && !slices.Contains(s.Permissions, p) {
			return false
		}
	}
	if permission != "" && !slices.Contains(permissions(), permission) {
		return false
	}
	return len(s.Endpoints) == 0 || slices.ContainsFunc(s.Endpoints, func(e string) bool {
		return e == endpoint || strings.HasSuffix(e, "/") && strings.HasPrefix(endpoint, e)
	})
}

func isChain(s string) bool {
	_, err := caip.ParseChain(s)
	return err == nil
}

func isAsset(s string) bool {
	if _, err := caip.ParseAggregate(s); err == nil {
		return true
	}
	_, err := caip.ParseAsset(s)
	return err == nil
}

func isEndpoint(s string) bool {
	return strings.HasPrefix(s, "/") && !strings.ContainsAny(s, " ?#*") && text.Clean(s, maxWords) == s
}

// checker collects broken rules.
type checker struct{ failures []api.Failure }

func (c *checker) fail(path, expected, got string) {
	c.failures = append(c.failures, api.Failure{Path: path, Expected: expected, Got: text.Clean(got, 80)})
}

func (c *checker) words(path, s string, required bool) {
	switch {
	case strings.TrimSpace(s) == "" && (required || s != ""):
		c.fail(path, "a name or a description", "nothing")
	case text.Clean(s, maxWords) != s:
		c.fail(path, fmt.Sprintf("at most %d visible characters on one line", maxWords), s)
	}
}

func (c *checker) list(path string, of []string, expected string, ok func(string) bool) {
	if len(of) > maxListed {
		c.fail(path, fmt.Sprintf("at most %d entries", maxListed), fmt.Sprint(len(of)))
		return
	}
	for i, s := range of {
		if !ok(s) {
			c.fail(fmt.Sprintf("%s[%d]", path, i), expected, s)
		}
		if slices.Contains(of[:i], s) {
			c.fail(fmt.Sprintf("%s[%d]", path, i), "each entry once", s)
		}
	}
}

func (c *checker) number(path string, n, from, to int) {
	if n < from || n > to {
		c.fail(path, fmt.Sprintf("a whole number from %d to %d", from, to), fmt.Sprint(n))
	}
}
