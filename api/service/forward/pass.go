package forward

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
)

// ofConnection are headers of one connection, which go no further, and what a client may say of where it comes from,
// which nobody believes.
func ofConnection(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer",
		"Transfer-Encoding", "Upgrade", "Expect", "Forwarded":
		return true
	}
	return strings.HasPrefix(name, "X-Forwarded-")
}

// passed is a header as it goes on.
func passed(h http.Header) http.Header {
	var named []string
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			named = append(named, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
	out := make(http.Header, len(h))
	for name, values := range h {
		if !ofConnection(name) && !slices.Contains(named, name) {
			out[name] = values
		}
	}
	return out
}

// isSocket reports whether a request asks for a WebSocket connection, which JSON-RPC alone has.
func (f *Forwarder) isSocket(r *http.Request) bool {
	return f.o.Carries == RPC && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// pass sends a request and writes the answer. Nothing is written when there is an error.
func (f *Forwarder) pass(t *task, w http.ResponseWriter, r *http.Request) error {
	out := r.WithContext(r.Context())
	url := *r.URL
	url.Scheme, url.Host = "https", "process" // the link knows where that is
	out.URL, out.RequestURI, out.Close, out.Header = &url, "", false, passed(r.Header)
	out.TransferEncoding, out.Trailer = nil, nil
	if f.isSocket(r) {
		out.Header["Connection"], out.Header["Upgrade"] = []string{"Upgrade"}, []string{"websocket"}
	}
	if out.Header["User-Agent"] == nil {
		out.Header["User-Agent"] = []string{""} // otherwise net/http adds its own
	}
	if f.o.Rewrite != nil {
		f.o.Rewrite(out)
	}
	res, err := f.send(t, out)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if t.status = res.StatusCode; f.o.Answered != nil {
		f.o.Answered(res)
	}
	if t.status == http.StatusSwitchingProtocols {
		return f.join(w, res)
	}
	header := w.Header()
	for name, values := range passed(res.Header) {
		header[name] = values
	}
	w.WriteHeader(t.status)
	var to io.Writer = w
	if res.ContentLength < 0 {
		to = flushed{w, http.NewResponseController(w)}
	}
	if _, err := io.Copy(to, res.Body); err != nil {
		panic(http.ErrAbortHandler) // the client must not take what it has for the whole answer
	}
	return nil
}

// flushed passes each piece on as it comes.
type flushed struct {
	io.Writer
	out *http.ResponseController
}

// Write implements io.Writer.
func (f flushed) Write(p []byte) (int, error) {
	n, err := f.Writer.Write(p)
	if err == nil {
		err = f.out.Flush()
	}
	return n, err
}

// join makes one of two WebSocket connections, until one of them ends.
func (f *Forwarder) join(w http.ResponseWriter, res *http.Response) error {
	other, both := res.Body.(io.ReadWriteCloser)
	if !both {
		return errors.Join(ErrBroken, errors.New("it switched to what was not asked for"))
	}
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return errors.Join(ErrBroken, err)
	}
	defer func() { _ = client.Close() }()
	header := passed(res.Header)
	header["Connection"], header["Upgrade"] = []string{"Upgrade"}, []string{"websocket"}
	_, err = io.WriteString(buffered, "HTTP/1.1 101 Switching Protocols\r\n")
	if err = errors.Join(err, header.Write(buffered)); err == nil {
		_, err = io.WriteString(buffered, "\r\n")
	}
	if err = errors.Join(err, buffered.Flush()); err != nil {
		return nil // the client is gone
	}
	ended := make(chan struct{}, 2)
	go func() {
		_, _ = io.Copy(other, buffered.Reader)
		ended <- struct{}{}
	}()
	go func() {
		_, _ = io.Copy(client, other)
		ended <- struct{}{}
	}()
	<-ended
	return nil
}
