package replay

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"coffer/api"
	"coffer/api/client/httplog"
	"coffer/api/pattern"
	"coffer/api/text"
)

// Player answers from a recording. It is a http.RoundTripper, safe for concurrent use, and has no way to a network.
type Player struct {
	real func() time.Time

	mu        sync.Mutex
	exchanges []exchange
	used      []bool
	exact     map[string][]int
	near      map[string][]int
	recorded  time.Time // the recorded moment that belongs to `since`
	since     time.Time
}

// The errors of a replay. They are final: a retry gives the same (client.KindRequest).
var (
	ErrNotRecorded error = refusal("the recording has no answer to")
	ErrExhausted   error = refusal("the recording has no further answer to")
	ErrNothingSent error = refusal("this is a recording: nothing is signed and nothing is executed")
)

type refusal string

// Error names what a recording cannot do.
func (r refusal) Error() string { return string(r) }

// Final marks a failure that a retry does not change.
func (refusal) Final() bool { return true }

var reFile = pattern.New(`^[0-9]{6}\.json$`)

// Open reads a recording; clock is the real one. Any fault of a file is a *FormatError.
func Open(dir string, clock func() time.Time) (*Player, About, error) {
	b, err := read(dir, aboutName, maxAbout)
	if err != nil {
		return nil, About{}, fmt.Errorf("open the recording: %w", err)
	}
	about, err := ParseAbout(b)
	if err != nil {
		return nil, About{}, err
	}
	files, err := os.ReadDir(dir) // in the order of their names
	if err != nil {
		return nil, About{}, fmt.Errorf("open the recording: %w", err)
	}
	p := &Player{real: clock, exact: map[string][]int{}, near: map[string][]int{}, recorded: about.At, since: clock()}
	size := len(b)
	for _, f := range files {
		name := f.Name()
		if f.IsDir() || name == aboutName || !strings.HasSuffix(name, ".json") {
			continue
		}
		if !reFile.MatchString(name) {
			return nil, About{}, &FormatError{File: name, Problem: "the name is not a number of six digits"}
		}
		b, err := read(dir, name, maxFile)
		if err != nil {
			return nil, About{}, err
		}
		e, err := parseExchange(name, b)
		if err != nil {
			return nil, About{}, err
		}
		if size += len(b); size > MaxBytes || len(p.exchanges) == MaxExchanges {
			return nil, About{}, &FormatError{File: name,
				Problem: fmt.Sprintf("the recording has more than %d exchanges or %d bytes", MaxExchanges, MaxBytes)}
		}
		p.add(e)
	}
	return p, about, nil
}

func (p *Player) add(e exchange) {
	i := len(p.exchanges)
	p.exchanges, p.used = append(p.exchanges, e), append(p.used, false)
	key := exactly(e.method, e.path, e.query, e.request)
	p.exact[key] = append(p.exact[key], i)
	p.near[place(e.method, e.path)] = append(p.near[place(e.method, e.path)], i)
}

// read reads a file of at most limit bytes.
func read(dir, name string, limit int64) ([]byte, error) {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = &FormatError{File: name, Problem: fmt.Sprintf("more than %d bytes", limit)}
	}
	return b, err
}

// Len is the number of recorded exchanges.
func (p *Player) Len() int { return len(p.exchanges) }

// Clock is the time of the replay.
func (p *Player) Clock() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.recorded.Add(p.real().Sub(p.since))
}

// RoundTrip implements http.RoundTripper.
func (p *Player) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := take(r)
	if err != nil {
		return nil, err
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	path := r.URL.EscapedPath()
	// one of the paths that move money
	if strings.HasSuffix(path, "/execute-quote") || strings.HasSuffix(path, "/account/relay") {
		return nil, ErrNothingSent
	}
	kept, _ := httplog.Redacted(body)
	e, err := p.find(r.Method, path, r.URL.RawQuery, kept)
	if err != nil {
		return nil, err
	}
	if e.status == 0 {
		return nil, fmt.Errorf("so it was when this was recorded: %s", e.failure)
	}
	return e.response(r), nil
}

func take(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	b, err := io.ReadAll(io.LimitReader(r.Body, int64(api.DefaultLimits().Bytes)+1))
	return b, errors.Join(err, r.Body.Close())
}

// find picks the answer to a request and, for a POST, sets the clock to its moment.
func (p *Player) find(method, path, query string, body []byte) (exchange, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	same := p.exact[exactly(method, path, query, body)]
	candidates := same
	if len(candidates) == 0 {
		candidates = p.near[place(method, path)]
	}
	for _, i := range candidates {
		if p.used[i] {
			continue
		}
		p.used[i] = true
		if e := p.exchanges[i]; method != http.MethodGet {
			p.recorded, p.since = e.at.Add(e.took), p.real()
		}
		return p.exchanges[i], nil
	}
	if method == http.MethodGet {
		for k := len(candidates) - 1; k >= 0; k-- {
			if e := p.exchanges[candidates[k]]; e.status != 0 || k == 0 {
				return e, nil
			}
		}
	}
	asked := method + " " + text.Clean(path, 200)
	if query != "" {
		asked += "?" + text.Clean(query, 200)
	}
	if len(candidates) > 0 {
		return exchange{}, fmt.Errorf("%w %s", ErrExhausted, asked)
	}
	return exchange{}, fmt.Errorf("%w %s", ErrNotRecorded, asked)
}
