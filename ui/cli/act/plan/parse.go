package plan

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/pelletier/go-toml/v2"

	"coffer/api"
	"coffer/api/text"
	"coffer/wallet/intent"
	"coffer/wallet/policy"
	"coffer/wallet/verify"
)

// MaxSize bounds a file, in bytes.
const MaxSize = 1 << 20

// wire is an unchecked file. Intent is read by the schema of intents: a table of TOML, or a value of JSON.
type wire[I any] struct {
	Version *int64  `toml:"version" json:"version"`
	Salt    *string `toml:"salt" json:"salt"`
	Note    *string `toml:"note" json:"note"`
	Hash    *string `toml:"hash" json:"hash"`
	Limits  Limits  `toml:"limits" json:"limits"`
	Intent  I       `toml:"intent" json:"intent"`
}

// keys are the limits that a file has, with or without a value.
type keys struct {
	Limits map[string]any `toml:"limits" json:"limits"`
}

// IsPlan reports whether bytes look like a plan rather than an intent or a Safe batch. They need not parse.
func IsPlan(b []byte) bool {
	if looksLikeJSON(b) {
		doc, err := api.ParseDocument(b, api.DefaultLimits())
		if err != nil {
			return false
		}
		_, has := doc.At("/intent")
		return has
	}
	return bytes.Contains(b, []byte("[intent]"))
}

func looksLikeJSON(b []byte) bool {
	b = bytes.TrimLeft(b, " \t\r\n")
	return len(b) > 0 && b[0] == '{'
}

// Parse reads a plan and compares its hash.
func Parse(b []byte) (Plan, error) {
	p, hash, err := read(b)
	if err != nil {
		return Plan{}, err
	}
	if hash == "" {
		return Plan{}, &Error{Key: "hash", Problem: "the file names no hash"}
	}
	if now, err := p.Hash(); err != nil || now != hash {
		return Plan{}, &Error{Key: "hash", Problem: problemHash}
	}
	return p, nil
}

// ParseUnsealed reads a plan whose hash is missing or belongs to an earlier content, as in an edited file, in order to
// write it anew.
func ParseUnsealed(b []byte) (Plan, error) {
	p, _, err := read(b)
	return p, err
}

func read(b []byte) (Plan, string, error) {
	if len(b) > MaxSize {
		return Plan{}, "", &Error{Problem: "larger than 1 MiB"}
	}
	if looksLikeJSON(b) {
		return readJSON(b)
	}
	var w wire[map[string]any]
	if err := toml.NewDecoder(bytes.NewReader(b)).DisallowUnknownFields().Decode(&w); err != nil {
		return Plan{}, "", tomlError(err)
	}
	var raw []byte
	if w.Intent != nil {
		var err error
		if raw, err = json.Marshal(w.Intent); err != nil {
			return Plan{}, "", &Error{Key: "intent", Problem: text.Clean(err.Error(), 200)}
		}
	}
	var k keys
	if err := toml.Unmarshal(b, &k); err != nil {
		return Plan{}, "", tomlError(err)
	}
	return check(w, k, raw)
}

func readJSON(b []byte) (Plan, string, error) {
	doc, err := api.ParseDocument(b, api.DefaultLimits())
	if err != nil {
		return Plan{}, "", &Error{Problem: text.Clean(err.Error(), 200)}
	}
	null := ""
	doc.Leaves(func(pointer string, value []byte) {
		if string(value) == "null" {
			null = pointer
		}
	})
	if null != "" {
		return Plan{}, "", &Error{Key: text.Clean(null, 160), Problem: "a value is expected, or leave the member out"}
	}
	var w wire[jsontext.Value]
	if err := json.Unmarshal(b, &w, json.RejectUnknownMembers(true)); err != nil {
		e := &Error{Problem: text.Clean(err.Error(), 200)}
		var se *json.SemanticError
		if errors.As(err, &se) {
			e.Key, e.Problem = text.Clean(string(se.JSONPointer), 160), "another type is expected"
			if errors.Is(err, json.ErrUnknownName) {
				e.Problem = "there is no such member"
			}
		}
		return Plan{}, "", e
	}
	var k keys
	if err := json.Unmarshal(b, &k); err != nil {
		return Plan{}, "", &Error{Problem: text.Clean(err.Error(), 200)}
	}
	return check(w, k, w.Intent)
}

