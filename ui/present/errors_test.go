package present

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"coffer/api"
	"coffer/wallet/vault"
)

func TestErrorTextSaysWhatHappened(t *testing.T) {
	for want, err := range map[string]error{
		"":                                   nil,
		"the service did not answer in time": fmt.Errorf("balances: %w", context.DeadlineExceeded),
		"the service refused the API key":    &api.Error{Name: api.ErrUnauthorized, Message: "no"},
		"the service asks for fewer requests": fmt.Errorf("history: %w",
			&api.Error{Name: api.ErrTooManyRequests}),
		"the service refused: the quote is over": &api.Error{Name: api.ErrQuoteExpired,
			Message: "the quote is over"},
		"the service cannot be reached: dial: no route": &net.OpError{Op: "dial", Err: errors.New("no route")},
		"something else": errors.New("something else"),
	} {
		if got := ErrorText(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}

func TestWordsOfAServiceAreCleaned(t *testing.T) {
	got := ErrorText(&api.Error{Name: api.ErrNoRoute, Message: "a\x1b[2J\u202eb" + strings.Repeat("x", 900)})
	if strings.ContainsAny(got, "\x1b\u202e") || len(got) > 300 {
		t.Errorf("%q", got)
	}
}

func TestEveryReasonOfTheInterfaceHasWords(t *testing.T) {
	for _, reason := range []string{"SLIPPAGE", "SOLVER_CAPACITY_EXCEEDED", "NO_QUOTES", "EXECUTION_REVERTED",
		"TRANSACTION_REVERTED", "ORDER_EXPIRED",
		"TRANSFER_FAILED", "AMOUNT_TOO_LOW_TO_REFUND", "INSUFFICIENT_NATIVE_TOKENS_SUPPLIED",
		"ACCOUNT_ABSTRACTION_INVALID_NONCE",
		"ACCOUNT_ABSTRACTION_SIGNATURE_ERROR", "INVALID_SIGNATURE", "DEPOSIT_ADDRESS_MISMATCH", "UNKNOWN"} {
		if what, _ := RefundReason(reason); what == "" {
			t.Errorf("%s has no words", reason)
		}
	}
	if what, todo := RefundReason("SOMETHING_NEW"); what != "" || todo != "" {
		t.Error("an unknown reason is explained")
	}
}

func TestWhatAVaultRefusesIsSaid(t *testing.T) {
	for _, c := range []struct {
		err   error
		empty bool
		want  string
	}{
		{vault.ErrPassphrase, true, "Type the passphrase first."},
		{vault.ErrPassphrase, false, "Wrong passphrase"},
		{vault.ErrNoPassphrase, true, "has no passphrase"},
		{errors.New("the file\x1b is gone"), false, "the file\uFFFD is gone"},
	} {
		if got := Locked(c.err, c.empty); !strings.Contains(got, c.want) {
			t.Errorf("%q", got)
		}
	}
}
