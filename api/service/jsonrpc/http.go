package jsonrpc

import (
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gorilla/websocket"
)

// worthIt is the size from which an answer is compressed for a caller that takes it.
const worthIt = 16 << 10

const asJSON = "application/json"

// contentTypes are those of a request.
func contentTypes() []string {
	return []string{asJSON, "application/json-rpc", "application/jsonrequest"}
}

// serve answers one HTTP request, or turns it into a WebSocket connection.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, m Methods) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if !s.admitted(w, r) {
		return
	}
	switch {
	case websocket.IsWebSocketUpgrade(r):
		s.socket(w, r, m)
	case r.Method == http.MethodOptions:
		if r.Header.Get("Origin") != "" {
			w.Header().Set("Access-Control-Allow-Methods", "POST, GET")
			w.Header().Set("Access-Control-Allow-Headers", "content-type")
			w.Header().Set("Access-Control-Max-Age", "600")
		}
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.ContentLength == 0:
		// health checks
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", "POST, GET, OPTIONS")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	default:
		s.post(w, r, m)
	}
}

// post answers a request with a body.
func (s *Server) post(w http.ResponseWriter, r *http.Request, m Methods) {
	var err error
	kind := r.Header.Get("Content-Type")
	if kind != asJSON {
		kind, _, err = mime.ParseMediaType(kind)
	}
	if err != nil || !slices.Contains(contentTypes(), kind) || r.Header.Get("Content-Encoding") != "" {
		http.Error(w, "invalid content type, only application/json is supported", http.StatusUnsupportedMediaType)
		return
	}
	if r.ContentLength > int64(s.Limits.Body) {
		http.Error(w, "content length too large", http.StatusRequestEntityTooLarge)
		return
	}
	ctx := r.Context()
	q := request{Server: s, methods: m}
	defer q.release()
	var body []byte
	if whole, ok := r.Body.(*piece); ok {
		body = whole.in
	} else {
		body, err = q.read(ctx, http.MaxBytesReader(w, r.Body, int64(s.Limits.Body)))
	}
	if err != nil {
		if _, much := errors.AsType[*http.MaxBytesError](err); much {
			http.Error(w, "content length too large", http.StatusRequestEntityTooLarge)
		}
		return // otherwise the caller is gone
	}
	out := q.answer(ctx, body)
	if out == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", asJSON)
	if len(out) < worthIt || !takesGzip(r.Header.Get("Accept-Encoding")) {
		w.Header().Set("Content-Length", strconv.Itoa(len(out)))
		_, _ = w.Write(out) //nolint:gosec // it is JSON and says so; the caller may be gone
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Add("Vary", "Accept-Encoding")
	z := gzips.Get().(*gzip.Writer)
	defer gzips.Put(z)
	z.Reset(w)
	_, _ = z.Write(out)
	_ = z.Close()
}

// gzips are compressors that are not in use; each keeps some 800 KB.
var gzips = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // the level is a good one
	return z
}}

// takesGzip reads an Accept-Encoding header.
func takesGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			q, given := strings.CutPrefix(strings.ReplaceAll(weight, " ", ""), "q=")
			value, err := strconv.ParseFloat(q, 64)
			return !given || err == nil && value > 0
		}
	}
	return false
}
