package api

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api/text"
)

// Error names of the interface (protocol §6).
const (
	ErrValidation          = "Validation failed"
	ErrTamperProof         = "TamperProof"
	ErrInvalidSignature    = "InvalidSignature"
	ErrQuoteExpired        = "QuoteExpired"
	ErrPrepareAgain        = "PrepareAgain"
	ErrInsufficientBalance = "InsufficientBalance"
	ErrNoRoute             = "NoRoute"
	ErrDelegation          = "DELEGATION-001"
	ErrUnauthorized        = "UnauthorizedException"
	ErrForbidden           = "ForbiddenException"
	ErrNotFound            = "NotFound"
	ErrAlreadyExecuted     = "QuoteAlreadyExecuted"
	ErrMediaType           = "UnsupportedMediaType"
	ErrSimulationFailed    = "SimulationFailed"
	ErrTooManyRequests     = "TooManyRequests"
	ErrInternal            = "InternalServerError"
	ErrUnavailable         = "ServiceUnavailable"
)

// statusOf maps each error name to its HTTP status.
func statusOf(name string) int {
	switch name {
	case ErrUnauthorized:
		return http.StatusUnauthorized
	case ErrForbidden:
		return http.StatusForbidden
	case ErrNotFound:
		return http.StatusNotFound
	case ErrAlreadyExecuted:
		return http.StatusConflict
	case ErrMediaType:
		return http.StatusUnsupportedMediaType
	case ErrSimulationFailed:
		return http.StatusUnprocessableEntity
	case ErrTooManyRequests:
		return http.StatusTooManyRequests
	case ErrInternal:
		return http.StatusInternalServerError
	case ErrUnavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusBadRequest
}

// Failure is one broken rule of a request: where, what was expected, what was found. Path is "" for the whole body.
type Failure struct {
	Path     string `json:"path"`
	Expected string `json:"expected"`
	Got      string `json:"got"`
}

func (f Failure) String() string {
	where := ""
	if f.Path != "" {
		where = fmt.Sprintf(" at %q", f.Path)
	}
	if f.Got == "nothing" {
		return "Required" + where + ": expected " + f.Expected
	}
	return "Expected " + f.Expected + ", got " + f.Got + where
}

// Error is an error body of the interface: {error, message, statusCode}, with timestamp and path for 401 and all
// failures for a validation error. It is returned by the service's use cases and made from answers by ParseError.
type Error struct {
	Name       string        `json:"error"`
	Message    string        `json:"message"`
	StatusCode int           `json:"statusCode"`
	Timestamp  string        `json:"timestamp,omitzero"`
	Path       string        `json:"path,omitzero"`
	Details    []Failure     `json:"details,omitzero"`
	RetryAfter time.Duration `json:"-"`
}

// Error returns "name: message".
func (e *Error) Error() string { return e.Name + ": " + e.Message }

// NewError makes an Error with the status that belongs to its name.
func NewError(name, format string, args ...any) *Error {
	return &Error{Name: name, Message: fmt.Sprintf(format, args...), StatusCode: statusOf(name)}
}

// Bounds of a validation error: a body of 4 MiB can break more rules than an answer can carry.
const (
	maxFailures    = 200
	maxFailureText = 200
)

// NewValidationError lists every failure, with foreign text cleaned and cut; past 200 it says how many more there are.
// It returns nil when there is none.
func NewValidationError(failures []Failure) error {
	if len(failures) == 0 {
		return nil
	}
	listed := make([]Failure, 0, min(len(failures), maxFailures+1))
	for _, f := range failures[:min(len(failures), maxFailures)] {
		listed = append(listed, Failure{text.Clean(f.Path, maxFailureText), text.Clean(f.Expected, maxFailureText),
			text.Clean(f.Got, maxFailureText)})
	}
	if more := len(failures) - maxFailures; more > 0 {
		listed = append(listed, Failure{Expected: "a request that keeps the rules",
			Got: strconv.Itoa(more) + " more failures"})
	}
	parts := make([]string, len(listed))
	for i, f := range listed {
		parts[i] = f.String()
	}
	return &Error{Name: ErrValidation, StatusCode: http.StatusBadRequest,
		Message: "Validation error: " + strings.Join(parts, "; "), Details: listed}
}

// Invalid is the validation error of one failure.
func Invalid(path, expected, got string) error {
	return NewValidationError([]Failure{{path, expected, got}})
}

// NewDecodeError is the validation error for a document whose values do not have the types of its view; err is what
// Decode returned.
func NewDecodeError(err error) error {
	f := Failure{Expected: "a value of the documented type", Got: "a value of another type"}
	var at *json.SemanticError
	if errors.As(err, &at) {
		for part := range at.JSONPointer.Tokens() {
			if _, notIndex := strconv.Atoi(part); notIndex == nil {
				f.Path += "[" + part + "]"
			} else {
				f.Path += "." + part
			}
		}
		f.Path = strings.TrimPrefix(f.Path, ".")
	}
	return NewValidationError([]Failure{f})
}

const maxErrorText = 500

// ParseError turns any answer that is not a success into an Error (TH-N11): the documented body, bodies with `code` in
// place of `statusCode` or without `error`, HTML, text or nothing. The text is cleaned and cut to 500 characters.
func ParseError(status int, body []byte) *Error {
	e := &Error{StatusCode: status}
	if doc, err := ParseDocument(body, DefaultLimits()); err == nil {
		e.Name, e.Message = stringAt(doc, "/error"), stringAt(doc, "/message")
		e.Timestamp, e.Path = stringAt(doc, "/timestamp"), stringAt(doc, "/path")
		e.Details = failuresAt(doc)
	} else if s := strings.TrimSpace(string(body)); s != "" && !strings.HasPrefix(s, "<") {
		e.Message = text.Clean(s, maxErrorText)
	}
	if e.Name == "" {
		e.Name = nameFor(status, e.Message)
	}
	if e.Message == "" {
		e.Message = fmt.Sprintf("the service answered %d %s", status, http.StatusText(status))
	}
	return e
}

// nameFor finds the name of an error whose body did not carry one.
func nameFor(status int, message string) string {
	if status == http.StatusBadRequest && strings.HasPrefix(message, "Incorrect tamper proof signature") {
		return ErrTamperProof
	}
	for _, name := range []string{ErrUnauthorized, ErrForbidden, ErrNotFound, ErrAlreadyExecuted, ErrMediaType,
		ErrSimulationFailed, ErrTooManyRequests} {
		if statusOf(name) == status {
			return name
		}
	}
	if status >= 500 {
		return ErrInternal
	}
	return fmt.Sprintf("HTTP %d", status)
}

func stringAt(d *Document, pointer string) string {
	raw, ok := d.At(pointer)
	var s string
	if !ok || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return text.Clean(s, maxErrorText)
}

func failuresAt(d *Document) []Failure {
	raw, ok := d.At("/details")
	var fs []Failure
	if !ok || json.Unmarshal(raw, &fs) != nil {
		return nil
	}
	for i, f := range fs {
		fs[i] = Failure{text.Clean(f.Path, 200), text.Clean(f.Expected, 200), text.Clean(f.Got, 200)}
	}
	return fs
}
