package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/rpcpool"
	"coffer/api/service/chain"
	"coffer/api/service/store"
	"coffer/api/text"
)

const (
	isoMillis = "2006-01-02T15:04:05.000Z"
	maxShown  = 200
	awayPause = 5 * time.Second // before a caller asks again whose answer needs a database that is away
)

// fail writes the error body. What is no *api.Error is the operator's business: it is logged, and the sender gets a 500
// without detail.
func (h *handler) fail(w *answer, r *http.Request, log *slog.Logger, err error) {
	var e *api.Error
	if errors.Is(err, store.ErrNotWritten) {
		log.Error("request failed", "error", err)
		e = notWritten(err)
	} else if errors.Is(err, store.ErrAway) {
		log.Error("request failed", "error", err)
		e = api.NewError(api.ErrUnavailable, "The service's database does not answer: ask again in a moment. What was "+
			"accepted is safe and goes on when it is back")
		e.RetryAfter = awayPause
	} else if errors.Is(err, store.ErrBusy) {
		log.Warn("request failed", "error", err)
		e = api.NewError(api.ErrUnavailable, "The service has more to read than it can at once: ask again in a moment")
		e.RetryAfter = time.Second
	} else if errors.Is(err, chain.ErrGone) {
		log.Warn("request failed", "error", err)
		e = api.NewError(api.ErrUnavailable, "The newest blocks of the chain are being replaced: ask again in a moment")
		e.RetryAfter = time.Second
	} else if silent(err) {
		log.Warn("request failed", "error", err)
		e = api.NewError(api.ErrUnavailable, "The nodes of a chain that this needs do not answer, or not alike: try "+
			"again later")
	} else if !errors.As(err, &e) {
		if r.Context().Err() != nil && errors.Is(err, context.Cause(r.Context())) {
			log.Info("the caller went away", "error", err)
		} else {
			log.Error("request failed", "error", err)
		}
		e = api.NewError(api.ErrInternal, "%s. Request id: %s", inside(err), w.Header().Get("X-Request-Id"))
	}
	body := *e
	if body.StatusCode == http.StatusUnauthorized {
		body.Timestamp = h.Clock().UTC().Format(isoMillis)
		body.Path = text.Clean(r.URL.Path, maxShown)
	}
	if body.RetryAfter > 0 {
		seconds := math.Ceil(body.RetryAfter.Seconds())
		w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
	}
	w.failure = body.Name
	doc, err := api.Encode(body)
	if err != nil { // an error body is bounded and always encodes; if not, an answer must still go out
		log.Error("encode an error body", "error", err)
		h.write(w, http.StatusInternalServerError, []byte(`{"error":"`+api.ErrInternal+
			`","message":"Something went wrong here","statusCode":500}`))
		return
	}
	h.write(w, body.StatusCode, doc.Raw())
}

// notWritten says that what was asked for could not be kept. Whether it was done is not certain: an execution is asked
// for by its id.
func notWritten(err error) *api.Error {
	if errors.Is(err, store.ErrFull) {
		return api.NewError(api.ErrUnavailable, "The service's disk is full: its operator has to make room")
	}
	if errors.Is(err, store.ErrAway) {
		e := api.NewError(api.ErrUnavailable, "The service's database does not answer, and whether this was kept is "+
			"not certain: ask for its status in a moment")
		e.RetryAfter = awayPause
		return e
	}
	return api.NewError(api.ErrUnavailable,
		"The service's database cannot be written: its operator has to look at the log")
}

// inside says what went wrong that is no fault of the request.
func inside(err error) string {
	if errors.Is(err, store.ErrDamaged) {
		return "A record that this needs is damaged in the service's database; its operator finds it named in the " +
			"log, and all of them with coffer serve check"
	}
	return "Something went wrong here, not with the request"
}

// silent reports whether the nodes of a chain gave no answer that could be used.
func silent(err error) bool {
	_, none := errors.AsType[*rpcpool.UnavailableError](err)
	_, apart := errors.AsType[*rpcpool.NoQuorumError](err)
	return none || apart
}

func (h *handler) write(w *answer, status int, body []byte) {
	head := w.Header()
	head.Set("Content-Type", "application/json")
	if head.Get("Cache-Control") == "" {
		head.Set("Cache-Control", "no-store")
	}
	head.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the peer may be gone; there is nobody left to tell
}

// notFound names what would have been found: the interface knows no 405 of its own (protocol §6).
func notFound(r *http.Request, methods map[string]route) error {
	path := text.Clean(r.URL.Path, maxShown)
	if len(methods) == 0 {
		return api.NewError(api.ErrNotFound, "Cannot %s %s", text.Clean(r.Method, 16), path)
	}
	var known []string
	for m := range methods {
		known = append(known, m)
	}
	slices.Sort(known)
	return api.NewError(api.ErrNotFound, "Cannot %s %s: this path takes %s", text.Clean(r.Method, 16), path,
		strings.Join(known, " or "))
}

// panicked answers for a use case that broke down. When the answer has begun there is nothing left but to cut the
// connection.
func (h *handler) panicked(w *answer, r *http.Request, log *slog.Logger, p any) {
	log.Error("panic", "value", text.Clean(fmt.Sprint(p), maxShown), "stack", string(debug.Stack()))
	if w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	h.fail(w, r, log, api.NewError(api.ErrInternal, "Something went wrong here, not with the request. Request id: %s",
		w.Header().Get("X-Request-Id")))
}

// answer notes what went out, for the log.
type answer struct {
	http.ResponseWriter
	bodiless bool // of HEAD
	status   int
	bytes    int
	endpoint string
	caller   string
	failure  string
}

// WriteHeader notes the status.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes.
func (a *answer) Write(b []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	if a.bodiless {
		return len(b), nil
	}
	n, err := a.ResponseWriter.Write(b)
	a.bytes += n
	return n, err
}

// logEnd writes one line for each request and tells the observer. Headers and query are left out of the line: a key can
// stand in either.
func (h *handler) logEnd(log *slog.Logger, w *answer, r *http.Request, start time.Time) {
	took := h.Clock().Sub(start)
	if h.Observe != nil {
		h.Observe(w.endpoint, w.status, took)
	}
	level := slog.LevelInfo
	if w.status >= 500 {
		level = slog.LevelError
	}
	log.Log(r.Context(), level, "request", "method", text.Clean(r.Method, 16), "path", text.Clean(r.URL.Path, maxShown),
		"status", w.status, "error", w.failure, "bytes", w.bytes, "caller", w.caller, "ms", took.Milliseconds())
}
