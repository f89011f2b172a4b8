// Package replay keeps a session with a service in a directory, one small JSON file for each exchange, and answers
// from there later without a network.
//
// Promise: no secret is written. A Recorder listens above the transport that adds the API key; it leaves out headers
// and signatures as package httplog does (httplog.Headers, httplog.Redacted), so that nothing in a recording has any
// effect when sent. It keeps answers byte for byte. Files are 0600 in a directory of 0700 and appear as a whole.
// Recording never changes an exchange and never makes one fail: Recorder.Close reports what could not be written.
//
// A Player answers a request with the recorded answer of the same method, path, query and canonical body (RFC 8785),
// in the order of the recording; without one, with the next answer of the same method and path. GET repeats the last
// answer, because screens ask again and again; a POST beyond the recorded number is an error, and so is a request that
// was never recorded: both errors name it. A Player executes nothing: it refuses execute-quote and relay.
//
// The clock of a replay: About.At plus the time since it was opened, and at the answer to a POST the moment of that
// recorded answer, so that quotes live as long as they did.
//
// Reading is strict: unknown members, other versions, duplicate names, and everything over the limits below are errors
// that name the file. Times are RFC 3339 with nanoseconds.
package replay

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/pattern"
)

// The limits of a recording.
const (
	Version      = 1
	MaxExchanges = 10_000
	MaxBytes     = 256 << 20 // all files together
	maxFile      = 16 << 20
	maxAbout     = 1 << 20
	maxAccounts  = 20
)

const aboutName = "about.json"

// About describes a recording besides its exchanges: when it began, who took part, and on which network. BaseURL is
// the address of the service.
type About struct {
	At       time.Time
	Profile  string
	BaseURL  string
	Network  network.Descriptor
	Accounts []api.Account
}

type aboutFile struct {
	Version  int            `json:"version"`
	At       string         `json:"at"`
	Profile  string         `json:"profile"`
	BaseURL  string         `json:"baseURL"`
	Network  jsontext.Value `json:"network"`
	Accounts []api.Account  `json:"accounts"`
}

// A FormatError is a fault of a file of a recording.
type FormatError struct {
	File    string
	Problem string
	Err     error
}

// Error names the file and the problem.
func (e *FormatError) Error() string {
	s := fmt.Sprintf("the recording's file %s: %s", e.File, e.Problem)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause.
func (e *FormatError) Unwrap() error { return e.Err }

func (a About) encode() ([]byte, error) {
	n, err := a.Network.Encode()
	if err != nil {
		return nil, err
	}
	f := aboutFile{Version: Version, At: a.At.UTC().Format(time.RFC3339Nano), Profile: a.Profile, BaseURL: a.BaseURL,
		Network: n, Accounts: a.Accounts}
	b, err := json.Marshal(f, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("describe the recording: %w", err)
	}
	return append(b, '\n'), nil
}

// ParseAbout reads about.json. The error is a *FormatError.
func ParseAbout(b []byte) (About, error) {
	bad := func(problem string, err error) (About, error) {
		return About{}, &FormatError{File: aboutName, Problem: problem, Err: err}
	}
	var f aboutFile
	if err := decode(b, maxAbout, &f); err != nil {
		return bad("it cannot be read", err)
	}
	if f.Version != Version {
		return bad(fmt.Sprintf("version %d, this program reads %d", f.Version, Version), nil)
	}
	at, err := moment(f.At)
	if err != nil {
		return bad("at", err)
	}
	n, err := network.Decode(f.Network)
	if err != nil {
		return bad("network", err)
	}
	base, err := url.Parse(f.BaseURL)
	if err != nil || base.Scheme != "https" || base.Host == "" || base.User != nil || base.RawQuery != "" ||
		base.Fragment != "" {
		return bad("baseURL is no https address without user, query and fragment", nil)
	}
	if len(f.Accounts) == 0 || len(f.Accounts) > maxAccounts {
		return bad(fmt.Sprintf("%d accounts, expected 1 to %d", len(f.Accounts), maxAccounts), nil)
	}
	for _, a := range f.Accounts {
		if err := account(a); err != nil {
			return bad("accounts", err)
		}
	}
	if !reProfile.MatchString(f.Profile) {
		return bad("profile is no name of a profile", nil)
	}
	return About{At: at, Profile: f.Profile, BaseURL: f.BaseURL, Network: n, Accounts: f.Accounts}, nil
}

// decode passes a file through the lexical gate and reads it strictly.
func decode(b []byte, limit int, into any) error {
	l := api.DefaultLimits()
	l.Bytes, l.Depth, l.Values = limit, l.Depth+2, 2*l.Values+1000
	doc, err := api.ParseDocument(b, l)
	if err != nil {
		return err
	}
	return json.Unmarshal(doc.Raw(), into, json.RejectUnknownMembers(true))
}

// reProfile matches the name that a profile may have: it becomes part of a path.
var reProfile = pattern.New(`^[a-z0-9][a-z0-9_-]{0,31}$`)

var errMoment = errors.New("no time of this century in RFC 3339")

func moment(s string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || t.Year() < 2000 || t.Year() > 2199 {
		return time.Time{}, errMoment
	}
	return t, nil
}
