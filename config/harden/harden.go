// Package harden closes the process that holds keys against other programs of the same user: its memory reaches no
// core file, no traceback of more than the goroutine that failed and, on Linux, no tracer (TH-K3).
//
// Promise: Process takes effect at once and for the rest of the process's life; programs that it starts inherit the
// bound on core files. Call it before anything else: where GOTRACEBACK asks for more, the program starts over in the
// same process without it (not on Windows). On a system that does not allow it the program runs all the same, so there
// is no error and nothing to report.
package harden
