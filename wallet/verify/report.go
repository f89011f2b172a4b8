package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"coffer/api/op"
	"coffer/api/text"
	"coffer/wallet/intent"
)

// Level says what a reason means for signing.
type Level string

// The levels. Refuse forbids a signature, Gate does unless a named setting is on, Warn asks for attention, Show only
// informs, Unknown is a check that could not be made.
const (
	Refuse  Level = "refuse"
	Gate    Level = "gate"
	Warn    Level = "warn"
	Show    Level = "show"
	Unknown Level = "unknown"
)

// Reason is one finding. Code is the row of docs/threats.md, Title a plain sentence, Path a JSON pointer into the
// answer (or ""), Want and Got what was compared; foreign text in Path, Want and Got is cleaned and cut. A Gate reason
// names the Setting that opens it; Open says that the setting is on, so that the reason does not refuse.
type Reason struct {
	Code  string
	Level Level
	Title string
	Path  string
	Want  string
	Got   string

	Setting string
	Open    bool
}

// Check is a check that passed.
type Check struct {
	Code  string
	Title string
}

// Report is the outcome of all checks of one answer. It holds about a hundred reasons at most; what is beyond is left
// out, but never the first refusal.
type Report struct {
	Passed  []Check
	Reasons []Reason
}

// Refused reports whether a signature is forbidden: by a refusal or by a gate that is closed.
func (r Report) Refused() bool {
	return slices.ContainsFunc(r.Reasons, func(x Reason) bool {
		return x.Level == Refuse ||
			(x.Level == Gate && !x.Open)
	})
}

// Phrase is the sentence to type when a gate stands open, one for each setting; "" when none does.
func (r Report) Phrase() string {
	var all []string
	for _, x := range r.Reasons {
		if s := phrase(x.Setting); x.Level == Gate && x.Open && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return strings.Join(all, ", ")
}

// Count returns the number of reasons of a level.
func (r Report) Count(l Level) int {
	n := 0
	for _, x := range r.Reasons {
		if x.Level == l {
			n++
		}
	}
	return n
}

// Has reports whether a reason with this code and level is present.
func (r Report) Has(code string, l Level) bool {
	for _, x := range r.Reasons {
		if x.Code == code && x.Level == l {
			return true
		}
	}
	return false
}

const (
	maxText    = 160
	maxPath    = 200
	maxReasons = 100 // of one report: more than a person reads, and a bound on what a hostile answer can make us keep
)

// judge collects the outcome while an answer is checked, by a policy, for an intent, with what the journal knows, at a
// moment; lists have none of these. Checks go on after a refusal where that is safe, so that one report names
// everything.
type judge struct {
	Policy
	in     intent.Intent
	h      History
	now    time.Time
	report Report
}

// add puts a reason on the report. When the report is full only a refusal is added, so that it never passes for one
// that did not refuse.
func (j *judge) add(l Level, code, title, path, want, got string) {
	if j.full() && (l != Refuse || j.refused()) {
		return
	}
	j.put(Reason{Code: code, Level: l, Title: title, Path: path, Want: want, Got: got})
}

func (j *judge) put(r Reason) {
	r.Path, r.Want, r.Got = text.Clean(r.Path, maxPath), text.Clean(r.Want, maxText), text.Clean(r.Got, maxText)
	j.report.Reasons = append(j.report.Reasons, r)
}

func (j *judge) full() bool { return len(j.report.Reasons) >= maxReasons }

func (j *judge) pass(code, title string) {
	c := Check{Code: code, Title: title}
	if !slices.Contains(j.report.Passed, c) {
		j.report.Passed = append(j.report.Passed, c)
	}
}

// must records a passed check or a refusal and returns ok.
func (j *judge) must(ok bool, code, title, path, want, got string) bool {
	if ok {
		j.pass(code, title)
	} else {
		j.add(Refuse, code, failed(title), path, want, got)
	}
	return ok
}

// same is must of two values that ought to be equal.
func same[T interface {
	comparable
	fmt.Stringer
}](j *judge, want, got T, code, title, path string) bool {
	return j.must(want == got, code, title, path, want.String(), got.String())
}

// failed turns the name of a check into the sentence of its failure.
func failed(title string) string { return "Not true: " + title + "." }

func (j *judge) refused() bool { return j.report.Refused() }

// codec records a refusal of a codec, which names its own row and field; path is where that field's object stands,
// fallback the row of other errors.
func (j *judge) codec(err error, fallback, title, path string) {
	var oe *op.Error
	if errors.As(err, &oe) {
		j.add(Refuse, oe.Code, failed(title), path+"/"+strings.ReplaceAll(oe.Field, ".", "/"), oe.Want, oe.Got)
		return
	}
	j.add(Refuse, fallback, failed(title), path, "", err.Error())
}
