package files

import "fmt"

// A Fault is what is wrong in a file that a person writes. Line and Column count from 1; 0 means that the place is
// unknown.
type Fault struct {
	Path         string
	Line, Column int
	Key, Problem string
}

// Error returns "path:line:column: key: problem".
func (e *Fault) Error() string {
	s := e.Path
	if e.Line > 0 {
		s += fmt.Sprintf(":%d:%d", e.Line, e.Column)
	}
	if e.Key != "" {
		s += ": " + e.Key
	}
	return s + ": " + e.Problem
}
