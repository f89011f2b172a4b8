package attesthttp

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/service/access"
	"coffer/api/service/attest"
	"coffer/api/service/httpapi"
	"coffer/api/text"
)

// Bounds of the work of a server.
const (
	maxAtOnce = 16
	within    = 15 * time.Second
)

// Server answers an operator. Info is what it says of itself. Observe, when set, is told of every request: its path,
// "" when there is no such, the permission that it takes, the status and the time taken.
type Server struct {
	Attester *attest.Attester
	Info     Info
	Auth     access.Authenticator
	Clock    func() time.Time
	Log      *slog.Logger
	Observe  func(path, permission string, status int, took time.Duration)
}

// Handler is the server below a base path of its own.
func (s *Server) Handler() http.Handler {
	places := make(chan struct{}, maxAtOnce)
	mux := http.NewServeMux()
	mux.Handle("GET "+InfoPath, s.guarded(InfoPath, access.Read, places, s.info))
	mux.Handle("POST "+AttestPath, s.guarded(AttestPath, access.Execute, places, s.attest))
	mux.Handle("/", s.guarded("", "", places, func(*http.Request, *line) (any, error) {
		return nil, api.NewError(api.ErrNotFound, "an attester answers GET %s and POST %s", InfoPath, AttestPath)
	}))
	return mux
}

// line is what the log says of a request.
type line struct {
	caller, quote, chain string
}

// guarded admits a request, does it, and answers.
func (s *Server) guarded(path, permission string, places chan struct{},
	do func(*http.Request, *line) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start, said := s.Clock(), &line{}
		body, err := s.admitted(r, path, permission, places, said, do)
		status := http.StatusOK
		var refused *api.Error
		if err != nil {
			if !errors.As(err, &refused) {
				s.Log.Error("a claim cannot be judged", "quote", said.quote, "error", err)
				refused = api.NewError(api.ErrUnavailable, "the attester cannot judge this now")
			}
			body, status = refused, refused.StatusCode
		}
		raw, err := json.Marshal(body, json.Deterministic(true))
		if err != nil {
			status, raw = http.StatusInternalServerError, nil
		}
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		if refused != nil && refused.RetryAfter > 0 {
			h.Set("Retry-After", strconv.Itoa(int((refused.RetryAfter+time.Second-1)/time.Second)))
		}
		w.WriteHeader(status)
		_, _ = w.Write(append(raw, '\n')) //nolint:gosec // JSON, said to be JSON; the operator may be gone
		s.told(r, path, permission, status, s.Clock().Sub(start), said, refused)
	})
}

func (s *Server) admitted(r *http.Request, path, permission string, places chan struct{}, said *line,
	do func(*http.Request, *line) (any, error)) (any, error) {
	grant, err := s.Auth.Admit(r.Context(), access.Attempt{Key: r.Header.Get("X-Api-Key"), Endpoint: path,
		Permission: permission})
	if said.caller = grant.Caller; said.caller != "" {
		httpapi.Proved(r.Context())
	}
	if err != nil {
		return nil, err
	}
	if grant.Release != nil {
		defer grant.Release()
	}
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	default:
		err := api.NewError(api.ErrTooManyRequests, "%d requests are under way", maxAtOnce)
		err.RetryAfter = time.Second
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), within)
	defer cancel()
	return do(r.WithContext(ctx), said)
}

func (s *Server) info(*http.Request, *line) (any, error) { return s.Info, nil }

func (s *Server) attest(r *http.Request, said *line) (any, error) {
	raw, err := io.ReadAll(io.LimitReader(r.Body, MaxRequest+1))
	if err != nil {
		return nil, api.Invalid("", "a complete body", "one that broke off")
	}
	networkID, claim, err := ParseRequest(raw)
	if err != nil {
		return nil, err
	}
	said.quote, said.chain = claim.QuoteID.Hex(), strconv.FormatUint(claim.Escrow.ChainID, 10)
	if networkID != s.Info.Network {
		return nil, refusal(errNotFilled, "this attester is of another network")
	}
	claim.Escrow.Salt = s.Attester.Salt
	signature, err := s.Attester.Attest(r.Context(), claim)
	switch {
	case errors.Is(err, attest.ErrNotYet):
		return nil, refusal(errNotYet, err.Error())
	case errors.Is(err, attest.ErrNotFilled):
		return nil, refusal(errNotFilled, err.Error())
	case err != nil:
		return nil, err
	}
	return answer{signature}, nil
}

// refusal is what the chain does not bear out.
func refusal(name, why string) *api.Error {
	status := http.StatusUnprocessableEntity
	if name == errNotYet {
		status = http.StatusConflict
	}
	return &api.Error{Name: name, Message: why, StatusCode: status}
}

// codes of the log lines.
const (
	codeAttested = "ATTESTED"
	codeRefused  = "ATTEST_REFUSED"
	codeFault    = "ATTEST_FAULT"
)

// told writes the line of a request.
func (s *Server) told(r *http.Request, path, permission string, status int, took time.Duration, said *line,
	refused *api.Error) {
	if s.Observe != nil {
		s.Observe(path, permission, status, took)
	}
	level, code := slog.LevelInfo, codeAttested
	attributes := []any{"method", text.Clean(r.Method, 16), "path", path, "status", status, "caller", said.caller,
		"ms", took.Milliseconds()}
	if said.quote != "" {
		attributes = append(attributes, "quote", said.quote, "chain", said.chain)
	}
	switch {
	case refused != nil && status >= http.StatusInternalServerError:
		level, code = slog.LevelError, codeFault
	case refused != nil:
		level, code = slog.LevelWarn, codeRefused
	case path == InfoPath:
		level, code = slog.LevelDebug, ""
	}
	if refused != nil {
		attributes = append(attributes, "error", refused.Name)
	}
	if code != "" {
		attributes = append(attributes, "code", code)
	}
	s.Log.Log(context.WithoutCancel(r.Context()), level, "request", attributes...)
}
