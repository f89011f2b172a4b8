package api

import (
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"
)

// TestN11 reads every shape of error body on record.
func TestN11EveryErrorShapeBecomesATypedError(t *testing.T) {
	for name, c := range map[string]struct {
		status         int
		body           string
		wantName, says string
	}{
		"401": {401,
			`{"error":"UnauthorizedException","message":"Invalid or missing API key","statusCode":401,` +
				`"timestamp":"2026-01-01T00:00:00Z","path":"/api/x"}`, ErrUnauthorized, "API key"},
		"401 with code": {401, `{"error":"UnauthorizedException","message":"no key","code":401}`, ErrUnauthorized,
			"no key"},
		"400 validation": {400,
			`{"error":"Validation failed","message":"Validation error: Required at \"accounts\"","statusCode":400}`,
			ErrValidation, "accounts"},
		"400 without error": {400, `{"message":"Incorrect tamper proof signature","statusCode":400}`, ErrTamperProof,
			"tamper"},
		"409":               {409, `{"message":"done already"}`, ErrAlreadyExecuted, "done"},
		"429 empty":         {429, ``, ErrTooManyRequests, "429"},
		"502 HTML":          {502, `<html><body>Bad gateway</body></html>`, ErrInternal, "502"},
		"500 text":          {500, "boom\x1b[31m", ErrInternal, "boom"},
		"402 unknown":       {402, `{}`, "HTTP 402", "402"},
		"array":             {400, `[]`, "HTTP 400", "400"},
		"number as message": {422, `{"error":7,"message":9}`, ErrSimulationFailed, "422"},
		"truncated":         {503, `{"error":"Val`, ErrInternal, `Val`},
	} {
		e := ParseError(c.status, []byte(c.body))
		if e.Name != c.wantName || e.StatusCode != c.status || !strings.Contains(e.Message, c.says) {
			t.Errorf("%s: %+v", name, e)
		}
		if strings.ContainsAny(e.Error(), "\x1b<") {
			t.Errorf("%s: not cleaned: %q", name, e.Error())
		}
	}
}

func TestErrorTextIsCapped(t *testing.T) {
	e := ParseError(400, []byte(`{"error":"x","message":"`+strings.Repeat("y", 10_000)+`"}`))
	if n := len([]rune(e.Message)); n > maxErrorText+1 {
		t.Fatalf("%d characters", n)
	}
}

func TestErrorBodyRoundTrip(t *testing.T) {
	err := NewValidationError([]Failure{{Path: "calls[0].to", Expected: "a 0x address", Got: "7"}})
	b, mErr := json.Marshal(err)
	if mErr != nil {
		t.Fatal(mErr)
	}
	e := ParseError(400, b)
	if e.Name != ErrValidation || len(e.Details) != 1 || e.Details[0].Path != "calls[0].to" {
		t.Fatalf("%s became %+v", b, e)
	}
}

func TestEveryErrorNameHasItsStatus(t *testing.T) {
	for name, status := range map[string]int{
		ErrValidation: 400, ErrTamperProof: 400, ErrInvalidSignature: 400, ErrQuoteExpired: 400, ErrPrepareAgain: 400,
		ErrInsufficientBalance: 400,
		ErrNoRoute:             400, ErrDelegation: 400, ErrUnauthorized: 401, ErrForbidden: 403, ErrNotFound: 404,
		ErrAlreadyExecuted: 409, ErrMediaType: 415,
		ErrSimulationFailed: 422, ErrTooManyRequests: 429, ErrInternal: 500,
	} {
		if e := NewError(name, "x"); e.StatusCode != status {
			t.Errorf("%s: %d", name, e.StatusCode)
		}
	}
}

func FuzzParseError(f *testing.F) {
	f.Add(400, []byte(`{"error":"x","message":"y","details":[{"path":"p"}]}`))
	f.Fuzz(func(t *testing.T, status int, b []byte) {
		if e := ParseError(status, b); e.Message == "" || e.Name == "" {
			t.Fatalf("%+v", e)
		}
	})
}

func TestValidationErrorIsBoundedHoweverManyRulesAreBroken(t *testing.T) {
	many := make([]Failure, 300_000)
	for i := range many {
		many[i] = Failure{Path: strings.Repeat("p", 5_000), Expected: "x", Got: strings.Repeat("\x1b", 5_000)}
	}
	var e *Error
	if !errors.As(NewValidationError(many), &e) {
		t.Fatal("no error")
	}
	doc, err := Encode(*e)
	if err != nil {
		t.Fatalf("the error cannot be answered: %v", err)
	}
	if doc.Len() > 1<<20 || len(e.Details) != maxFailures+1 ||
		!strings.Contains(e.Details[maxFailures].Got, "299800 more") {
		t.Errorf("%d bytes, %d failures, the last %+v", doc.Len(), len(e.Details), e.Details[len(e.Details)-1])
	}
}

func TestDecodeErrorNamesThePlace(t *testing.T) {
	doc, err := ParseDocument([]byte(`{"accounts":[{"type":"solana"},{"sessionAddress":5}]}`), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	var into PrepareRequest
	var e *Error
	if !errors.As(NewDecodeError(doc.Decode(&into)), &e) || e.Name != ErrValidation ||
		e.Details[0].Path != "accounts[1].sessionAddress" {
		t.Errorf("%+v", e)
	}
}

func TestNumberReadsOnlyPlainDecimals(t *testing.T) {
	for n, want := range map[Number]string{"1.5": "1500000", "0": "0", "-0.0000019": "-1",
		"47842.188572": "47842188572"} {
		if got, ok := n.Micro(); !ok || got.String() != want {
			t.Errorf("%s: %v, %v", n, got, ok)
		}
	}
	for _, n := range []Number{"", "1e9", "1/3", "x", "1.x", "1.0000000x", "1.-5", "1_0", "0x10", "-", "+",
		"-.", ".5", "-.5", Number(strings.Repeat("9", 1_000_000))} {
		if got, ok := n.Micro(); ok {
			t.Errorf("%.20s was read as %v", n, got)
		}
	}
	if Micro(nil) != "" || Micro(big.NewInt(-1_500_000)) != "-1.5" || Micro(big.NewInt(7)) != "0.000007" {
		t.Error("Micro writes other digits")
	}
}
