// Package pattern has regular expressions of package variables that are compiled at their first use, so that a start of
// the program compiles none: there are dozens, and few commands need more than one or two.
//
// Promise: a Pattern behaves as the regexp.Regexp of its text and is safe for concurrent use. A text that is none
// panics at the first use; the test of this package compiles every one that the program has.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression in the syntax of package regexp.
type Pattern struct{ compiled func() *regexp.Regexp }

// New returns the pattern of a text.
func New(text string) Pattern {
	return Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// MatchString is that of regexp.Regexp.
func (p Pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }

// Regexp is the pattern for all the rest that package regexp can do.
func (p Pattern) Regexp() *regexp.Regexp { return p.compiled() }