func tomlError(err error) error {
	e := &Error{Problem: text.Clean(strings.TrimPrefix(err.Error(), "toml: "), 200)}
	var strict *toml.StrictMissingError
	var de *toml.DecodeError
	switch {
	case errors.As(err, &strict) && len(strict.Errors) > 0:
		d := strict.Errors[0]
		e.Line, e.Column = d.Position()
		e.Key, e.Problem = text.Clean(strings.Join(d.Key(), "."), 160), "there is no such key"
	case errors.As(err, &de):
		e.Line, e.Column = de.Position()
		e.Key = text.Clean(strings.Join(de.Key(), "."), 160)
	}
	return e
}

// check turns a read file into a plan and the hash that the file names.
func check[I any](w wire[I], k keys, rawIntent []byte) (Plan, string, error) {
	fail := func(key, problem string) (Plan, string, error) { return Plan{}, "", &Error{Key: key, Problem: problem} }
	note, hash := or(w.Note), or(w.Hash)
	switch {
	case w.Version == nil:
		return fail("version", "the file does not say its version: version = 1")
	case *w.Version != Version:
		return fail("version", "this program reads version 1")
	case !reSalt.MatchString(or(w.Salt)):
		return fail("salt", "16 to 64 hexadecimal digits in lower case, an even number")
	case len(rawIntent) == 0:
		return fail("intent", "the file has none")
	case w.Note != nil && (note == "" || len(note) > maxNote || text.Clean(note, maxNote) != note):
		return fail("note", "1 to 2000 printable characters on one line, or leave the key out")
	case w.Hash != nil && !reHash.MatchString(hash):
		return fail("hash", "0x and 64 hexadecimal digits in lower case")
	}
	d, err := intent.ParseDraft(rawIntent)
	if err != nil {
		return fail("intent", text.Clean(strings.Join(failures(err), "; "), 2000))
	}
	if err := w.Limits.check(k); err != nil {
		return Plan{}, "", err
	}
	return Plan{Salt: *w.Salt, Note: note, Limits: w.Limits, Intent: normal(d)}, hash, nil
}

const maxNote = 2000

func or[T any](p *T) T {
	var none T
	if p == nil {
		return none
	}
	return *p
}

// check checks the limits by the rules of a policy file. A key that is present has to limit something.
func (l Limits) check(k keys) error {
	written, err := json.Marshal(l) // without what limits nothing
	if err != nil {
		return err
	}
	var limiting map[string]any
	if err := json.Unmarshal(written, &limiting); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(k.Limits)) {
		if _, ok := limiting[strings.ToLower(key)]; !ok { // TOML's keys are matched in any case
			return &Error{Key: "limits." + key,
				Problem: "it limits nothing: give a value, or leave the key out"}
		}
	}
	_, err = l.Verify()
	return err
}

// normal gives a draft the one spelling of its kind.
func normal(d intent.Draft) intent.Draft {
	if d.Kind == intent.KindCall {
		d.Kind = ""
	}
	if d.Interface == intent.InterfaceV3 {
		d.Interface = ""
	}
	return d.Fill(d.Network, d.Accounts) // a copy
}

func failures(err error) []string {
	var broken *intent.Error
	if !errors.As(err, &broken) {
		return []string{err.Error()}
	}
	var out []string
	for _, f := range broken.Failures {
		out = append(out, f.String())
	}
	return out
}

// Verify turns the limits into those that the checks apply. They are read by the rules of a policy file.
func (l Limits) Verify() (verify.Limits, error) {
	if l.none() {
		return verify.Limits{}, nil
	}
	b, err := toml.Marshal(struct {
		Version int `toml:"version"`
		Limits
	}{policy.Version, l})
	if err != nil {
		return verify.Limits{}, &Error{Key: "limits", Problem: text.Clean(err.Error(), 200)}
	}
	f, err := policy.Parse("limits", b)
	if err != nil {
		var broken *policy.Error
		if errors.As(err, &broken) {
			return verify.Limits{}, &Error{Key: "limits." + broken.Key, Problem: broken.Problem}
		}
		return verify.Limits{}, &Error{Key: "limits", Problem: text.Clean(err.Error(), 200)}
	}
	return f.Limits(""), nil
}
