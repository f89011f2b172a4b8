// Package access decides who may call the service. The HTTP layer asks one Authenticator for every request; what stands
// behind it (one key of the process, stored hashed keys with permissions and limits, a trusted local socket) is its own
// affair.
//
// Promise: keys are compared in constant time and never appear in an error, a log line or a Grant. Errors are
// *api.Error: UnauthorizedException 401, ForbiddenException 403, TooManyRequests 429 with RetryAfter (protocol §6).
package access

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"coffer/api"
)

// Permissions of an endpoint. Reading asks, quoting prepares and prices, executing moves funds.
const (
	Read    = "read"
	Quote   = "quote"
	Execute = "execute"
)

// Attempt is one request as an authenticator sees it. Key is the x-api-key header, "" when it is missing; Endpoint is
// the route's path below the base path, such as "/v3/quote/execute-quote"; Permission is what the route demands, ""
// demands every permission.
type Attempt struct {
	Key        string
	Endpoint   string
	Permission string
}

// Grant says that a request may go on. Caller names the key or channel for log lines and is no secret. Release is
// called when the request has ended; it may be nil.
//
// Limit, Remaining and Reset are what the answer tells about the key's sliding window: how many requests it admits, how
// many are left, and when the oldest one in it expires. A zero Reset means that there is no window. They are set beside
// a 403 and a 429, too, so that every answer to a known key carries them; Release is nil then.
type Grant struct {
	Caller    string
	Release   func()
	Limit     int
	Remaining int
	Reset     time.Time
	// Funds reports whether an account that the request names may get test funds. A new account counts against the
	// caller's budget, unless the answer is no. nil means no: who may only read makes the service write nothing.
	Funds func(newAccount bool) bool
	// Project is the id of the project that the caller belongs to: what it makes is kept for that, and a private
	// service shows it to no other. All is set for who owns the data anyway and may see everything.
	Project string
	All     bool
}

// MayFund is Funds; false where that is nil.
func (g Grant) MayFund(newAccount bool) bool { return g.Funds != nil && g.Funds(newAccount) }

// always is what a caller without a budget may do.
func always(bool) bool { return true }

type grantKey struct{}

// Within returns a context that carries the grant to the use cases.
func (g Grant) Within(ctx context.Context) context.Context {
	return context.WithValue(ctx, grantKey{}, g)
}

// Of returns the grant of the request that a context belongs to; the zero Grant, which allows nothing, where there is
// none.
func Of(ctx context.Context) Grant {
	g, _ := ctx.Value(grantKey{}).(Grant)
	return g
}

// Authenticator admits a request or says why not with an *api.Error; the Grant beside an error tells of the window
// only. It must be safe for concurrent use.
type Authenticator interface {
	Admit(context.Context, Attempt) (Grant, error)
}

// message is the one text of every 401: it does not tell a missing key from a wrong one.
const message = "Invalid or missing API key"

// Unauthorized is the 401 error; the HTTP layer adds time and path.
func Unauthorized() *api.Error { return api.NewError(api.ErrUnauthorized, message) }

// projectOf is the id of a project: 32 hex digits that follow from what names it.
func projectOf(names ...string) string {
	h := sha256.New()
	for _, n := range names {
		_, _ = fmt.Fprintf(h, "%d:%s", len(n), n) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// OneKey admits callers with the one key of this process, without limits. An empty key admits no one. The keys of all
// processes are one project.
type OneKey struct {
	sum   [sha256.Size]byte
	empty bool
}

// NewOneKey keeps a digest of the key, not the key.
func NewOneKey(key string) *OneKey {
	return &OneKey{sum: sha256.Sum256([]byte(key)), empty: key == ""}
}

// Admit compares digests, so neither the time taken nor its length tells anything about the key.
func (k *OneKey) Admit(_ context.Context, a Attempt) (Grant, error) {
	sum := sha256.Sum256([]byte(a.Key))
	if subtle.ConstantTimeCompare(sum[:], k.sum[:]) != 1 || k.empty {
		return Grant{}, Unauthorized()
	}
	return Grant{Caller: "key", Funds: always, Project: projectOf("process")}, nil
}

// Trusted admits everything that comes through a channel which the operating system guards, such as a socket of mode
// 0600. It sees what every project made.
type Trusted struct{ Caller string }

// Admit always succeeds.
func (t Trusted) Admit(context.Context, Attempt) (Grant, error) {
	return Grant{Caller: t.Caller, Funds: always, All: true}, nil
}

// Either admits what one of several authenticators admits; the last one's refusal is the answer when none knows the
// key. The key is good at the first one that does not answer 401.
func Either(of ...Authenticator) Authenticator { return either(of) }

type either []Authenticator

// Admit asks one after the other.
func (e either) Admit(ctx context.Context, a Attempt) (g Grant, err error) {
	err = Unauthorized()
	for _, one := range e {
		g, err = one.Admit(ctx, a)
		var refused *api.Error
		if !errors.As(err, &refused) || refused.Name != api.ErrUnauthorized {
			return g, err
		}
	}
	return g, err
}
