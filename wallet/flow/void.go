package flow

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// typedLetters is how many of the last characters of the account must be typed to void a signature.
const typedLetters = 4

// The errors of Void.
var (
	ErrVoidUnknown = errors.New("no open signature with this hash can be voided")
	ErrVoidTyped   = errors.New("what was typed is not the end of the account's address")
)

// Void declares a signature dead that no time ends, because its owner knows that its nonce was used elsewhere or that
// nobody holds it: an approval of a role-based account, or an operation beside a sponsor that is not known. hash is its
// OpHash, as Outstanding lists it; typed is what the person typed: the last four characters of the account's address
// (Outstanding.Sender), in either case for an 0x address. From then on the signature is in the way of no new one, but
// it stays listed as voided and counts for its day. A screen must say before: whoever holds it can still use it until
// its nonce is used.
//
// It is recorded for every operation that made this signature. Errors: ErrVoidTyped; ErrVoidUnknown when the hash is
// not on the list, ends by itself, was used or was voided before; those of the journal, after which nothing, or not
// everything, was recorded and Void can be called again.
func (f *Flow) Void(hash, typed string) error {
	release, err := f.d.Journal.Hold(context.Background())
	if err != nil {
		return fmt.Errorf("void: %w", err)
	}
	defer release()
	found := false
	done := map[string]bool{}
	for _, x := range f.d.Journal.Outstanding(f.earliest()) {
		if x.OpHash != hash || !x.Voidable() || done[x.Op] {
			continue
		}
		if !endsWith(x.Sender, typed) {
			return ErrVoidTyped
		}
		if err := f.d.Journal.Void(x.Op, x.OpHash, fmt.Sprintf("%s was typed", typed)); err != nil {
			return fmt.Errorf("void: %w", err)
		}
		found, done[x.Op] = true, true
	}
	if !found {
		return ErrVoidUnknown
	}
	return nil
}

// endsWith reports whether typed is the end of an address.
func endsWith(address, typed string) bool {
	if len(typed) != typedLetters || len(address) < typedLetters {
		return false
	}
	end := address[len(address)-typedLetters:]
	return end == typed || (strings.HasPrefix(address, "0x") && strings.EqualFold(end, typed))
}
