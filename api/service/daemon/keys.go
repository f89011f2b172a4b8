package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/openapi"
	"coffer/api/service"
	"coffer/api/service/access"
	"coffer/api/service/httpapi"
)

// Keys are the API keys of a data directory, whether a service runs on it or not. A directory without a database is
// service.ErrNoDatabase, except for Add; what is wrong with a request is a validation error (*api.Error) whose details
// name the member.
type Keys struct{ Dir string }

// Add makes a key and returns its text, this once. Where no service ran yet, the directory is made; the one that starts
// there has the key.
func (k Keys) Add(ctx context.Context, spec access.KeySpec) (text string, info access.KeyInfo, err error) {
	if err := known(spec.Endpoints); err != nil {
		return "", info, err
	}
	err = k.administer(ctx, true, func(keys service.KeyAdmin) (err error) {
		text, info, err = keys.Add(ctx, spec)
		return err
	})
	return text, info, err
}

// List lists the keys.
func (k Keys) List(ctx context.Context) (all []access.KeyInfo, err error) {
	err = k.administer(ctx, false, func(keys service.KeyAdmin) (err error) {
		all, err = keys.List(ctx)
		return err
	})
	return all, err
}

// Rotate gives a key a new text; the old one stays good for grace.
func (k Keys) Rotate(ctx context.Context, id string, grace time.Duration) (text string, info access.KeyInfo,
	err error) {
	err = k.administer(ctx, false, func(keys service.KeyAdmin) (err error) {
		text, info, err = keys.Rotate(ctx, id, grace)
		return err
	})
	return text, info, err
}

// Revoke ends a key.
func (k Keys) Revoke(ctx context.Context, id string) (info access.KeyInfo, err error) {
	err = k.administer(ctx, false, func(keys service.KeyAdmin) (err error) {
		info, err = keys.Revoke(ctx, id)
		return err
	})
	return info, err
}

// administer calls fn with the keys and says what to do about an error.
func (k Keys) administer(ctx context.Context, create bool, fn func(service.KeyAdmin) error) error {
	err := service.AdministerKeys(ctx, k.Dir, create, fn)
	var e *api.Error
	switch {
	case errors.Is(err, service.ErrNoDatabase):
		return fmt.Errorf("%w: no service ran there yet, or --data is missing", err)
	case errors.As(err, &e) && e.Name == api.ErrNotFound:
		return fmt.Errorf("%w; `coffer serve keys list` shows the ids", err)
	}
	return err
}

// known refuses paths that no endpoint has: a key for a mistyped one would be good for nothing.
func known(paths []string) error {
	var failures []api.Failure
	for i, p := range paths {
		if p != httpapi.ExplorerEndpoint && !slices.ContainsFunc(openapi.Endpoints(), func(e openapi.Endpoint) bool {
			return !e.Open && (e.Path == p || strings.HasSuffix(p, "/") && strings.HasPrefix(e.Path, p))
		}) {
			failures = append(failures, api.Failure{
				Path:     fmt.Sprintf("endpoints[%d]", i),
				Expected: "an endpoint such as /v3/quote/call-quote, or /v3/ for all below it", Got: p,
			})
		}
	}
	return api.NewValidationError(failures)
}
